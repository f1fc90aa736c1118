import TrellisModel
import TrellisStorage

/// Takes over what a load has read of relationships, and what a save has written.
extension ObjectGraph {
  func take(_ keys: ContiguousArray<Int64>, from loading: ListLoading, for owner: ManagedObject) {
    let list = list(of: owner, loading.relationship)
    let unknown = membersUnknownToStore(of: owner._key, loading.relationship)
    if unknown.isEmpty && !loading.hasDepartures && !list.hasChanges { return list.load(keys) }
    // A member whose row was set here is an added one.
    let inverse = runtime.inverse(of: loading.relationship)
    let added = unknown.filter { key in inverse.map { map[key]?.hasOwnReference($0) == true } ?? false }
    let keys = unknown.isEmpty ? keys : keys + unknown.filter { !keys.contains($0) && !added.contains($0) }
    let gone = loading.gone[owner._key] ?? []
    let dead = loading.deleted[owner._key] ?? []
    let changed = loading.relationship.isJoined ? list.difference : (added: [], removed: [])
    list.load(keys, without: gone, hiding: dead)
    for key in added { list.include(key, isStored: false) }
    if !changed.added.isEmpty || !changed.removed.isEmpty {
      settlePairs(of: owner, loading.relationship, changed.added + changed.removed, Set(keys))
    }
    // A rollback has to restore these members, and to remove those that only this context has.
    if !gone.isEmpty || !dead.isEmpty || !unknown.isEmpty { noteListChanged(owner) }
  }

  /// Takes over the partner of a to-one whose reference is stored in the partner's row.
  ///
  /// - Parameters:
  ///   - stored: The key of the partner in the store; 0 for none.
  ///   - unknown: The key of an object that refers to the owner here and not in the store; nil without one.
  func take(_ stored: Int64, _ unknown: Int64?, for owner: ManagedObject, _ relationship: Relationship) {
    owner.changePartner(of: relationship.property) { $0.stored = stored > 0 ? stored : unknown ?? 0 }
    // A reference that was set here shows until a save settles whose partner the owner is.
    guard let unknown, owner.knownPartner(of: relationship.property)?.given == 0,
      let inverse = runtime.inverse(of: relationship), map[unknown]?.hasOwnReference(inverse) == true
    else { return }
    owner.changePartner(of: relationship.property) { $0.given = unknown }
  }

  /// Makes what an object shows of relationships what the store has, after a save.
  func commitLinks(of object: ManagedObject) {
    if object.hasLists { for list in object.lists { list.didSave() } }
    for entry in object.partners {
      guard let relationship = relationship(entry.property, of: object), !relationship.isTransient else { continue }
      let present = holder(of: object, relationship)
      object.changePartner(of: entry.property) { ($0.stored, $0.given) = (present, 0) }
    }
  }
}
