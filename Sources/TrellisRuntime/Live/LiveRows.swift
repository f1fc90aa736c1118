import TrellisSchema

/// Sorted keys with their sort values, in blocks: a change copies and moves one block, independent of the number of
/// rows. Copies share the blocks.
struct LiveRows {
  /// A class, so that a copy of the rows retains one reference for each block.
  private final class Block {
    var keys: [Int64]
    var values: [[StoredValue]]

    init(keys: [Int64] = [], values: [[StoredValue]] = []) {
      self.keys = keys
      self.values = values
    }
  }

  private var blocks: [Block] = []
  /// The number of rows in each block, to find a position without accessing the blocks.
  private var counts: [Int] = []
  private(set) var count = 0

  /// The maximum size of a block. A larger block is split in two.
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

  /// The first sort value of every row.
  ///
  /// - Complexity: linear.
  var firstValues: [StoredValue] { blocks.flatMap { block in block.values.map { $0.first ?? .null } } }

  var last: (key: Int64, values: [StoredValue])? {
    guard let block = blocks.last, let key = block.keys.last, let values = block.values.last else { return nil }
    return (key, values)
  }

  /// - Complexity: linear in the number of blocks, as for every access by position.
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

  /// The first position with a row that is not sorted before a certain row.
  ///
  /// - Parameter isBefore: whether a row is sorted before that row.
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

  private func start(of block: Int) -> Int {
    var start = 0
    for number in 0..<block { start += counts[number] }
    return start
  }

  /// The block that contains a position, and the offset in it. The position after the last row belongs to the last
  /// block.
  private func locate(_ place: Int) -> (block: Int, offset: Int) {
    var offset = place
    for (number, count) in counts.enumerated() {
      if offset < count || number == counts.count - 1 { return (number, offset) }
      offset -= count
    }
    return (0, 0)
  }

  // MARK: Changing

  mutating func append(_ key: Int64, _ values: [StoredValue]) {
    if counts.last.map({ $0 >= Self.most / 2 }) ?? true {
      blocks.append(Block())
      counts.append(0)
    }
    change(blocks.count - 1, by: 1) { block in
      block.keys.append(key)
      block.values.append(values)
    }
  }

  mutating func insert(_ key: Int64, _ values: [StoredValue], at place: Int) {
    if blocks.isEmpty { return append(key, values) }
    let (number, offset) = locate(place)
    change(number, by: 1) { block in
      block.keys.insert(key, at: offset)
      block.values.insert(values, at: offset)
    }
    if counts[number] > Self.most { split(number) }
  }

  @discardableResult mutating func remove(at place: Int) -> Int64 {
    let (number, offset) = locate(place)
    let key = change(number, by: -1) { block in
      block.values.remove(at: offset)
      return block.keys.remove(at: offset)
    }
    if counts[number] == 0 {
      blocks.remove(at: number)
      counts.remove(at: number)
    }
    return key
  }

  mutating func setValues(_ values: [StoredValue], at place: Int) {
    let (number, offset) = locate(place)
    change(number, by: 0) { $0.values[offset] = values }
  }

  /// Changes a block, after copying it if it is shared.
  private mutating func change<Result>(_ number: Int, by difference: Int, _ body: (Block) -> Result) -> Result {
    if !isKnownUniquelyReferenced(&blocks[number]) {
      blocks[number] = Block(keys: blocks[number].keys, values: blocks[number].values)
    }
    counts[number] += difference
    count += difference
    return body(blocks[number])
  }

  private mutating func split(_ number: Int) {
    let block = blocks[number]
    let middle = block.keys.count / 2
    blocks.replaceSubrange(
      number...number,
      with: [
        Block(keys: Array(block.keys[..<middle]), values: Array(block.values[..<middle])),
        Block(keys: Array(block.keys[middle...]), values: Array(block.values[middle...])),
      ])
    counts.replaceSubrange(number...number, with: [middle, block.keys.count - middle])
  }
}
