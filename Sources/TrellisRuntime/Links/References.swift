import TrellisModel
import TrellisStorage

/// The references in the rows of objects. Nothing else sets one but loads and merges of rows.
///
/// A reference is one fact, in the row of the object that holds it. What the other end shows follows from it: a to-many
/// by a change of its list, a to-one by a note of where to look.
extension ObjectGraph {
  /// Sets a reference of an object that is loaded.
  ///
  /// - Parameters:
  ///   - key: The key of the target; 0 for none.
  ///   - place: The position among the members of the target's ordered to-many; nil for the end.
  ///   - isPlaced: Whether the position is chosen here. If not, the object gets the one in the store if it is there.
  ///   - keepsPlace: Whether the former target, which is deleted here, keeps the object for the time when it returns.
  func setReference(
    of holder: ManagedObject, _ reference: Relationship, to key: Int64, at place: Int? = nil,
    placing isPlaced: Bool = true, keepingPlace keepsPlace: Bool = false
  ) {
    // A deleted object also loses a partner that is linked elsewhere. Otherwise it would still prevent the partner's
    // delete. A new object that is deleted may return.
    if !holder.isAlive {
      holder.announce(reference.property)
      holder.willChangeValues()
      holder.state.markAssigned(ColumnMask.bit(of: reference.property))
    } else if !holder._willWrite(reference.property) {
      return
    }
    let former = holder._reference(reference.property)
    holder._setReference(reference.property, key)
    holder._setPlace(reference.property, nil)
    targetDidChange(of: holder, reference, from: keepsPlace ? 0 : former, at: place, placing: isPlaced)
  }

  /// Makes the other ends of a reference follow it.
  func targetDidChange(
    of holder: ManagedObject, _ reference: Relationship, from former: Int64, at place: Int? = nil,
    placing isPlaced: Bool = true
  ) {
    guard holder.phase != .detached, let inverse = runtime.inverse(of: reference) else { return }
    if inverse.isColumn { return }
    let key = holder._reference(reference.property)
    if former != key { leave(former, holder, reference, inverse) }
    enter(key, holder, reference, inverse, at: place, placing: isPlaced)
  }

  /// Whether the row that was read of an object has a reference to a target.
  func isStored(_ holder: ManagedObject, _ reference: Relationship, _ target: Int64) -> Bool {
    if holder.phase == .inserted || holder.phase == .detached { return false }
    guard let committed = holder.committedRow else { return holder._reference(reference.property) == target }
    return committed.value(reference.property).key == target
  }

  // MARK: What the other end shows

  /// Makes the other end of a reference no longer show its holder.
  private func leave(
    _ key: Int64, _ holder: ManagedObject, _ reference: Relationship, _ inverse: Relationship
  ) {
    guard key > 0, let target = map[key] else { return }
    target.announce(inverse.property)
    if inverse.isToMany {
      let list = list(of: target, inverse)
      recordAnchor(of: holder._key, in: list, of: target, inverse)
      list.remove(holder._key, isStored: list.isLoaded ? nil : isStored(holder, reference, key))
    } else {
      target.changePartner(of: inverse.property) { if $0.given == holder._key { $0.given = 0 } }
    }
    noteListChanged(target)
  }

  /// Makes the other end of a reference show its holder.
  private func enter(
    _ key: Int64, _ holder: ManagedObject, _ reference: Relationship, _ inverse: Relationship, at place: Int? = nil,
    placing isPlaced: Bool = false
  ) {
    guard key > 0, let target = map[key] else { return }
    target.announce(inverse.property)
    if inverse.isToMany {
      let list = list(of: target, inverse)
      if list.show(holder._key) || list.contains(holder._key) && place == nil {
        // It has its position.
      } else if inverse.isOrdered && isPlaced {
        list.insert(holder._key, at: place, isStored: list.isLoaded ? nil : isStored(holder, reference, key))
        if list.isReordered { hasArrangements = true }
      } else {
        list.include(holder._key, isStored: list.isLoaded ? nil : isStored(holder, reference, key))
      }
      if !holder.isAlive { list.hide(holder._key) }
    } else {
      // Another object may have been given the target here, while this one has it in the store.
      let isTaken =
        isStored(holder, reference, key)
        && holders(of: target, inverse).contains { $0 !== holder && $0.hasOwnReference(reference) }
      if !isTaken {
        target.changePartner(of: inverse.property) { $0.given = $0.stored == holder._key ? 0 : holder._key }
      }
    }
    noteListChanged(target)
  }

  /// Makes the target of an object's reference show it.
  func showAtTarget(_ holder: ManagedObject, _ reference: Relationship) {
    guard let inverse = runtime.inverse(of: reference), !inverse.isColumn else { return }
    enter(holder._reference(reference.property), holder, reference, inverse)
  }

  /// Makes the other ends of an object's references agree with its row, after the row was read or merged.
  ///
  /// - Parameter former: The references before.
  func followReferences(of holder: ManagedObject, since former: [(relationship: Relationship, key: Int64)]) {
    for (reference, formerKey) in former {
      guard let inverse = runtime.inverse(of: reference), !inverse.isColumn else { continue }
      let present = holder._reference(reference.property)
      let stored = holder.committedRow?.value(reference.property).key ?? present
      for key in Set([formerKey, present, stored]) where key > 0 {
        guard let target = map[key], target.phase != .detached else { continue }
        follow(holder, refers: key == present, isStored: key == stored && holder.phase != .inserted, target, inverse)
      }
    }
  }

  /// Makes a target show a holder, or not, as its row says.
  private func follow(
    _ holder: ManagedObject, refers: Bool, isStored: Bool, _ target: ManagedObject, _ inverse: Relationship
  ) {
    guard inverse.isToMany else {
      target.announce(inverse.property)
      if refers && !isStored {
        target.changePartner(of: inverse.property) { $0.given = holder._key }
      } else if target.knownPartner(of: inverse.property)?.given == holder._key {
        target.changePartner(of: inverse.property) { $0.given = 0 }
      }
      return
    }
    let key = holder._key
    if refers == isStored {
      guard let list = target.list(of: inverse.property) else { return }
      list.settle(key, isStored: isStored)
      if !refers && list.contains(key) && list.hasRead(key) != true { list.remove(key, isStored: false) }
      if refers { list.include(key, isStored: true) }
      return
    }
    let list = list(of: target, inverse)
    if list.contains(key) == refers && list.isLoaded { return }
    target.announce(inverse.property)
    if refers { list.include(key, isStored: false) } else { list.remove(key, isStored: true) }
    if refers && !holder.isAlive { list.hide(key) }
    noteListChanged(target)
  }

  // MARK: To-ones of the other end

  /// The key of the partner of a to-one whose reference is stored in the partner's row; 0 for none, -1 if the store has
  /// to be read.
  func holder(of target: ManagedObject, _ relationship: Relationship) -> Int64 {
    let known = target.knownPartner(of: relationship.property)
    if relationship.isTransient { return known?.given ?? 0 }
    guard let inverse = runtime.inverse(of: relationship) else { return 0 }
    if let given = known?.given, given > 0, let holder = map[given], holder.isAlive,
      !holder.accessFlags.contains(.fault), holder._reference(inverse.property) == target._key
    {
      return given
    }
    let stored = target.phase == .inserted ? max(0, known?.stored ?? 0) : known?.stored ?? -1
    guard stored > 0, let holder = map[stored] else { return stored }
    if !holder.isAlive { return 0 }
    return holder.accessFlags.contains(.fault) || holder._reference(inverse.property) == target._key ? stored : 0
  }

  /// Notes that the store has an object as the holder of its target.
  func noteStored(_ holder: ManagedObject, _ reference: Relationship) {
    guard let inverse = runtime.inverse(of: reference), inverse.home == .inverseColumn, !inverse.isToMany,
      let target = map[holder._reference(reference.property)]
    else { return }
    target.announce(inverse.property)
    target.changePartner(of: inverse.property) { $0.stored = holder._key }
  }

  /// The objects in memory that refer to the target of a one-to-one, those included that are deleted here. There are
  /// two where this context has given the target to one object and another context to another one.
  func holders(of target: ManagedObject, _ relationship: Relationship) -> [ManagedObject] {
    guard let known = target.knownPartner(of: relationship.property), let inverse = runtime.inverse(of: relationship)
    else { return [] }
    return [known.given, known.stored].compactMap { $0 > 0 ? map[$0] : nil }.filter { holder in
      holder.phase != .detached && !holder.accessFlags.contains(.fault)
        && holder._reference(inverse.property) == target._key
    }
  }
}

extension ManagedObject {
  /// Whether a reference in the object's row was set in this context since it was last read or saved.
  final func hasOwnReference(_ reference: Relationship) -> Bool {
    if phase == .inserted { return true }
    guard changedBits & ColumnMask.bit(of: reference.property) != 0, let committed = committedRow else {
      return false
    }
    return !_value(reference.property).isSame(as: committed.value(reference.property))
  }
}
