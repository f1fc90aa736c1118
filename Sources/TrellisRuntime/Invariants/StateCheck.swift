extension ObjectGraph {
  /// What contradicts the table of ``ObjectState`` among all objects in memory; empty unless the runtime is wrong.
  /// Tests ask for it.
  ///
  /// - Complexity: linear in the number of objects in memory.
  package func stateViolations() -> [String] {
    var objects = pending.objects
    map.forEach { objects.append($0) }
    return StateCheck(self).violations(of: objects)
  }

  /// Reports a changed object in no legal state. Only debug builds look: what is found is an error of the runtime,
  /// and no reason to end a program.
  ///
  /// - Complexity: linear in the number of changed objects.
  func checkInvariants() {
    #if DEBUG
      guard let violation = StateCheck(self).violations(of: pending.objects).first else { return }
      report(
        ContextError(.brokenInvariant, "Trellis has brought an object out of order, please report it: \(violation)."))
    #endif
  }
}

/// Compares objects with the table of ``ObjectState``.
private struct StateCheck {
  private let graph: ObjectGraph
  private let inserted: Set<ObjectIdentifier>
  private let changed: Set<ObjectIdentifier>
  private let deleted: Set<ObjectIdentifier>
  private var found: [String] = []

  init(_ graph: ObjectGraph) {
    self.graph = graph
    inserted = Set(graph.inserted.lazy.map(ObjectIdentifier.init))
    changed = Set(graph.changed.lazy.map(ObjectIdentifier.init))
    deleted = Set(graph.deleted.lazy.map(ObjectIdentifier.init))
    demand(inserted.count == graph.inserted.count, "an object is listed as inserted twice")
    demand(changed.count == graph.changed.count, "an object is listed as changed twice")
    demand(deleted.count == graph.deleted.count, "an object is listed as deleted twice")
  }

  func violations(of objects: ContiguousArray<ManagedObject>) -> [String] {
    var check = self
    for object in objects { check.look(at: object) }
    return check.found
  }

  private mutating func demand(_ holds: Bool, _ violation: @autoclosure () -> String) {
    if !holds { found.append(violation()) }
  }

  private mutating func look(at object: ManagedObject) {
    let name = "\(object), \(object.phase)"
    let flags = object.accessFlags
    let isKnown = graph.map[object._key] === object
    demand(isKnown == (object.phase != .detached), "\(name), is \(isKnown ? "" : "not ")in the identity map")
    demand(flags.contains(.readOnly) != object.isAlive, "\(name), has the access flags \(flags.rawValue)")
    if object.isInChangedList && object.phase != .detached {
      demand(changed.contains(ObjectIdentifier(object)), "\(name), is marked as changed and not listed")
    }
    switch object.phase {
    case .inserted:
      demand(inserted.contains(ObjectIdentifier(object)), "\(name), is not listed as inserted")
      demand(object.version == 0, "\(name), has the version \(object.version)")
      demand(!flags.contains(.fault), "\(name), is a fault")
    case .deleted: demand(deleted.contains(ObjectIdentifier(object)), "\(name), is not listed as deleted")
    case .persistent:
      let info = graph.info(of: object)
      let edited = object.changedBits & info.storedMask.bits & ~info.transients.bits
      demand(edited == 0 || object.hasCommittedRow, "\(name), has set properties and no committed row")
      demand(edited == 0 || object.isInChangedList, "\(name), has set properties and is not marked as changed")
      for list in object.lists where list.hasChanges && !object.isInChangedList {
        guard let relationship = info.relationships[list.property], !relationship.isTransient else { continue }
        let notes = "+\(list.difference.added) -\(list.difference.removed)"
        found.append("\(name), has other members of \(relationship.name) (\(notes)) and is not marked as changed")
      }
    case .detached: break
    }
  }
}
