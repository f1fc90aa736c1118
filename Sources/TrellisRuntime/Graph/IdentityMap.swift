/// The objects of a context by key.
///
/// Sixteen consecutive keys share a page, because fetches and inserts use consecutive keys: an iteration over objects
/// usually finds the next object next to the last one. The pages are found through a directory, a hash table that stays
/// small enough for the processor's caches.
///
/// Both are managed manually, because arrays would retain and release every object when the map grows. Invariants: all
/// slots of a page are initialized, no page is empty, and a directory entry has a page unless its tag is 0. The
/// directory has one additional entry at the end: the last one that was found, which the next search tries first.
struct IdentityMap: ~Copyable {
  private typealias Page = UnsafeMutablePointer<ManagedObject?>

  private struct Entry {
    /// The number of the page's keys, shifted; 0 for a free entry.
    var tag: UInt64 = 0
    var page: Page?
  }

  private var directory: UnsafeMutablePointer<Entry>
  private var size: Int
  private var pageCount = 0
  private(set) var count = 0

  private static let pageSize = 16
  private static let leastSize = 16

  init() {
    size = Self.leastSize
    directory = Self.emptyDirectory(size)
  }

  deinit {
    for place in 0..<size { Self.free(directory[place].page) }
    directory.deallocate()
  }

  /// The object with a key, or nil.
  subscript(key: Int64) -> ManagedObject? {
    page(of: Self.tag(of: key))?[Self.slot(of: key)]
  }

  /// Whether there is an object with a key. It is not retained.
  func contains(_ key: Int64) -> Bool {
    guard let page = page(of: Self.tag(of: key)) else { return false }
    return page[Self.slot(of: key)] != nil
  }

  /// Adds an object under a key, replacing any other.
  mutating func insert(_ object: ManagedObject, for key: Int64) {
    let tag = Self.tag(of: key)
    let slot = (page(of: tag) ?? addPage(tag)) + Self.slot(of: key)
    if slot.pointee == nil {
      count += 1
      // There is nothing to release.
      slot.initialize(to: object)
    } else {
      slot.pointee = object
    }
  }

  /// Removes a key.
  mutating func remove(_ key: Int64) {
    let place = place(of: Self.tag(of: key))
    guard let page = directory[place].page, page[Self.slot(of: key)] != nil else { return }
    page[Self.slot(of: key)] = nil
    count -= 1
    if Self.isEmpty(page) { removePage(at: place) }
  }

  mutating func removeAll() { self = IdentityMap() }

  /// Every object, in no particular order.
  func forEach(_ body: (ManagedObject) -> Void) {
    for place in 0..<size {
      guard let page = directory[place].page else { continue }
      for slot in 0..<Self.pageSize { if let object = page[slot] { body(object) } }
    }
  }

  /// Removes the objects that are not referenced elsewhere and satisfy a condition.
  ///
  /// - Returns: the number of removed objects.
  mutating func removeUnreferenced(where isDroppable: (ManagedObject) -> Bool) -> Int {
    let before = count
    var emptied: [UInt64] = []
    for place in 0..<size {
      guard let page = directory[place].page else { continue }
      if drop(from: page, where: isDroppable) { emptied.append(directory[place].tag) }
    }
    // Deferred to the end, because removing a page moves other entries.
    for tag in emptied { removePage(at: self.place(of: tag)) }
    return before - count
  }

  /// Returns whether the page is empty afterwards.
  private mutating func drop(from page: Page, where isDroppable: (ManagedObject) -> Bool) -> Bool {
    var isEmpty = true
    for slot in 0..<Self.pageSize where page[slot] != nil {
      if isKnownUniquelyReferenced(&page[slot]), let object = page[slot], isDroppable(object) {
        page[slot] = nil
        count -= 1
      } else {
        isEmpty = false
      }
    }
    return isEmpty
  }

  // MARK: Places

  @inline(__always) private static func tag(of key: Int64) -> UInt64 { UInt64(bitPattern: key) >> 4 + 1 }
  @inline(__always) private static func slot(of key: Int64) -> Int { Int(truncatingIfNeeded: key & 15) }

  /// The page with a tag, or nil. Consecutive lookups mostly use the same page.
  @inline(__always) private func page(of tag: UInt64) -> Page? {
    if directory[size].tag == tag { return directory[size].page }
    return searchedPage(of: tag)
  }

  @inline(never) private func searchedPage(of tag: UInt64) -> Page? {
    let found = directory[place(of: tag)]
    guard found.page != nil else { return nil }
    directory[size] = found
    return found.page
  }

  /// The position of a page's entry, or the position to insert it at.
  @inline(__always) private func place(of tag: UInt64) -> Int {
    var place = home(of: tag)
    while directory[place].tag != tag && directory[place].tag != 0 { place = (place + 1) & (size - 1) }
    return place
  }

  @inline(__always) private func home(of tag: UInt64) -> Int {
    Int(truncatingIfNeeded: (tag &* 0x9E37_79B9_7F4A_7C15) >> 32) & (size - 1)
  }

  // MARK: Pages

  private mutating func addPage(_ tag: UInt64) -> Page {
    if (pageCount + 1) * 2 > size { growDirectory() }
    let page = Page.allocate(capacity: Self.pageSize)
    page.initialize(repeating: nil, count: Self.pageSize)
    directory[place(of: tag)] = Entry(tag: tag, page: page)
    pageCount += 1
    return page
  }

  /// Frees an empty page and closes the gap of its entry.
  private mutating func removePage(at place: Int) {
    if directory[size].tag == directory[place].tag { directory[size] = Entry() }
    Self.free(directory[place].page)
    pageCount -= 1
    var hole = place
    var next = (hole + 1) & (size - 1)
    while directory[next].tag != 0 {
      // The entry may move into the hole unless its home lies between the hole and its position.
      if (next - home(of: directory[next].tag)) & (size - 1) >= (next - hole) & (size - 1) {
        directory[hole] = directory[next]
        hole = next
      }
      next = (next + 1) & (size - 1)
    }
    directory[hole] = Entry()
  }

  private static func isEmpty(_ page: Page) -> Bool {
    for slot in 0..<pageSize where page[slot] != nil { return false }
    return true
  }

  private static func free(_ page: Page?) {
    guard let page else { return }
    // One by one: the runtime would look up how to destroy an optional for each slot.
    for slot in 0..<pageSize { page[slot] = nil }
    page.deallocate()
  }

  private mutating func growDirectory() {
    let old = (directory, size)
    size *= 2
    directory = Self.emptyDirectory(size)
    for index in 0..<old.1 where old.0[index].tag != 0 { directory[place(of: old.0[index].tag)] = old.0[index] }
    old.0.deallocate()
  }

  private static func emptyDirectory(_ size: Int) -> UnsafeMutablePointer<Entry> {
    let directory = UnsafeMutablePointer<Entry>.allocate(capacity: size + 1)
    directory.initialize(repeating: Entry(), count: size + 1)
    return directory
  }
}

// MARK: - Sweeper

/// Decides when a context searches for objects that are no longer referenced.
struct Sweeper {
  /// The current generation. The next sweep keeps objects that were loaded in it.
  private(set) var generation: UInt8 = 0
  private var threshold = Sweeper.leastCount

  private static let leastCount = 4096

  func isDue(_ count: Int) -> Bool { count >= threshold }

  mutating func didSweep(leaving count: Int) {
    generation &+= 1
    threshold = max(Sweeper.leastCount, count * 2)
  }
}

extension ObjectGraph {
  /// Sweeps if the number of objects has doubled since the last sweep.
  func sweepIfDue() {
    if sweeper.isDue(map.count) { sweep(sparingRecent: true) }
  }

  @discardableResult func sweep(sparingRecent: Bool) -> Int {
    let generation = sweeper.generation
    let dropped = map.removeUnreferenced { object in
      object.phase == .persistent && !object.isInChangedList
        && !(sparingRecent && object.state.generation == generation)
    }
    sweeper.didSweep(leaving: map.count)
    if dropped > 0 { observation?.forget { map[$0] == nil } }
    batches.removeUnused(in: map)
    return dropped
  }
}
