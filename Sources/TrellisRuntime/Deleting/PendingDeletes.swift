import TrellisModel
import TrellisStorage

/// The objects that one call of delete has deleted, and the references that it has cleared, so that it can be reverted
/// as a whole.
///
/// The pairs and references of the deleted objects themselves, and their positions, stay: the relationships of living
/// objects hide them.
struct DeletedClosure {
  struct Victim {
    let object: ManagedObject
    let wasInserted: Bool
  }

  private(set) var victims: [Victim] = []
  private(set) var keys = KeySet()
  private(set) var cleared: [ClearedReference] = []
  /// The cascades that the store carries out with this delete.
  var cascades: [PendingCascade] = []

  init() {}

  /// Adds objects that are about to be deleted.
  mutating func add(_ objects: [ManagedObject]) {
    keys.reserve(objects.count)
    victims.reserveCapacity(victims.count + objects.count)
    for object in objects {
      _ = keys.insert(object._key)
      victims.append(Victim(object: object, wasInserted: object.phase == .inserted))
    }
  }

  /// Notes that a reference to a victim is about to be cleared.
  mutating func note(_ reference: ClearedReference) { cleared.append(reference) }

  /// Removes victims that are alive again.
  fileprivate mutating func removeVictims(_ restored: Set<Int64>) {
    victims.removeAll { restored.contains($0.object._key) }
    keys.subtract(restored)
    cleared.removeAll { restored.contains($0.victim) }
  }

  /// Whether an object is deleted by this closure.
  func takes(_ object: ManagedObject) -> Bool {
    keys.contains(object._key) && victims.contains { $0.object === object && $0.isGone }
  }
}

extension DeletedClosure.Victim {
  /// Whether the object is still deleted.
  var isGone: Bool { object.phase == (wasInserted ? .detached : .deleted) }
}

/// The unsaved deletes of a context.
struct PendingDeletes {
  var closures: [DeletedClosure] = []
  /// Whether any delete leaves a cascade to the store.
  private(set) var hasCascades = false

  var isEmpty: Bool { closures.isEmpty && !hasCascades }

  /// Updates ``hasCascades``, after closures or their cascades have changed.
  mutating func noteCascades() { hasCascades = closures.contains { !$0.cascades.isEmpty } }

  mutating func add(_ closure: DeletedClosure) {
    closures.append(closure)
    if !closure.cascades.isEmpty { hasCascades = true }
  }

  /// Removes victims that are alive again.
  mutating func removeVictims(_ restored: Set<Int64>) {
    if restored.isEmpty { return }
    for index in closures.indices where !closures[index].keys.isDisjoint(with: restored) {
      closures[index].removeVictims(restored)
    }
    closures.removeAll { $0.victims.isEmpty && $0.cascades.isEmpty }
  }

  /// The closure that has deleted the object with a key, and the object; nil if it is not deleted.
  func closure(of key: Int64) -> (number: Int, object: ManagedObject)? {
    for number in closures.indices.reversed() where closures[number].keys.contains(key) {
      if let victim = closures[number].victims.first(where: { $0.object._key == key && $0.isGone }) {
        return (number, victim.object)
      }
    }
    return nil
  }
}

/// A reference of a living object to a victim, which the delete clears.
struct ClearedReference {
  let holder: ManagedObject
  let relationship: Relationship
  let victim: Int64
}

// MARK: - Dead targets

/// Objects whose delete is not saved, and that one-way to-manys may contain.
///
/// The holders of a one-way reference to an object are not known. Each list therefore looks here when it is next used,
/// if anything has changed since its last use.
struct DeadTargets {
  private(set) var keys: Set<Int64> = []
  /// The number of changes.
  private(set) var changes = 0

  mutating func add(_ key: Int64) {
    keys.insert(key)
    changes += 1
  }

  /// Removes an object that is alive again.
  mutating func remove(_ key: Int64) {
    if !keys.isEmpty, keys.remove(key) != nil { changes += 1 }
  }

  /// Removes all objects, after their deletes were saved or reverted.
  mutating func removeAll() {
    if keys.isEmpty { return }
    keys = []
    changes += 1
  }
}

// MARK: - Pending cascade

/// A cascade that the store carries out: the members of deleted owners that are not loaded.
struct PendingCascade {
  let relationship: Relationship
  let rule: StoreCascade
  let owners: [ManagedObject]
}
