import TrellisModel
import TrellisStorage

/// The relationships of objects that are inserted again after their delete was saved.
extension ObjectGraph {
  /// Notes the version of an object's row, after whose delete the object may be inserted again. The new row continues
  /// with the next version, so that a writer that has read the deleted row finds a conflict.
  func noteFormerVersion(of object: ManagedObject) {
    if object.state.replacement == 0 { noteFormerVersion(object.version, of: object._key) }
  }

  func noteFormerVersion(_ version: Int64, of key: Int64) {
    if version > formerVersions[key, default: 0] { formerVersions[key] = version }
  }

  /// The last version of the row that an inserted object had before; 0 if it had none. It is forgotten.
  func takeFormerVersion(of object: ManagedObject) -> Int64 {
    formerVersions.isEmpty ? 0 : formerVersions.removeValue(forKey: object._key) ?? 0
  }
  /// Makes everything that an object is linked to an unsaved change, since the store has no row of it.
  func forgetStore(of object: ManagedObject) {
    for list in object.lists { list.becomeNew() }
    for entry in object.partners { object.changePartner(of: entry.property) { $0.stored = max(0, $0.stored) } }
  }

  /// Unlinks objects, restored after a saved delete, from partners that were deleted meanwhile.
  func forgetLostPartners(of objects: [ManagedObject]) throws {
    for object in objects {
      for relationship in info(of: object).allRelationships {
        // References that the rule `noAction` left behind stay.
        if relationship.isLeftAlone || relationship.isTransient { continue }
        let partners =
          relationship.isToMany
          ? object.list(of: relationship.property).map { Array($0.keysWithHidden) } ?? []
          : presentPartners(of: object, relationship)
        let missing = partners.filter { map[$0] == nil }
        if missing.isEmpty { continue }
        let found = try loadObjects(missing, entity: relationship.destination)
        let lost = Set(missing).subtracting(found.map(\._key))
        if relationship.isToMany {
          list(of: object, relationship).forget(lost)
        } else {
          for key in lost {
            unlink(object, relationship, key)
            if relationship.isColumn {
              undo.noteLost(LostReference(object: object, relationship: relationship), to: key)
            }
          }
        }
      }
    }
  }

  /// Makes an object that was inserted again show the objects that the delete rule `noAction` has left referring to it.
  ///
  /// - Complexity: linear in the number of objects in memory, and one read of the store, for each such relationship.
  func showReferencesLeft(to object: ManagedObject) throws {
    for relationship in info(of: object).allRelationships where relationship.deleteAction == .leaveReferences {
      guard let inverse = runtime.inverse(of: relationship), inverse.isColumn else { continue }
      for key in try referencesLeft(to: object._key, relationship, inverse) {
        if relationship.isToMany {
          let list = list(of: object, relationship)
          if list.contains(key) { continue }
          object.announce(relationship.property)
          list.include(key)
        } else if holder(of: object, relationship) <= 0 {
          object.announce(relationship.property)
          object.changePartner(of: relationship.property) { $0.stored = key }
        }
        noteListChanged(object)
      }
    }
  }

  /// The keys of the objects that refer to a deleted object, in ascending order.
  func referencesLeft(
    to key: Int64, _ relationship: Relationship, _ inverse: Relationship
  ) throws -> [Int64] {
    var found: Set<Int64> = []
    try connection(reading: relationship.destination).memberKeys(of: relationship.number, owners: [key]) {
      _, member, _ in
      if map[member]?.accessFlags.contains(.fault) != false { found.insert(member) }
    }
    map.forEach { member in
      guard member.isAlive, !member.accessFlags.contains(.fault), info(of: member).relationships.contains(inverse),
        member._reference(inverse.property) == key
      else { return }
      found.insert(member._key)
    }
    return found.sorted()
  }

  /// Reads again which objects whose rows are not in memory refer to an object that is new again.
  func readReferencesLeft(to object: ManagedObject, _ changed: Set<Int64>) {
    for list in object.lists where changed.contains(where: list.holds) {
      object.announce(list.property)
      list.forget(changed)
    }
    do { try showReferencesLeft(to: object) } catch {
      report(ContextError(.loadFailed, "What others saved could not be read.", cause: error))
    }
  }
}
