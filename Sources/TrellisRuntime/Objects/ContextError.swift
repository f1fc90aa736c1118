/// Something that went wrong where no error can be thrown: in a property, in a lazy load, in a setter.
///
/// It goes to the container's error handler. What leaves the graph without something that it should have, as a failed load
/// does, is also thrown by the context's next fetch or save. Calls that can throw throw it at once.
public struct ContextError: Error, Sendable, CustomStringConvertible {
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// A value was set on an object that is deleted or of no context any more.
    public static let ignoredWrite = Code(rawValue: "ignored-write")
    /// An object of another context, or a deleted one, was put into a relationship; one of another context was to be deleted
    /// or refreshed.
    public static let foreignObject = Code(rawValue: "foreign-object")
    /// A class of another model was used with a context: an object was made, fetched or looked up.
    public static let foreignModel = Code(rawValue: "foreign-model")
    /// A row could not be loaded.
    public static let loadFailed = Code(rawValue: "load-failed")
    /// Something was called inside a hook that a hook may not call, such as `save` and `rollback`.
    public static let insideHook = Code(rawValue: "inside-hook")
    /// A step was to be undone while a group of changes is open.
    public static let openGroup = Code(rawValue: "open-group")
    /// The hooks of some objects keep calling or changing each other, or making more objects.
    public static let endlessHooks = Code(rawValue: "endless-hooks")
    /// A relationship was loaded when it was used, where that is to be said.
    public static let lazyLoad = Code(rawValue: "lazy-load")
    /// There were changes where none may be.
    public static let unsavedChanges = Code(rawValue: "unsaved-changes")
    /// A number or a position lies outside a to-many.
    public static let outOfRange = Code(rawValue: "out-of-range")
  }

  public let code: Code
  /// What happened and where, as a sentence without user data.
  public let message: String
  /// What the store threw, where it was the store.
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
