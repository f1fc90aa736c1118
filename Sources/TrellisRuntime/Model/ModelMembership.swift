public import Foundation
import TrellisModel

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

extension ManagedObjectContext {
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
    guard let other = object.link.context else { return "belongs to a context that is gone" }
    return other.core === core ? "belongs to another context" : "belongs to another container"
  }
}

// MARK: - Localized errors

// The `localizedDescription` of the runtime's errors is their `description`.

extension ContextError: LocalizedError {
  public var errorDescription: String? { description }
}

extension ValidationError: LocalizedError {
  public var errorDescription: String? { description }
}

extension ValidationFailure: LocalizedError {
  public var errorDescription: String? { description }
}

extension ModelMismatch: LocalizedError {
  var errorDescription: String? { description }
}
