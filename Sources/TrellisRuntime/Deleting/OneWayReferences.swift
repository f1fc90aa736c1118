import TrellisModel
import TrellisStorage

extension ObjectGraph {
  /// The one-way references to victims that their delete clears. The store clears those in its rows; those of changed
  /// and new objects are cleared immediately, because saving these would overwrite that. A required reference to a saved
  /// victim stays and denies the delete. To-manys hide the victims.
  ///
  /// - Parameter holders: More objects that may have such references.
  func oneWayReferences(
    to victims: [ManagedObject], _ holders: [ManagedObject]
  ) -> [ClearedReference] {
    let references = oneWayReferences(to: victims).filter { !$0.isToMany }
    if references.isEmpty { return [] }
    let phases = Dictionary(victims.map { ($0._key, $0.phase) }) { first, _ in first }
    var found: [ClearedReference] = []
    for object in inserted + changed + holders where object.isAlive && phases[object._key] == nil {
      for reference in references where info(of: object).relationships.contains(reference) {
        let key = knownReference(of: object, reference)
        guard let phase = phases[key], !(reference.isRequired && phase == .persistent) else { continue }
        found.append(ClearedReference(holder: object, relationship: reference, victim: key))
      }
    }
    return found
  }

  /// Unlinks an object that is withdrawn from the one-way relationships of new and changed objects.
  func unlinkOneWay(from object: ManagedObject) {
    let references = oneWayReferences(to: [object])
    if references.isEmpty { return }
    for holder in inserted + changed where holder.isAlive && holder !== object {
      for reference in references where info(of: holder).relationships.contains(reference) {
        if presentPartners(of: holder, reference).contains(object._key) { unlink(holder, reference, object._key) }
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
