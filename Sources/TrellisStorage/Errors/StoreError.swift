public import Foundation

/// A failed store operation: a code to switch over, a message for a person, and a remedy.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// The kind of the failure. More kinds may be added.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The store's library is missing or too old.
    public static let libraryUnavailable = Code(rawValue: "library-unavailable")
    /// The process uses another SQLite library already.
    public static let otherLibrary = Code(rawValue: "other-library")
    /// The store was to be encrypted, and its library cannot do that.
    public static let noEncryption = Code(rawValue: "no-encryption")
    /// The program gave no key.
    public static let noKey = Code(rawValue: "no-key")
    /// The file is encrypted with another key, or it cannot be decrypted for another reason.
    public static let wrongKey = Code(rawValue: "wrong-key")
    /// The file is not encrypted, and was opened with a key.
    public static let notEncrypted = Code(rawValue: "not-encrypted")
    /// The file or its folder cannot be opened.
    public static let cannotOpen = Code(rawValue: "cannot-open")
    /// The file is not a Trellis store.
    public static let foreignFile = Code(rawValue: "foreign-file")
    /// The file is damaged.
    public static let damaged = Code(rawValue: "damaged")
    /// The file was written with another model.
    public static let otherModel = Code(rawValue: "other-model")
    /// The file has a newer model than the program, which it had before.
    public static let newerModel = Code(rawValue: "newer-model")
    /// A migration would lose data, and the model does not say that it may.
    public static let dataLoss = Code(rawValue: "data-loss")
    /// A migration needs to know what the model does not say.
    public static let unanswered = Code(rawValue: "unanswered")
    /// The file has to be migrated, and was opened in a way that forbids it.
    public static let needsMigration = Code(rawValue: "needs-migration")
    /// A step of a migration failed.
    public static let stepFailed = Code(rawValue: "step-failed")
    /// The migration, or the task of a call, was cancelled.
    public static let cancelled = Code(rawValue: "cancelled")
    /// Another process migrated the file to another model while it was open.
    public static let migratedByOthers = Code(rawValue: "migrated-by-others")
    /// A migration would stop programs with a former model that are connected to the server.
    public static let formerPrograms = Code(rawValue: "former-programs")
    /// The file was written by a newer version of Trellis.
    public static let newerFormat = Code(rawValue: "newer-format")
    /// A file with the external data of an attribute is missing.
    public static let missingFile = Code(rawValue: "missing-file")
    /// The file exists already and was not to be replaced.
    public static let fileExists = Code(rawValue: "file-exists")
    /// The store is read-only.
    public static let readOnly = Code(rawValue: "read-only")
    /// The store was locked elsewhere for longer than the timeout.
    public static let busy = Code(rawValue: "busy")
    /// The server did not answer within the time-out, or ended a statement that took too long.
    public static let timedOut = Code(rawValue: "timed-out")
    /// A trigger, a constraint, a view or another rule of the server's owner does not allow it.
    public static let refusedByServer = Code(rawValue: "refused-by-server")
    /// Other writers changed the same objects faster than a save could merge the changes.
    public static let contended = Code(rawValue: "contended")
    /// Another process changed, replaced or removed the file while it was open.
    public static let changedByOthers = Code(rawValue: "changed-by-others")
    /// The disk is full.
    public static let full = Code(rawValue: "disk-full")
    /// Reading or writing failed.
    public static let inputOutput = Code(rawValue: "input-output")
    /// A server did not say whether it has committed a save. The save may be there or not.
    public static let inDoubt = Code(rawValue: "in-doubt")
    /// An object that a step of a migration asks for does not exist.
    public static let missingObject = Code(rawValue: "missing-object")
    /// Two objects would have the same unique key.
    public static let notUnique = Code(rawValue: "not-unique")
    /// A reference would be dangling.
    public static let danglingReference = Code(rawValue: "dangling-reference")
    /// A stored value is invalid for its attribute.
    public static let unreadableValue = Code(rawValue: "unreadable-value")
    /// A moment of a history is asked for that the store does not keep any more.
    public static let historyExpired = Code(rawValue: "history-expired")
    /// A token belongs to the history of another store.
    public static let otherHistory = Code(rawValue: "other-history")
    /// A value cannot be stored.
    public static let unstorableValue = Code(rawValue: "unstorable-value")
    /// The container was closed, and its store with it.
    public static let closed = Code(rawValue: "closed")
    /// The container is suspended, and its store is released until it resumes.
    public static let suspended = Code(rawValue: "suspended")
    /// The operation is not supported by this kind of store.
    public static let unsupported = Code(rawValue: "unsupported")
    /// A limit of the store was exceeded.
    public static let limit = Code(rawValue: "limit")
    /// A bug in Trellis or in a store.
    public static let internalError = Code(rawValue: "internal-error")
  }

  /// The kind of the failure.
  public var code: Code { details.code }
  /// The failure and its place, as a sentence without user data.
  public var message: String { details.message }
  /// The remedy, as a sentence.
  public var remedy: String { details.remedy }
  /// The entity and the properties, if there are any.
  public var entity: String? { details.entity }
  /// The names of the properties that the failure concerns.
  public var properties: [String] { details.properties }

  /// One reference, because an error is passed through every `try` on its way.
  private final class Details: Sendable {
    let code: Code
    let message: String
    let remedy: String
    let entity: String?
    let properties: [String]

    init(_ code: Code, _ message: String, _ remedy: String, _ entity: String?, _ properties: [String]) {
      self.code = code
      self.message = message
      self.remedy = remedy
      self.entity = entity
      self.properties = properties
    }
  }

  private let details: Details

  /// Creates an error with a message and a remedy for a person.
  public init(
    _ code: Code, _ message: String, remedy: String, entity: String? = nil, properties: [String] = []
  ) {
    details = Details(code, message, remedy, entity, properties)
  }

  public var description: String { "\(message)\(message.hasSuffix("\n") ? "" : " ")\(remedy) [\(code.rawValue)]" }
}

extension StoreError: LocalizedError {
  public var errorDescription: String? { description }
}

extension StoreError {
  /// The error, with the object and the property in front of its message.
  package func at(_ entity: String, _ key: Int64, _ property: String) -> StoreError {
    StoreError(code, "\(entity)#\(key).\(property): \(message)", remedy: remedy)
  }
}
