public import Observation
import TrellisModel
public import TrellisStorage

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

// MARK: - Live sections

/// Live results in sections, each of which groups the objects with the same value of an attribute.
///
/// ```swift
/// let live = try context.live(EmotionDiary.all.sorted { $0.createdAt }, sectionedBy: { $0.emotion })
/// for section in live.sections { print(section.value, section.map(\.content)) }
/// ```
public final class LiveSections<Columns: EntityColumns, Value: AttributeValue>: Observable {
  /// All results, one section after the other.
  public let results: LiveResults<Columns>

  init(_ results: LiveResults<Columns>) { self.results = results }

  /// The sections, in the order of their values.
  ///
  /// - Complexity: linear in the number of results.
  public var sections: [LiveSection<Columns, Value>] {
    let count = results.count
    let values = results.core.sectionValues
    guard values.count == count else { return [] }
    let row = ProjectedRow()
    return SectionRuns.ranges(values).map { range in
      row.values = [values[range.lowerBound]]
      return LiveSection(value: Value.read(row, 0), positions: range, results: results)
    }
  }

  /// The changes from now on, with positions in all results; ``LiveChange/sections`` contains those of the sections.
  public var changes: LiveChanges<Columns> { results.changes }
}

@available(*, unavailable, message: "live results belong to their context; pass ids or snapshots instead")
extension LiveSections: @unchecked Sendable {}

/// The results with the same value of the section attribute.
public struct LiveSection<Columns: EntityColumns, Value: AttributeValue>: RandomAccessCollection {
  /// The common value.
  public let value: Value
  /// The positions of the section among all results.
  public let positions: Range<Int>
  let results: LiveResults<Columns>

  /// The position of the section's first object among all results.
  public var startIndex: Int { positions.lowerBound }
  /// The position after the section's last object among all results.
  public var endIndex: Int { positions.upperBound }
  /// The object at a position among all results.
  public subscript(position: Int) -> Columns.Object { results[position] }
}

extension ManagedObjectContext {
  /// The results of a request in sections, kept up to date with saves.
  ///
  /// - Parameter section: the attribute with the values of the sections. It precedes the request's own sort keys,
  ///   ascending. For the reverse order of sections, make it the request's first sort key, descending.
  /// - Throws: the same errors as ``live(_:)``.
  public func live<Columns: EntityColumns, Value: SortableAttributeValue>(
    _ request: FetchRequest<Columns>, sectionedBy section: (Columns) -> AttributePath<Value>
  ) throws -> LiveSections<Columns, Value> {
    try prepareFetch()
    let key = section(Columns(PropertyPath(variable: 0))).ascending.key
    var storeRequest = try request.storeRequest(in: self)
    if storeRequest.sort.first?.path != key.path { storeRequest.sort.insert(key, at: 0) }
    return LiveSections(try LiveResults(storeRequest, isSectioned: true, self))
  }
}

// MARK: - Section runs

/// Runs of adjacent results with the same section value.
enum SectionRuns {
  /// The positions of each section.
  static func ranges(_ values: [StoredValue]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var start = 0
    for place in values.indices where place + 1 == values.count || values[place + 1] != values[place] {
      found.append(start..<(place + 1))
      start = place + 1
    }
    return found
  }

  /// The steps between two lists of sections. Sections are sorted by their values, so none of them moves.
  static func steps(from old: [StoredValue], to new: [StoredValue]) -> [LiveSectionStep] {
    let before = ranges(old).map { old[$0.lowerBound] }
    let after = ranges(new).map { new[$0.lowerBound] }
    let kept = Set(before).intersection(after)
    var steps: [LiveSectionStep] = []
    for (place, value) in before.enumerated().reversed() where !kept.contains(value) {
      steps.append(.delete(at: place))
    }
    for (place, value) in after.enumerated() where !kept.contains(value) { steps.append(.insert(at: place)) }
    return steps
  }
}
