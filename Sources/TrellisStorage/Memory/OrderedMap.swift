import TrellisModel

/// A sorted map in blocks: a lookup, insertion or removal costs O(log *n*) plus moves within one block.
///
/// A copy shares its blocks with the original, and a change copies only the block that it touches. So a reader's
/// snapshot costs nothing, and a concurrent write copies one block, not the whole table. For this reason it is not a
/// dictionary.
package struct OrderedMap<Key: Comparable & Sendable, Value: Sendable>: Sendable {
  private struct Block: Sendable {
    var keys: [Key]
    var values: [Value]
  }

  private static var capacity: Int { 512 }

  private var blocks: [Block] = []
  package private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  package subscript(key: Key) -> Value? {
    let (block, index, isThere) = find(key)
    return isThere ? blocks[block].values[index] : nil
  }

  /// Sets a key's value. Returns whether the key is new.
  @discardableResult mutating func set(_ key: Key, _ value: Value) -> Bool {
    let (block, index, isThere) = find(key)
    if isThere {
      blocks[block].values[index] = value
      return false
    }
    count += 1
    insert(key, value, block, index)
    return true
  }

  @discardableResult mutating func remove(_ key: Key) -> Value? {
    let (block, index, isThere) = find(key)
    guard isThere else { return nil }
    count -= 1
    blocks[block].keys.remove(at: index)
    let value = blocks[block].values.remove(at: index)
    if blocks[block].keys.isEmpty { blocks.remove(at: block) }
    return value
  }

  /// Visits the entries from a key on, in order, until `body` returns false.
  package func forEach(from start: Key, _ body: (Key, Value) throws -> Bool) rethrows {
    var (block, index, _) = find(start)
    while block < blocks.count {
      let current = blocks[block]
      while index < current.keys.count {
        guard try body(current.keys[index], current.values[index]) else { return }
        index += 1
      }
      block += 1
      index = 0
    }
  }

  /// Visits the entries before a key in reverse order, until `body` returns false.
  package func forEachBackward(before end: Key, _ body: (Key, Value) throws -> Bool) rethrows {
    var (block, index, _) = find(end)
    while true {
      while index > 0 {
        index -= 1
        guard try body(blocks[block].keys[index], blocks[block].values[index]) else { return }
      }
      guard block > 0 else { return }
      block -= 1
      index = blocks[block].keys.count
    }
  }

  /// Visits all entries in order until `body` returns false.
  package func forEach(_ body: (Key, Value) throws -> Bool) rethrows {
    for block in blocks {
      for index in block.keys.indices where try !body(block.keys[index], block.values[index]) { return }
    }
  }

  // MARK: Places

  /// The position of a key, or its insertion position.
  private func find(_ key: Key) -> (block: Int, index: Int, isThere: Bool) {
    guard let block = lastBlock(startingAtOrBefore: key) else { return (0, 0, false) }
    let index = blocks[block].keys.firstIndex(notBefore: key)
    return (block, index, index < blocks[block].keys.count && blocks[block].keys[index] == key)
  }

  /// The block that contains the key or would contain it. Nil if there are no blocks.
  private func lastBlock(startingAtOrBefore key: Key) -> Int? {
    guard !blocks.isEmpty else { return nil }
    return max(0, blocks.indices.endOfPrefix { blocks[$0].keys[0] <= key } - 1)
  }

  private mutating func insert(_ key: Key, _ value: Value, _ block: Int, _ index: Int) {
    guard block < blocks.count else { return blocks.append(Block(keys: [key], values: [value])) }
    if blocks[block].keys.count < Self.capacity {
      blocks[block].keys.insert(key, at: index)
      blocks[block].values.insert(value, at: index)
    } else if index == Self.capacity {
      // Ascending keys fill block after block, instead of leaving half-full ones behind.
      blocks.insert(Block(keys: [key], values: [value]), at: block + 1)
    } else {
      split(block)
      let half = blocks[block].keys.count
      index <= half ? insert(key, value, block, index) : insert(key, value, block + 1, index - half)
    }
  }

  private mutating func split(_ block: Int) {
    let half = Self.capacity / 2
    let upper = Block(keys: Array(blocks[block].keys[half...]), values: Array(blocks[block].values[half...]))
    blocks[block].keys.removeSubrange(half...)
    blocks[block].values.removeSubrange(half...)
    blocks.insert(upper, at: block + 1)
  }
}

// MARK: - Index entry

/// The order of an index: each column by its kind and direction, then equal rows by key in the direction of the last
/// column, like a fetch that is sorted by these columns.
final class IndexShape: Sendable {
  let columns: [Int]
  let kinds: [ValueKind]
  let isDescending: [Bool]

  init(columns: [Int], kinds: [ValueKind], isDescending: [Bool]) {
    self.columns = columns
    self.kinds = kinds
    self.isDescending = isDescending
  }

  var isKeyDescending: Bool { isDescending.last ?? false }

  func entry(_ row: MemoryRow) -> IndexEntry {
    IndexEntry(values: columns.map(row.value), key: row.key, shape: self)
  }

  /// A position before or after all entries that begin with these values.
  func bound(_ prefix: [StoredValue], isBehind: Bool) -> IndexEntry {
    IndexEntry(values: prefix, key: 0, shape: self, bound: isBehind ? 1 : -1)
  }
}

/// A row in an ordered index, or a position between rows.
package struct IndexEntry: Comparable, Sendable {
  let values: [StoredValue]
  let key: Int64
  let shape: IndexShape
  /// Negative for a position before all entries that begin with these values, positive for one after them.
  var bound: Int8 = 0

  package static func < (left: IndexEntry, right: IndexEntry) -> Bool { left.order(to: right) < 0 }
  package static func == (left: IndexEntry, right: IndexEntry) -> Bool { left.order(to: right) == 0 }

  /// Negative if this entry comes first.
  private func order(to other: IndexEntry) -> Int {
    let common = min(values.count, other.values.count)
    let order = order(to: other.values, first: common)
    if order != 0 { return order }
    if bound != 0 || other.bound != 0 { return Int(bound) - Int(other.bound) }
    if key == other.key { return 0 }
    return (key < other.key) != shape.isKeyDescending ? -1 : 1
  }

  private func order(to others: [StoredValue], first count: Int) -> Int {
    for place in 0..<count {
      let order = ValueOrder.compare(values[place], others[place], kind: shape.kinds[place])
      if order != 0 { return shape.isDescending[place] ? -order : order }
    }
    return 0
  }

  /// Whether the row's values begin with these.
  func begins(with prefix: [StoredValue]) -> Bool {
    prefix.count <= values.count && order(to: prefix, first: prefix.count) == 0
  }
}
