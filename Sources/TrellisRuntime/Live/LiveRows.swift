import TrellisModel
@_spi(Generated) import TrellisStorage

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
    let block = blocks.indices.endOfPrefix { number in
      guard let key = blocks[number].keys.last, let values = blocks[number].values.last else { return true }
      return isBefore(key, values)
    }
    guard block < blocks.count else { return count }
    let offset = blocks[block].keys.indices.endOfPrefix {
      isBefore(blocks[block].keys[$0], blocks[block].values[$0])
    }
    return start(of: block) + offset
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

// MARK: - Live change

/// A step of a change of live results. Its positions refer to the list after the preceding steps.
public enum LiveStep<Object: ManagedObject>: Hashable, Sendable {
  /// An object is no longer in the results; it was at this position.
  case delete(ObjectID<Object>, at: Int)
  /// An object was added to the results at this position.
  case insert(ObjectID<Object>, at: Int)
  /// An object moved from one position to another. The new position is that in the list without the object.
  case move(ObjectID<Object>, from: Int, to: Int)
  /// The object at this position has changed values or members.
  case update(ObjectID<Object>, at: Int)
}

extension LiveStep: CustomStringConvertible {
  /// The step in words: `insert Book#3 at 5`.
  public var description: String {
    switch self {
    case .delete(let id, let place): "delete \(id) at \(place)"
    case .insert(let id, let place): "insert \(id) at \(place)"
    case .move(let id, let place, let destination): "move \(id) from \(place) to \(destination)"
    case .update(let id, let place): "update \(id) at \(place)"
    }
  }
}

/// A step of a change of the sections of live results.
public enum LiveSectionStep: Hashable, Sendable {
  /// A section has no objects any more and was removed.
  case delete(at: Int)
  /// A section was added.
  case insert(at: Int)
}

extension LiveSectionStep: CustomStringConvertible {
  /// The step in words: `insert section at 2`.
  public var description: String {
    switch self {
    case .delete(let place): "delete section at \(place)"
    case .insert(let place): "insert section at \(place)"
    }
  }
}

/// The change of live results since their observer received the last one: steps that turn the old list into the new one
/// when they are applied in order.
public struct LiveChange<Object: ManagedObject>: Hashable, Sendable {
  /// The steps that change the list of objects.
  public let steps: [LiveStep<Object>]
  /// The steps that change the list of sections; empty for results without sections.
  public let sections: [LiveSectionStep]
}

extension LiveChange: CustomStringConvertible {
  /// The steps, in order.
  public var description: String {
    (sections.map(\.description) + steps.map(\.description)).joined(separator: ", ")
  }
}

extension LiveResults: CustomStringConvertible {
  /// The number of the results, and their class.
  public var description: String { "live results: \(count) \(Columns.Object.self)" }
}

extension LiveSections: CustomStringConvertible {
  /// The number of the results, and their class.
  public var description: String { "\(results), in sections" }
}

extension LiveSection: CustomStringConvertible {
  /// The value of the section, and the number of its objects.
  public var description: String { "\(value): \(count) \(Columns.Object.self)" }
}

extension Array {
  /// Applies a step of a change to a list that follows live results.
  ///
  /// ```swift
  /// for await change in live.changes {
  ///   for step in change.steps { rows.apply(step) { Row($0) } }
  /// }
  /// ```
  /// All steps must be applied, in their order. A step with a position outside of the list is ignored.
  ///
  /// - Parameter make: returns the element for an inserted or changed object.
  public mutating func apply<Object: ManagedObject>(
    _ step: LiveStep<Object>, _ make: (ObjectID<Object>) throws -> Element
  ) rethrows {
    switch step {
    case .delete(_, let place): if indices.contains(place) { remove(at: place) }
    case .insert(let id, let place): if place >= 0 && place <= count { insert(try make(id), at: place) }
    case .update(let id, let place): if indices.contains(place) { self[place] = try make(id) }
    case .move(_, let source, let target):
      guard indices.contains(source), indices.contains(target) else { return }
      insert(remove(at: source), at: target)
    }
  }
}

/// A step by key, without the object's type.
enum KeyStep: Hashable {
  case delete(Int64, at: Int)
  case insert(Int64, at: Int)
  case move(Int64, from: Int, to: Int)
  case update(Int64, at: Int)

  func typed<Object: ManagedObject>() -> LiveStep<Object> {
    switch self {
    case .delete(let key, let place): .delete(ObjectID(key), at: place)
    case .insert(let key, let place): .insert(ObjectID(key), at: place)
    case .move(let key, let source, let target): .move(ObjectID(key), from: source, to: target)
    case .update(let key, let place): .update(ObjectID(key), at: place)
    }
  }

  /// Reverts the step in a list.
  func revert(in keys: inout [Int64]) {
    switch self {
    case .delete(let key, let place): keys.insert(key, at: place)
    case .insert(_, let place): keys.remove(at: place)
    case .move(_, let source, let target): keys.insert(keys.remove(at: target), at: source)
    case .update: break
    }
  }
}

extension [KeyStep] {
  /// The steps without the updates of objects that a later step updates or deletes.
  var combined: [KeyStep] {
    var settled: Set<Int64> = []
    var kept: [KeyStep] = []
    for step in reversed() {
      switch step {
      case .update(let key, _): if !settled.insert(key).inserted { continue }
      case .delete(let key, _): settled.insert(key)
      case .insert, .move: break
      }
      kept.append(step)
    }
    return kept.reversed()
  }
}

// MARK: - Live difference

/// The steps from one list of unique keys to another.
enum LiveDifference {
  /// The maximum number of moves. If more objects moved, they are reported as deleted and inserted.
  static let mostMoves = 1000

  /// - Parameter updated: The keys of objects with changed values; nil if any may have changed.
  /// - Complexity: O(*n* log *n*) in the length of the lists, plus their length for each object that moves.
  static func steps(from old: [Int64], to new: [Int64], updated: Set<Int64>? = []) -> [KeyStep] {
    var steps: [KeyStep] = []
    if old != new { addChanges(from: old, to: new, &steps) }
    if updated?.isEmpty != true {
      let known = Set(old)
      for (place, key) in new.enumerated() where updated?.contains(key) != false && known.contains(key) {
        steps.append(.update(key, at: place))
      }
    }
    return steps
  }

  private static func addChanges(from old: [Int64], to new: [Int64], _ steps: inout [KeyStep]) {
    let target = Dictionary(zip(new, new.indices)) { first, _ in first }
    let former = Set(old)
    let places = old.compactMap { target[$0] }
    let fixed = places.indexesOfLongestRise().map { new[places[$0]] }
    let stayed = new.count { former.contains($0) }
    let moves = stayed - fixed.count <= mostMoves
    let kept = moves ? nil : Set(fixed)
    var working: [Int64] = []
    var gone: [(Int64, Int)] = []
    for (place, key) in old.enumerated() {
      if target[key] != nil && kept?.contains(key) != false { working.append(key) } else { gone.append((key, place)) }
    }
    for (key, place) in gone.reversed() { steps.append(.delete(key, at: place)) }
    if moves && fixed.count < working.count {
      let anchored = Set(fixed)
      var previous: Int64?
      for key in new where former.contains(key) {
        if !anchored.contains(key) { addMove(of: key, behind: previous, in: &working, &steps) }
        previous = key
      }
    }
    let present = Set(working)
    for (place, key) in new.enumerated() where !present.contains(key) { steps.append(.insert(key, at: place)) }
  }

  private static func addMove(
    of key: Int64, behind previous: Int64?, in working: inout [Int64], _ steps: inout [KeyStep]
  ) {
    guard let source = working.firstIndex(of: key) else { return }
    working.remove(at: source)
    let target = previous.flatMap { working.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    working.insert(key, at: target)
    if source != target { steps.append(.move(key, from: source, to: target)) }
  }
}
