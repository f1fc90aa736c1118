/// An object's reference to its context, which does not keep the context alive.
///
/// Swift's `weak` would need a side table for each context and slow down every retain. Instead, each context has one
/// such object, and clears the reference in it when the context is deinitialized.
@_spi(Generated) public final class ContextLink {
  // Sound because a context and its objects are confined to one isolation domain, as neither is Sendable, and because
  // the context's deinit sets this to nil before its memory is freed.
  @exclusivity(unchecked) unowned(unsafe) var context: ManagedObjectContext?

  /// The parts of a deinitialized context that are still needed; nil before.
  var remains: ContextRemains?

  init() {}
}

/// The parts of a context that objects need after its deinitialization to report problems.
struct ContextRemains {
  let runtime: RuntimeModel
  let report: @Sendable (ContextError) -> Void
}

extension ManagedObject {
  /// Reports an access to the object that needs its context after the context was deinitialized: once for reads and
  /// once for writes.
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
  /// The name of an entity and its property, for messages; only the entity if there is no such property.
  fileprivate func name(of property: Int, _ type: ManagedObject.Type) -> String {
    let entity = entities[type._entity]
    let properties = entity.entity.properties
    return properties.indices.contains(property) ? "\(entity.name).\(properties[property].name)" : entity.name
  }
}
