/// What an object holds of its context: a way there that does not keep it alive.
///
/// Swift's `weak` would cost a side table for each context reference and slow every retain; this is one more object for
/// each context instead, which the context empties when it dies.
@_spi(Generated) public final class ContextLink {
  // Sound because a context and its objects are confined to one isolation domain, neither being Sendable, and because
  // the context's deinit sets this to nil before its memory goes.
  @exclusivity(unchecked) unowned(unsafe) var context: ManagedObjectContext?

  /// What is left of a context that is gone; nil before.
  var remains: ContextRemains?

  init() {}
}

/// What objects that outlive their context need of it, to say so.
struct ContextRemains {
  let runtime: RuntimeModel
  let report: @Sendable (ContextError) -> Void
}

extension ManagedObject {
  /// Tells of a use of the object that its context, which is gone, would be needed for: once of reads and once of writes.
  @inline(never) final func reportContextGone(_ property: Int, isWrite: Bool = false) {
    guard let remains = link.remains else { return }
    let extras = needExtras()
    let isKnown = isWrite ? extras.hasToldOfWrite : extras.hasToldOfRead
    if isWrite { extras.hasToldOfWrite = true } else { extras.hasToldOfRead = true }
    guard !isKnown else { return }
    let name = remains.runtime.name(of: property, type(of: self))
    remains.report(
      isWrite
        ? ContextError(.ignoredWrite, "A value set to \(name) was ignored, since the object's context is gone.")
        : ContextError(.loadFailed, "\(name) was not loaded, and the object's context is gone.")
    )
  }
}

extension RuntimeModel {
  /// An entity and its property, for messages; the entity alone for what is no property.
  fileprivate func name(of property: Int, _ type: ManagedObject.Type) -> String {
    let entity = entities[type._entity]
    let properties = entity.entity.properties
    return properties.indices.contains(property) ? "\(entity.name).\(properties[property].name)" : entity.name
  }
}
