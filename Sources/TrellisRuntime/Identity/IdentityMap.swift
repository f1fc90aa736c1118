/// The objects of a context by key: open addressing over one array.
///
/// Neighbouring keys, which is what fetches and inserts bring, share cache lines in groups of sixteen, while the groups are
/// scattered, so that runs of keys from different sources do not pile up on each other.
struct IdentityMap {
  private struct Slot {
    var key: Int64 = 0
    var object: ManagedObject?
  }

  private var slots: ContiguousArray<Slot> = []
  private var mask = -1
  private(set) var count = 0

  /// The object of a key, or nil.
  subscript(key: Int64) -> ManagedObject? {
    guard count > 0 else { return nil }
    var place = home(of: key)
    while true {
      if slots[place].key == key { return slots[place].object }
      if slots[place].key == 0 { return nil }
      place = (place + 1) & mask
    }
  }

  /// Adds an object under a key that the map does not hold.
  mutating func insert(_ object: ManagedObject, for key: Int64) {
    if (count + 1) * 4 > slots.count * 3 { grow(to: count + 1) }
    var place = home(of: key)
    while slots[place].key != 0 {
      if slots[place].key == key {
        slots[place].object = object
        return
      }
      place = (place + 1) & mask
    }
    slots[place] = Slot(key: key, object: object)
    count += 1
  }

  /// Takes a key out and closes the gap that it leaves.
  mutating func remove(_ key: Int64) {
    guard count > 0 else { return }
    var hole = home(of: key)
    while slots[hole].key != key {
      if slots[hole].key == 0 { return }
      hole = (hole + 1) & mask
    }
    count -= 1
    var next = (hole + 1) & mask
    while slots[next].key != 0 {
      let wanted = home(of: slots[next].key)
      // The entry may move into the hole unless its home lies between the hole and its place.
      if (next - wanted) & mask >= (next - hole) & mask {
        slots[hole] = slots[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole] = Slot()
  }

  /// Makes room for a number of objects in all.
  mutating func reserve(_ capacity: Int) {
    if capacity * 4 > slots.count * 3 { grow(to: capacity) }
  }

  mutating func removeAll() { self = IdentityMap() }

  /// Every object, in no particular order.
  func forEach(_ body: (ManagedObject) -> Void) {
    for slot in slots { if let object = slot.object { body(object) } }
  }

  /// Drops the objects that nobody else holds and for which the condition holds.
  ///
  /// - Returns: how many were dropped.
  mutating func removeUnreferenced(where isDroppable: (ManagedObject) -> Bool) -> Int {
    var dropped: [Int64] = []
    for place in slots.indices where slots[place].key != 0 {
      guard isKnownUniquelyReferenced(&slots[place].object) else { continue }
      if let object = slots[place].object, isDroppable(object) { dropped.append(slots[place].key) }
    }
    for key in dropped { remove(key) }
    return dropped.count
  }

  private func home(of key: Int64) -> Int {
    let bits = UInt64(bitPattern: key)
    let group = (bits >> 4) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (group >> 28) << 4 | (bits & 15)) & mask
  }

  private mutating func grow(to capacity: Int) {
    var size = 16
    while size * 3 < capacity * 4 { size *= 2 }
    if size <= slots.count { size = slots.count * 2 }
    let old = slots
    slots = ContiguousArray(repeating: Slot(), count: size)
    mask = size - 1
    count = 0
    for slot in old { if let object = slot.object { insert(object, for: slot.key) } }
  }
}
