/// Why a store could not do what it was asked: a code to switch over, a sentence for a person, and the way out.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it is. The set may grow.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The store's library is missing or too old.
    public static let libraryUnavailable = Code(rawValue: "library-unavailable")
    /// The file or its folder cannot be opened.
    public static let cannotOpen = Code(rawValue: "cannot-open")
    /// The file is not one of Trellis's.
    public static let foreignFile = Code(rawValue: "foreign-file")
    /// The file is damaged.
    public static let damaged = Code(rawValue: "damaged")
    /// The file was written with another model.
    public static let otherModel = Code(rawValue: "other-model")
    /// Another program has migrated the file to another model while it was open.
    public static let migratedByOthers = Code(rawValue: "migrated-by-others")
    /// The file was written by a newer version of Trellis.
    public static let newerFormat = Code(rawValue: "newer-format")
    /// A file beside the store, with the data of an attribute, is not there.
    public static let missingFile = Code(rawValue: "missing-file")
    /// A file is there already that was not to be replaced.
    public static let fileExists = Code(rawValue: "file-exists")
    /// The store is read-only.
    public static let readOnly = Code(rawValue: "read-only")
    /// Somebody else held the store for longer than the time-out.
    public static let busy = Code(rawValue: "busy")
    /// Others wrote the same objects faster than a save could take that over.
    public static let contended = Code(rawValue: "contended")
    /// Another program has changed, replaced or removed the file while it was open.
    public static let changedByOthers = Code(rawValue: "changed-by-others")
    /// The disk is full.
    public static let full = Code(rawValue: "disk-full")
    /// Reading or writing failed.
    public static let inputOutput = Code(rawValue: "input-output")
    /// Two objects would have the same unique key.
    public static let notUnique = Code(rawValue: "not-unique")
    /// A reference would lead nowhere.
    public static let danglingReference = Code(rawValue: "dangling-reference")
    /// A stored value does not fit its attribute.
    public static let unreadableValue = Code(rawValue: "unreadable-value")
    /// A value cannot be stored.
    public static let unstorableValue = Code(rawValue: "unstorable-value")
    /// The container, and its store with it, was closed.
    public static let closed = Code(rawValue: "closed")
    /// The store cannot do what was asked, and no store of its kind can.
    public static let unsupported = Code(rawValue: "unsupported")
    /// A limit of the store was passed.
    public static let limit = Code(rawValue: "limit")
    /// A mistake in Trellis or in a store.
    public static let internalError = Code(rawValue: "internal-error")
  }

  public var code: Code
  /// What happened and where, as a sentence. It holds no user data.
  public var message: String
  /// What can be done about it, as a sentence.
  public var remedy: String
  /// The entity and the properties concerned, where there are any.
  public var entity: String?
  public var properties: [String]

  public init(
    _ code: Code, _ message: String, remedy: String, entity: String? = nil, properties: [String] = []
  ) {
    self.code = code
    self.message = message
    self.remedy = remedy
    self.entity = entity
    self.properties = properties
  }

  public var description: String { "\(message) \(remedy) [\(code.rawValue)]" }
}
