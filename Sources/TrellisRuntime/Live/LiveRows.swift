import TrellisSchema

/// Keys in an order, with what each is sorted by, in blocks: a change copies and moves one block, however many rows there are.
/// Copies share the blocks.
struct LiveRows {
  private struct Block {
    var keys: [Int64] = []
    var values: [[StoredValue]] = []
  }

  private var blocks: [Block] = []
  private(set) var count = 0

  /// A full block is made two.
  private static let most = 512

  // MARK: Reading

  /// All keys.
  ///
  /// - Complexity: linear.
  var keys: [Int64] {
    var all: [Int64] = []
    all.reserveCapacity(count)
    for block in blocks { all += block.keys }
    return all
  }

  /// What every row is sorted by first.
  ///
  /// - Complexity: linear.
  var firstValues: [StoredValue] { blocks.flatMap { block in block.values.map { $0.first ?? .null } } }

  var last: (key: Int64, values: [StoredValue])? {
    guard let block = blocks.last, let key = block.keys.last, let values = block.values.last else { return nil }
    return (key, values)
  }

  /// - Complexity: linear in the number of blocks, as with everything that goes by a place.
  func key(at place: Int) -> Int64 {
    let (block, offset) = locate(place)
    return blocks[block].keys[offset]
  }

  func keys(_ places: Range<Int>) -> [Int64] {
    guard !places.isEmpty else { return [] }
    var (block, offset) = locate(places.lowerBound)
    var found: [Int64] = []
    while found.count < places.count && block < blocks.count {
      found += blocks[block].keys[offset...].prefix(places.count - found.count)
      (block, offset) = (block + 1, 0)
    }
    return found
  }

  /// The first place at which a row does not come before some other one.
  ///
  /// - Parameter isBefore: whether a row comes before it.
  /// - Complexity: logarithmic, and linear in the number of blocks.
  func place(where isBefore: (_ key: Int64, _ values: [StoredValue]) -> Bool) -> Int {
    let block = firstIndex(in: blocks.count) { number in
      guard let key = blocks[number].keys.last, let values = blocks[number].values.last else { return true }
      return isBefore(key, values)
    }
    guard block < blocks.count else { return count }
    let offset = firstIndex(in: blocks[block].keys.count) {
      isBefore(blocks[block].keys[$0], blocks[block].values[$0])
    }
    return start(of: block) + offset
  }

  private func firstIndex(in count: Int, where isBefore: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isBefore(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func start(of block: Int) -> Int { blocks[..<block].reduce(0) { $0 + $1.keys.count } }

  /// The block of a place, and where it is there. The place behind the last row belongs to the last block.
  private func locate(_ place: Int) -> (block: Int, offset: Int) {
    var offset = place
    for (number, block) in blocks.enumerated() {
      if offset < block.keys.count || number == blocks.count - 1 { return (number, offset) }
      offset -= block.keys.count
    }
    return (0, 0)
  }

  // MARK: Changing

  mutating func append(_ key: Int64, _ values: [StoredValue]) {
    if blocks.last.map({ $0.keys.count >= Self.most / 2 }) ?? true { blocks.append(Block()) }
    blocks[blocks.count - 1].keys.append(key)
    blocks[blocks.count - 1].values.append(values)
    count += 1
  }

  mutating func insert(_ key: Int64, _ values: [StoredValue], at place: Int) {
    if blocks.isEmpty { return append(key, values) }
    let (block, offset) = locate(place)
    blocks[block].keys.insert(key, at: offset)
    blocks[block].values.insert(values, at: offset)
    count += 1
    if blocks[block].keys.count > Self.most { split(block) }
  }

  private mutating func split(_ number: Int) {
    let middle = blocks[number].keys.count / 2
    let half = Block(keys: Array(blocks[number].keys[middle...]), values: Array(blocks[number].values[middle...]))
    blocks[number].keys.removeSubrange(middle...)
    blocks[number].values.removeSubrange(middle...)
    blocks.insert(half, at: number + 1)
  }

  @discardableResult mutating func remove(at place: Int) -> Int64 {
    let (block, offset) = locate(place)
    let key = blocks[block].keys.remove(at: offset)
    blocks[block].values.remove(at: offset)
    count -= 1
    if blocks[block].keys.isEmpty { blocks.remove(at: block) }
    return key
  }

  mutating func setValues(_ values: [StoredValue], at place: Int) {
    let (block, offset) = locate(place)
    blocks[block].values[offset] = values
  }
}
