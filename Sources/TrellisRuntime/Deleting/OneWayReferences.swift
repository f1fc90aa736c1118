import TrellisModel
import TrellisStorage

extension ObjectGraph {
  /// Unlinks one-way relationships from victims. The store clears the references in its rows; references of changed and
  /// new objects are cleared immediately, because saving these would overwrite that. A required reference to a saved
  /// victim stays and denies the delete.
  ///
  /// - Parameter holders: The objects that may have such references.
  func unlinkOneWay(
    from victims: [ManagedObject], _ holders: some Sequence<ManagedObject>, noting closure: inout DeletedClosure
  ) {
    let references = oneWayReferences(to: victims)
    if references.isEmpty { return }
    let phases = Dictionary(victims.map { ($0._key, $0.phase) }) { first, _ in first }
    for object in holders where object.isAlive && !closure.keys.contains(object._key) {
      for reference in references where info(of: object).relationships.contains(reference) {
        for key in presentPartners(of: object, reference) {
          guard let phase = phases[key], !(reference.isRequired && phase == .persistent) else { continue }
          closure.note(link(object, reference, key))
          unlink(object, reference, key)
        }
      }
    }
  }

  /// Clears one-way references to deleted objects in memory, after the store has cleared them in its rows.
  func forgetOneWayReferences(to victims: ContiguousArray<ManagedObject>) {
    if victims.isEmpty { return }
    let references = oneWayReferences(to: Array(victims)).filter(\.isColumn)
    if references.isEmpty { return }
    forgetReferences(to: Set(victims.map(\._key)), references)
  }

  /// Clears references of objects in memory, after the store has cleared them in its rows without increasing the row
  /// versions.
  func forgetReferences(to keys: Set<Int64>, _ references: [Relationship]) {
    map.forEach { holder in
      guard !holder.accessFlags.contains(.fault) else { return }
      for reference in references where info(of: holder).relationships.contains(reference) {
        guard keys.contains(holder._reference(reference.property)), !holder.hasOwnReference(reference) else { continue }
        holder.announce(reference.property)
        holder._setReference(reference.property, 0)
      }
      // A row that another context has written as well is compared with the row that was read.
      guard let committed = holder.committedRow, !backlog.contains(holder._key) else { return }
      let stale = references.filter { reference in
        info(of: holder).relationships.contains(reference) && keys.contains(committed.value(reference.property).key)
      }
      if !stale.isEmpty { holder.setCommittedReferences(stale) { _ in 0 } }
    }
  }

  /// Notifies observers of references to deleted objects, which read as nil from now on although no row has changed.
  func announceReferences(to gone: Set<Int64>) {
    guard isObserving, !gone.isEmpty else { return }
    map.forEach { holder in
      guard !holder.accessFlags.contains(.fault) else { return }
      for relationship in info(of: holder).allRelationships where relationship.isColumn {
        if gone.contains(holder._reference(relationship.property)) { holder.announce(relationship.property) }
      }
    }
  }

  /// The one-way relationships that lead to the entities of these objects.
  func oneWayReferences(to victims: [ManagedObject]) -> [Relationship] {
    guard runtime.hasOneWayReferences else { return [] }
    var found: [Relationship] = []
    let targets = victims.filter { !info(of: $0).oneWayReferences.isEmpty }
    for entity in Set(targets.map { type(of: $0)._entity }).sorted() {
      for reference in runtime.info(entity).oneWayReferences
      where !found.contains(where: reference.relationship.isSame) {
        found.append(reference.relationship)
      }
    }
    return found
  }
}

extension Relationship {
  /// A request for the objects whose one-way relationship contains any of these keys.
  func holders(of keys: [Int64]) -> StoreRequest {
    let values = keys.map { StoredValue.integer($0) }
    let path = PropertyPath(variable: 0).appending(property)
    guard isToMany else { return StoreRequest(entity: entity, predicate: .isIn(.path(path), values, .integer)) }
    let isVictim = QueryPredicate.isIn(.path(PropertyPath(variable: 1)), values, .integer)
    return StoreRequest(entity: entity, predicate: .quantified(.any, path, variable: 1, isVictim))
  }
}
