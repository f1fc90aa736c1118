/// The objects of a context by key: open addressing over one block of memory.
///
/// Neighbouring keys, which is what fetches and inserts bring, share cache lines in groups of sixteen, while the groups are
/// scattered. Whole groups collide at once, so who finds its slot taken goes on in another group far away, and not next door,
/// where the next group would have to make way in turn.
///
/// The block is managed by hand because an array would retain and release every object when the map grows. Invariant: all
/// `size` slots are initialised; a slot with key 0 was never used, one with ``gone`` has no object any more.
struct IdentityMap: ~Copyable {
  private struct Slot {
    var key: Int64 = 0
    var object: ManagedObject?
  }

  private var slots: UnsafeMutablePointer<Slot>
  private var size: Int
  private(set) var count = 0
  /// How many slots are not free: those with an object, and those that had one.
  private var used = 0

  private static let leastSize = 16
  private static let gone: Int64 = -1

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
    if (used + 1) * 3 > size * 2 { rebuild(for: count + 1) }
    let place = place(of: key)
    if slots[place].key == 0 {
      count += 1
      used += 1
    }
    slots[place].key = key
    slots[place].object = object
  }

  /// Takes a key out.
  mutating func remove(_ key: Int64) {
    let place = place(of: key)
    guard key > 0, slots[place].key == key else { return }
    slots[place].key = Self.gone
    slots[place].object = nil
    count -= 1
  }

  /// Makes room for a number of objects in all.
  mutating func reserve(_ capacity: Int) {
    if (used - count + capacity) * 3 > size * 2 { rebuild(for: max(capacity, count)) }
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
    for place in 0..<size where slots[place].key > 0 {
      guard isKnownUniquelyReferenced(&slots[place].object) else { continue }
      if let object = slots[place].object, isDroppable(object) { dropped.append(slots[place].key) }
    }
    for key in dropped { remove(key) }
    return dropped.count
  }

  // MARK: Places

  /// Where a key is, or where it would go.
  @inline(__always) private func place(of key: Int64) -> Int {
    let bits = UInt64(bitPattern: key)
    let group = (bits >> 4) &* 0x9E37_79B9_7F4A_7C15
    let home = Int(truncatingIfNeeded: (group >> 28) << 4 | (bits & 15)) & (size - 1)
    if slots[home].key == key || slots[home].key == 0 { return home }
    return place(of: key, after: home, step: Int(truncatingIfNeeded: group >> 44))
  }

  /// Goes from group to group, one slot further in each, and so comes by every slot in the end. Few keys come here.
  private func place(of key: Int64, after home: Int, step: Int) -> Int {
    let groups = size >> 4
    let step = (step | 1) << 4
    var group = home & ~15
    var slot = home & 15
    var visited = 0
    while true {
      visited += 1
      group = (group + step) & (size - 1)
      // Another slot than before when all groups have been seen once.
      slot = (slot + (groups > 1 && visited & (groups - 1) == 0 ? 2 : 1)) & 15
      let place = group | slot
      if slots[place].key == key || slots[place].key == 0 { return place }
    }
  }

  /// Moves all objects into a block of the right size; none is retained or released.
  private mutating func rebuild(for capacity: Int) {
    let old = (slots, size)
    size = Self.leastSize
    // At most half full, so that there is no need to do this again soon.
    while size < capacity * 2 { size *= 2 }
    slots = Self.emptySlots(size)
    for index in 0..<old.1 {
      let slot = (old.0 + index).move()
      if slot.key > 0 { (slots + place(of: slot.key)).initialize(to: slot) }
    }
    used = count
    old.0.deallocate()
  }

  private static func emptySlots(_ size: Int) -> UnsafeMutablePointer<Slot> {
    let slots = UnsafeMutablePointer<Slot>.allocate(capacity: size)
    slots.initialize(repeating: Slot(), count: size)
    return slots
  }
}
