/// The objects of sixteen consecutive keys in an ``IdentityMap``.
///
/// A whole page has a slot for each key. A small one has as many slots as fill its piece of memory and holds its objects
/// in the order of their keys, because the keys of an entity whose objects are created together with others are far
/// from each other. A mask of the keys that are present tells which slots are initialized.
///
/// A page is a pointer: copies refer to the same memory, which the map frees.
struct IdentityPage {
  private struct Header {
    /// The slots of the keys that are present, as bits.
    var present: UInt16 = 0
    /// How many they are: processors without an instruction for it would take long to count bits.
    var count: UInt8 = 0
    var isWhole: Bool
  }

  private let memory: UnsafeMutableRawPointer

  /// The number of keys, and of slots of a whole page.
  private static let keyCount = 16
  /// The number of slots of a small page: with the header, the memory allocator has no byte to spare in its chunk.
  private static let smallCount = 4
  private static let headerSize = MemoryLayout<ManagedObject>.stride

  /// Allocates an empty page.
  init(isWhole: Bool) {
    let slots = isWhole ? Self.keyCount : Self.smallCount
    memory = .allocate(
      byteCount: Self.headerSize + slots * MemoryLayout<ManagedObject>.stride,
      alignment: MemoryLayout<ManagedObject>.alignment)
    memory.initializeMemory(as: Header.self, to: Header(isWhole: isWhole))
    (memory + Self.headerSize).bindMemory(to: ManagedObject.self, capacity: slots)
  }

  /// Releases the objects and frees the memory.
  func free() {
    forEachPlace { place in place.deinitialize(count: 1) }
    memory.deallocate()
  }

  var isWhole: Bool { header.pointee.isWhole }
  var isEmpty: Bool { header.pointee.count == 0 }
  /// Whether an object can be inserted.
  var hasRoom: Bool { isWhole || header.pointee.count < Self.smallCount }

  /// Whether the page has the object of a key. It is not retained.
  @inline(__always) func contains(_ slot: Int) -> Bool { header.pointee.present & Self.bit(of: slot) != 0 }

  /// The object of a key, or nil.
  @inline(__always) subscript(slot: Int) -> ManagedObject? { contains(slot) ? objects[index(of: slot)] : nil }

  /// Calls a function with each object.
  func forEach(_ body: (ManagedObject) -> Void) {
    forEachPlace { place in body(place.pointee) }
  }

  /// Inserts the object of a key that the page does not have, if it has room.
  @inline(__always) func insert(_ object: ManagedObject, at slot: Int) {
    let place = objects + index(of: slot)
    if !isWhole && place < end { (place + 1).moveInitialize(from: place, count: end - place) }
    place.initialize(to: object)
    header.pointee.present |= Self.bit(of: slot)
    header.pointee.count &+= 1
  }

  /// Puts another object in the place of that of a key that the page has.
  func replace(_ slot: Int, by object: ManagedObject) { objects[index(of: slot)] = object }

  /// Removes the object of a key that the page has.
  func remove(_ slot: Int) {
    let place = objects + index(of: slot)
    place.deinitialize(count: 1)
    if !isWhole { place.moveInitialize(from: place + 1, count: end - place - 1) }
    header.pointee.present &= ~Self.bit(of: slot)
    header.pointee.count &-= 1
  }

  /// Removes the objects that are not referenced elsewhere and satisfy a condition.
  ///
  /// - Returns: the number of removed objects.
  func removeUnreferenced(where isDroppable: (ManagedObject) -> Bool) -> Int {
    var removed = 0
    for slot in 0..<Self.keyCount where contains(slot) {
      let place = objects + index(of: slot)
      guard isKnownUniquelyReferenced(&place.pointee), isDroppable(place.pointee) else { continue }
      remove(slot)
      removed += 1
    }
    return removed
  }

  /// Moves the objects of a small page to a whole one, and frees the small one.
  func enlarged() -> IdentityPage {
    let whole = IdentityPage(isWhole: true)
    var place = objects
    for slot in 0..<Self.keyCount where contains(slot) {
      (whole.objects + slot).initialize(to: place.move())
      place += 1
    }
    whole.header.pointee.present = header.pointee.present
    whole.header.pointee.count = header.pointee.count
    memory.deallocate()
    return whole
  }

  // MARK: Memory

  @inline(__always) private var header: UnsafeMutablePointer<Header> { memory.assumingMemoryBound(to: Header.self) }

  @inline(__always) private var objects: UnsafeMutablePointer<ManagedObject> {
    (memory + Self.headerSize).assumingMemoryBound(to: ManagedObject.self)
  }

  /// The place after the objects of a small page.
  @inline(__always) private var end: UnsafeMutablePointer<ManagedObject> { objects + Int(header.pointee.count) }

  /// The position of a key's object, or the position to insert it at.
  @inline(__always) private func index(of slot: Int) -> Int {
    if isWhole { return slot }
    // Keys are mostly inserted in ascending order.
    if header.pointee.present < Self.bit(of: slot) { return Int(header.pointee.count) }
    return (header.pointee.present & (Self.bit(of: slot) &- 1)).nonzeroBitCount
  }

  @inline(__always) private static func bit(of slot: Int) -> UInt16 { 1 &<< UInt16(truncatingIfNeeded: slot) }

  @inline(__always) private func forEachPlace(_ body: (UnsafeMutablePointer<ManagedObject>) -> Void) {
    if isWhole {
      for slot in 0..<Self.keyCount where contains(slot) { body(objects + slot) }
    } else {
      for place in 0..<Int(header.pointee.count) { body(objects + place) }
    }
  }
}
