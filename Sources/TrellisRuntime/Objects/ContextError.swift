/// A problem where no error can be thrown: in a property, in a lazy load, in a setter.
///
/// It is reported to the container's error handler. A problem that leaves the graph incomplete, such as a failed load,
/// is also thrown by the context's next fetch or save. Calls that can throw throw it immediately.
public struct ContextError: Error, Sendable, CustomStringConvertible {
  /// The kind of the problem. More kinds may be added.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as text.
    public let rawValue: String

    /// Creates a code from text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A value was set on an object that is deleted or no longer belongs to a context.
    public static let ignoredWrite = Code(rawValue: "ignored-write")
    /// An object of another context or a deleted object was added to a relationship; or an object of another context
    /// was passed to a delete or refresh.
    public static let foreignObject = Code(rawValue: "foreign-object")
    /// A class of another model was used with a context: an object was created, fetched or looked up.
    public static let foreignModel = Code(rawValue: "foreign-model")
    /// A row could not be loaded.
    public static let loadFailed = Code(rawValue: "load-failed")
    /// A method was called in a hook that may not call it, such as `save` or `rollback`.
    public static let insideHook = Code(rawValue: "inside-hook")
    /// An undo was requested while a group of changes is open.
    public static let openGroup = Code(rawValue: "open-group")
    /// The hooks of some objects endlessly trigger or change each other, or create more objects.
    public static let endlessHooks = Code(rawValue: "endless-hooks")
    /// A relationship was loaded lazily where the lazy loading rule reports or forbids it.
    public static let lazyLoad = Code(rawValue: "lazy-load")
    /// There were unsaved changes where none are allowed.
    public static let unsavedChanges = Code(rawValue: "unsaved-changes")
    /// An object is in a state that the runtime does not allow, which is an error of Trellis itself. Only debug builds
    /// look for it.
    public static let brokenInvariant = Code(rawValue: "broken-invariant")
    /// A number or a position is out of the range of a to-many relationship.
    public static let outOfRange = Code(rawValue: "out-of-range")
  }

  /// The kind of the problem.
  public let code: Code
  /// The problem and its place, as a sentence without user data.
  public let message: String
  /// The store's error, if the store failed.
  public let cause: (any Error)?

  package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }

  public var description: String {
    let why = cause.map { " \($0)" } ?? ""
    return "\(message)\(why) [\(code.rawValue)]"
  }
}
