/// The objects of a context by key.
///
/// Sixteen consecutive keys share a page, because fetches and inserts use consecutive keys: an iteration over objects
/// usually finds the next object next to the last one. The pages are found through a directory, a hash table that stays
/// small enough for the processor's caches.
///
/// Both are managed manually, because arrays would retain and release every object when the map grows. Invariants: no
/// page is empty, and a directory entry has a page unless its tag is 0. The directory has one additional entry at the
/// end: the last one that was found, which the next search tries first.
struct IdentityMap: ~Copyable {
  private struct Entry {
    /// The number of the page's keys, shifted; 0 for a free entry.
    var tag: UInt64 = 0
    var page: IdentityPage?
  }

  private var directory: UnsafeMutablePointer<Entry>
  private var size: Int
  private var pageCount = 0
  private(set) var count = 0

  private static let leastSize = 16

  init() {
    size = Self.leastSize
    directory = Self.emptyDirectory(size)
  }

  deinit {
    for place in 0..<size { directory[place].page?.free() }
    directory.deallocate()
  }

  /// The object with a key, or nil.
  subscript(key: Int64) -> ManagedObject? {
    page(of: Self.tag(of: key))?[Self.slot(of: key)]
  }

  /// Whether there is an object with a key. It is not retained.
  func contains(_ key: Int64) -> Bool {
    page(of: Self.tag(of: key))?.contains(Self.slot(of: key)) ?? false
  }

  /// Adds an object under a key, replacing any other.
  mutating func insert(_ object: ManagedObject, for key: Int64) {
    let (tag, slot) = (Self.tag(of: key), Self.slot(of: key))
    var page = page(of: tag) ?? addPage(tag)
    if page.contains(slot) { return page.replace(slot, by: object) }
    if !page.hasRoom { page = enlarge(page, tag) }
    page.insert(object, at: slot)
    count &+= 1
  }

  /// Removes a key.
  mutating func remove(_ key: Int64) {
    let place = place(of: Self.tag(of: key))
    guard let page = directory[place].page, page.contains(Self.slot(of: key)) else { return }
    page.remove(Self.slot(of: key))
    count -= 1
    if page.isEmpty { removePage(at: place) }
  }

  mutating func removeAll() { self = IdentityMap() }

  /// Every object, in no particular order.
  func forEach(_ body: (ManagedObject) -> Void) {
    for place in 0..<size { directory[place].page?.forEach(body) }
  }

  /// Removes the objects that are not referenced elsewhere and satisfy a condition.
  ///
  /// - Returns: the number of removed objects.
  mutating func removeUnreferenced(where isDroppable: (ManagedObject) -> Bool) -> Int {
    var removed = 0
    var emptied: [UInt64] = []
    for place in 0..<size {
      guard let page = directory[place].page else { continue }
      removed += page.removeUnreferenced(where: isDroppable)
      if page.isEmpty { emptied.append(directory[place].tag) }
    }
    count -= removed
    // Deferred to the end, because removing a page moves other entries.
    for tag in emptied { removePage(at: self.place(of: tag)) }
    return removed
  }

  // MARK: Places

  @inline(__always) private static func tag(of key: Int64) -> UInt64 { UInt64(bitPattern: key) >> 4 + 1 }
  @inline(__always) private static func slot(of key: Int64) -> Int { Int(truncatingIfNeeded: key & 15) }

  /// The page with a tag, or nil. Consecutive lookups mostly use the same page.
  @inline(__always) private func page(of tag: UInt64) -> IdentityPage? {
    if directory[size].tag == tag { return directory[size].page }
    return searchedPage(of: tag)
  }

  @inline(never) private func searchedPage(of tag: UInt64) -> IdentityPage? {
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

  /// Adds an empty page. Keys that are near each other are mostly as dense, so it has the size of the last page.
  private mutating func addPage(_ tag: UInt64) -> IdentityPage {
    if (pageCount + 1) * 2 > size { growDirectory() }
    let page = IdentityPage(isWhole: directory[size].page?.isWhole ?? false)
    setPage(page, of: tag)
    pageCount += 1
    return page
  }

  /// Moves the objects of a page to one with a slot for each key.
  @inline(never) private mutating func enlarge(_ page: IdentityPage, _ tag: UInt64) -> IdentityPage {
    let enlarged = page.enlarged()
    setPage(enlarged, of: tag)
    return enlarged
  }

  private mutating func setPage(_ page: IdentityPage, of tag: UInt64) {
    let entry = Entry(tag: tag, page: page)
    directory[place(of: tag)] = entry
    directory[size] = entry
  }

  /// Frees an empty page and closes the gap of its entry.
  private mutating func removePage(at place: Int) {
    if directory[size].tag == directory[place].tag { directory[size] = Entry() }
    directory[place].page?.free()
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

  private mutating func growDirectory() {
    let old = (directory, size)
    size *= 2
    directory = Self.emptyDirectory(size)
    directory[size] = old.0[old.1]
    for index in 0..<old.1 where old.0[index].tag != 0 { directory[place(of: old.0[index].tag)] = old.0[index] }
    old.0.deallocate()
  }

  private static func emptyDirectory(_ size: Int) -> UnsafeMutablePointer<Entry> {
    let directory = UnsafeMutablePointer<Entry>.allocate(capacity: size + 1)
    directory.initialize(repeating: Entry(), count: size + 1)
    return directory
  }
}
