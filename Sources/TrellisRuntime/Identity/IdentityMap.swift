/// The objects of a context by key: open addressing over one block of memory.
///
/// Neighbouring keys, which is what fetches and inserts bring, share cache lines in groups of sixteen, while the groups are
/// scattered, so that runs of keys from different sources do not pile up on each other.
///
/// The block is managed by hand because an array would retain and release every object when the map grows. Invariant: all
/// `size` slots are initialised; a slot with key 0 has no object.
struct IdentityMap: ~Copyable {
  private struct Slot {
    var key: Int64 = 0
    var object: ManagedObject?
  }

  private var slots: UnsafeMutablePointer<Slot>
  private var size: Int
  private(set) var count = 0

  private static let leastSize = 16

  init() {
    size = Self.leastSize
    slots = Self.emptySlots(size)
  }

  deinit {
    slots.deinitialize(count: size)
    slots.deallocate()
  }

  /// The object of a key, or nil.
  subscript(key: Int64) -> ManagedObject? {
    slots[place(of: key)].object
  }

  /// Adds an object under a key, in place of any other.
  mutating func insert(_ object: ManagedObject, for key: Int64) {
    if (count + 1) * 4 > size * 3 { grow(to: count + 1) }
    let place = place(of: key)
    if slots[place].key == 0 { count += 1 }
    slots[place].key = key
    slots[place].object = object
  }

  /// Takes a key out and closes the gap that it leaves.
  mutating func remove(_ key: Int64) {
    var hole = place(of: key)
    guard key != 0, slots[hole].key == key else { return }
    count -= 1
    slots[hole].object = nil
    var next = (hole + 1) & (size - 1)
    while slots[next].key != 0 {
      let wanted = home(of: slots[next].key)
      // The entry may move into the hole unless its home lies between the hole and its place.
      if (next - wanted) & (size - 1) >= (next - hole) & (size - 1) {
        swap(hole, next)
        hole = next
      }
      next = (next + 1) & (size - 1)
    }
    slots[hole].key = 0
  }

  /// Makes room for a number of objects in all.
  mutating func reserve(_ capacity: Int) {
    if capacity * 4 > size * 3 { grow(to: capacity) }
  }

  mutating func removeAll() { self = IdentityMap() }

  /// Every object, in no particular order.
  func forEach(_ body: (ManagedObject) -> Void) {
    for place in 0..<size { if let object = slots[place].object { body(object) } }
  }

  /// Drops the objects that nobody else holds and for which the condition holds.
  ///
  /// - Returns: how many were dropped.
  mutating func removeUnreferenced(where isDroppable: (ManagedObject) -> Bool) -> Int {
    var dropped: [Int64] = []
    for place in 0..<size where slots[place].key != 0 {
      guard isKnownUniquelyReferenced(&slots[place].object) else { continue }
      if let object = slots[place].object, isDroppable(object) { dropped.append(slots[place].key) }
    }
    for key in dropped { remove(key) }
    return dropped.count
  }

  // MARK: Places

  /// Where a key is, or where it would go.
  @inline(__always) private func place(of key: Int64) -> Int {
    var place = home(of: key)
    while slots[place].key != key && slots[place].key != 0 { place = (place + 1) & (size - 1) }
    return place
  }

  @inline(__always) private func home(of key: Int64) -> Int {
    let bits = UInt64(bitPattern: key)
    let group = (bits >> 4) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (group >> 28) << 4 | (bits & 15)) & (size - 1)
  }

  private func swap(_ hole: Int, _ other: Int) {
    let slot = (slots + other).move()
    (slots + other).initialize(to: (slots + hole).move())
    (slots + hole).initialize(to: slot)
  }

  /// Moves all slots into a larger block; no object is retained or released.
  private mutating func grow(to capacity: Int) {
    let old = (slots, size)
    while size * 3 < capacity * 4 || size <= old.1 { size *= 2 }
    slots = Self.emptySlots(size)
    for index in 0..<old.1 {
      let slot = (old.0 + index).move()
      if slot.key != 0 { (slots + place(of: slot.key)).initialize(to: slot) }
    }
    old.0.deallocate()
  }

  private static func emptySlots(_ size: Int) -> UnsafeMutablePointer<Slot> {
    let slots = UnsafeMutablePointer<Slot>.allocate(capacity: size)
    slots.initialize(repeating: Slot(), count: size)
    return slots
  }
}
