import TrellisSchema

/// Which classes belong to a model.
///
/// An entity's number alone says nothing, since every model counts from 0, and two models may have one name. The class itself
/// is compared with the one that the model has under that number.
extension RuntimeModel {
  /// Whether a class is that of one of the model's entities.
  @inline(__always) func has(_ type: ManagedObject.Type) -> Bool {
    let number = type._entity
    return number >= 0 && number < types.count && types[number] == type
  }

  /// - Throws: ``ContextError`` with the code `foreign-model` when a class is of another model.
  @inline(__always) func check(_ type: ManagedObject.Type) throws(ContextError) {
    if !has(type) { throw foreign(type) }
  }

  /// As ``check(_:)``, for what may be asked of `ManagedObject` itself, which stands for every class.
  func checkUnlessGeneral(_ type: ManagedObject.Type) throws(ContextError) {
    if type != ManagedObject.self { try check(type) }
  }

  @inline(never) func foreign(_ type: ManagedObject.Type) -> ContextError {
    ContextError(
      .foreignModel,
      "\(String(reflecting: type)) \(origin(of: type)); this container was opened with the model '\(model.name)'. "
        + "Use the class with a container of its own model.")
  }

  /// Which model a class is of, as the end of a sentence.
  func origin(of type: ManagedObject.Type) -> String {
    guard let name = type._model?.description.name else { return "is no class of an entity" }
    return name == model.name ? "is a class of another model of that name" : "is a class of the model '\(name)'"
  }
}

extension ManagedObjectContext {
  /// The link of a new object: this context's, or one to nowhere for an object whose class is of another model.
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

  /// Throws unless an object belongs to this context.
  ///
  /// - Parameter what: what is not done, as in `was not deleted`.
  /// - Throws: ``ContextError`` with the code `foreign-object`.
  func checkOwn(_ object: ManagedObject, _ what: String) throws(ContextError) {
    guard object.link !== link else { return }
    throw ContextError(.foreignObject, "\(object) \(what), since it \(whereabouts(of: object)).")
  }

  /// Where an object is that does not belong to this context, as the end of a sentence.
  func whereabouts(of object: ManagedObject) -> String {
    let type = Swift.type(of: object)
    if !runtime.has(type) { return "\(runtime.origin(of: type)), and the context of '\(runtime.model.name)'" }
    guard let other = object.link.context else { return "belongs to a context that is gone" }
    return other.core === core ? "belongs to another context" : "belongs to another container"
  }
}
