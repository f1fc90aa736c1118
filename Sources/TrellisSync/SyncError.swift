public import Foundation

/// The reason why an exchange is not possible. Nothing is lost: what a replica has not sent stays in its store.
public struct SyncError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the reason. More kinds may be added.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as text.
    public let rawValue: String

    /// Creates a code from text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A message is none that any version of Trellis writes.
    public static let damagedMessage = Code(rawValue: "damaged-message")
    /// A message is of a newer version of Trellis.
    public static let newerMessage = Code(rawValue: "newer-message")
    /// The replica and the server have different models, neither of which only adds to the other one.
    public static let otherModel = Code(rawValue: "other-model")
    /// The replica has a newer model than the server, which cannot keep all of its values.
    public static let newerReplica = Code(rawValue: "newer-replica")
    /// The server does not have the text of the replica's model. An exchange sends it, and goes on.
    public static let unknownModel = Code(rawValue: "unknown-model")
    /// The store cannot take part: it keeps no former values.
    public static let noHistory = Code(rawValue: "no-history")
    /// The server does not know the replica.
    public static let unknownReplica = Code(rawValue: "unknown-replica")
    /// The server's history does not reach back to the moment that the replica reads.
    public static let expired = Code(rawValue: "expired")
    /// The server does not know what the replica has received: it is another one, or was restored from a backup.
    public static let otherServer = Code(rawValue: "other-server")
    /// The server has got changes from the replica that its store does not know: the store is a former copy of itself,
    /// or one of two copies.
    public static let copiedReplica = Code(rawValue: "copied-replica")
    /// Another program has changed the store without listing what it changed.
    public static let unknownChanges = Code(rawValue: "unknown-changes")
    /// Another exchange of the same store has finished meanwhile, or others change the same objects at the server all the
    /// time.
    public static let busy = Code(rawValue: "busy")
    /// The transport gets no answer. It may get one later.
    public static let unreachable = Code(rawValue: "unreachable")
    /// The transport reaches something that does not answer messages of replicas, or not those of this one.
    public static let notServed = Code(rawValue: "not-served")
    /// The store of the replica has failed.
    public static let storeFailed = Code(rawValue: "store-failed")
    /// A session was not started, or has stopped.
    public static let notStarted = Code(rawValue: "not-started")
    /// A peer has sent what no replica or server sends.
    public static let refusedMessage = Code(rawValue: "refused-message")
    /// The replica belongs to another user.
    public static let otherUser = Code(rawValue: "other-user")
    /// The user does not get the objects that the replica asks for.
    public static let notAllowed = Code(rawValue: "not-allowed")
    /// A scope of the server has a request whose objects change without a save.
    public static let wrongScope = Code(rawValue: "wrong-scope")
    /// The server's store has failed.
    public static let serverFailed = Code(rawValue: "server-failed")
    /// The server's objects do not obey the replica's rules.
    public static let brokenRules = Code(rawValue: "broken-rules")
  }

  /// The kind of the reason.
  public let code: Code
  /// The reason, as a sentence without user data.
  public let message: String
  /// What can be done.
  public let remedy: String

  init(_ code: Code, _ message: String, remedy: String) {
    self.code = code
    self.message = message
    self.remedy = remedy
  }

  public var description: String { "\(message) \(remedy) [\(code.rawValue)]" }
}

extension SyncError: LocalizedError {
  public var errorDescription: String? { description }
}

extension SyncError {
  static let damagedMessage = SyncError(
    .damagedMessage, "The bytes are no message of a replica or a server.", remedy: "Check what carries the messages.")

  static func refused(_ what: String) -> SyncError {
    SyncError(.refusedMessage, "A message was refused: \(what).", remedy: "Check which program has sent it.")
  }

  static let noHistory = SyncError(
    .noHistory, "The store keeps no former values of all entities, which an exchange needs.",
    remedy:
      "Write \"history\": \"values\" in the model, and keep the objects in a SQLite file or, at a server, in PostgreSQL."
  )

  static func otherModel(_ replica: String, _ server: String) -> SyncError {
    SyncError(
      .otherModel, "The replica has the model \(replica), and the server \(server).",
      remedy: "Exchange with a server that has the same model.")
  }

  static func differentModels(_ obstacle: String) -> SyncError {
    SyncError(
      .otherModel,
      "The server's model does more than to add to the replica's and to rename (\(obstacle)).",
      remedy: "Update the replica's program. What it has not sent stays in its store until then.")
  }

  static func newer(_ subject: String) -> SyncError {
    SyncError(
      .newerReplica, "The replica has a newer model than the server: \(subject) is not in the server's.",
      remedy: "Update the server's program first. If its model has removed \(subject), name it in \"removed\". "
        + "What the replica has not sent stays in its store until then.")
  }

  static let unknownModel = SyncError(
    .unknownModel, "The server does not have the text of the replica's model.",
    remedy: "Exchange with the replica's program, which sends it.")

  static let unknownReplica = SyncError(
    .unknownReplica, "The server does not know the replica.", remedy: "Exchange with the server that gave the number.")

  static let otherUser = SyncError(
    .otherUser, "The replica was registered by another user.",
    remedy: "Exchange as the user who registered it, or use a store of its own for each user.")

  static let notAllowed = SyncError(
    .notAllowed, "The user does not get the objects that the replica asks for.",
    remedy: "Ask for a scope that the server has, with parameters that it allows.")

  static let wrongScope = SyncError(
    .wrongScope, "A scope of the server compares with now(), so its objects would change without a save.",
    remedy: "Compare with a date that the server's program takes, such as the beginning of the day.")

  static let expired = SyncError(
    .expired, "The server's history does not reach back to the moment that the replica reads.",
    remedy: "Exchange again; let \"keepHistory\" of the server be longer than an exchange takes.")

  static let otherServer = SyncError(
    .otherServer, "The server does not know what the replica has received from it.",
    remedy: "Exchange with the server of before. If it was restored from a backup, restore it from its newest copy.")

  static let copied = SyncError(
    .copiedReplica, "The server has changes of this replica that its store does not know.",
    remedy: "The store was restored from a backup or copied; register it anew.")

  static let busy = SyncError(
    .busy, "Another exchange of the same store has finished meanwhile.", remedy: "Exchange again.")

  static let contended = SyncError(
    .busy, "Others change the same objects at the server all the time.", remedy: "Exchange again later.")

  static func unreachable(_ reason: String) -> SyncError {
    SyncError(.unreachable, "The server gives no answer: \(reason).", remedy: "Exchange again later.")
  }

  static func notServed(_ reason: String) -> SyncError {
    SyncError(
      .notServed, "The address does not answer messages of this replica: \(reason).",
      remedy: "Check the address, and what the server asks of its clients.")
  }

  static let notStarted = SyncError(
    .notStarted, "The session exchanges nothing: it was not started, or has stopped.", remedy: "Call start(with:).")

  static let unknownChanges = SyncError(
    .unknownChanges, "The history of the store does not list all that has changed since the last exchange.",
    remedy: "Give all entities \"history\": \"values\", and change the store with Trellis only.")
}
