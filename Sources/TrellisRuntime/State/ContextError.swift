public import Foundation
import TrellisModel

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
    /// A suspension that a notification began did not end in time.
    public static let notSuspended = Code(rawValue: "not-suspended")
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

// MARK: - Model membership

/// The classes that belong to a model.
///
/// An entity's number is not sufficient, because every model counts from 0, and two models may have the same name. The
/// class itself is compared with the model's class under that number.
extension RuntimeModel {
  /// Whether a class belongs to an entity of the model.
  @inline(__always) func has(_ type: ManagedObject.Type) -> Bool {
    let number = type._entity
    return number >= 0 && number < types.count && types[number] == type
  }

  /// - Throws: ``ContextError`` with the code `foreign-model` if a class belongs to another model.
  @inline(__always) func check(_ type: ManagedObject.Type) throws(ContextError) {
    if !has(type) { throw foreign(type) }
  }

  /// The same as ``check(_:)``, but accepts `ManagedObject` itself, which stands for every class.
  func checkUnlessGeneral(_ type: ManagedObject.Type) throws(ContextError) {
    if type != ManagedObject.self { try check(type) }
  }

  @inline(never) func foreign(_ type: ManagedObject.Type) -> ContextError {
    ContextError(
      .foreignModel,
      "\(String(reflecting: type)) \(origin(of: type)); this container was opened with the model '\(model.name)'. "
        + "Use the class with a container of its own model.")
  }

  /// The model of a class, as the end of a sentence.
  func origin(of type: ManagedObject.Type) -> String {
    guard let name = type._model?.description.name else { return "is no class of an entity" }
    return name == model.name ? "is a class of another model of that name" : "is a class of the model '\(name)'"
  }
}

extension ObjectGraph {
  /// The link for a new object: this context's link, or an empty one if the object's class belongs to another model.
  @inline(__always) func link(forNew type: ManagedObject.Type) -> ContextLink {
    if lastClass == ObjectIdentifier(type) { return link }
    return newLink(for: type)
  }

  @inline(never) private func newLink(for type: ManagedObject.Type) -> ContextLink {
    guard runtime.has(type) else {
      reportToThrow(runtime.foreign(type))
      return ContextLink()
    }
    lastClass = ObjectIdentifier(type)
    return link
  }

  /// Checks that an object belongs to this context.
  ///
  /// - Parameter what: the operation that is refused, as in `was not deleted`.
  /// - Throws: ``ContextError`` with the code `foreign-object`.
  func checkOwn(_ object: ManagedObject, _ what: String) throws(ContextError) {
    guard object.link !== link else { return }
    throw ContextError(.foreignObject, "\(object) \(what), since it \(whereabouts(of: object)).")
  }

  /// The place of an object that does not belong to this context, as the end of a sentence.
  func whereabouts(of object: ManagedObject) -> String {
    let type = Swift.type(of: object)
    if !runtime.has(type) { return "\(runtime.origin(of: type)), and the context of '\(runtime.model.name)'" }
    guard let other = object.link.graph else { return "belongs to a context that is gone" }
    return other.core === core ? "belongs to another context" : "belongs to another container"
  }
}

// MARK: - Localized errors

// The `localizedDescription` of the runtime's errors is their `description`.

extension ContextError: LocalizedError {
  public var errorDescription: String? { description }
}

extension ModelMismatch: LocalizedError {
  var errorDescription: String? { description }
}
