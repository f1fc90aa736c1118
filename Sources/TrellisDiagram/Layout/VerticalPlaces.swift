/// Gives each element its height, so that lines are short and many of them straight.
///
/// In one column with all others fixed, the best heights in the given order are an isotonic regression, which the method of
/// pooled neighbours solves exactly. The columns take turns. Mean values bring everything near its place, and medians, which
/// let the most lines be exactly straight, finish it.
struct VerticalPlaces {
  private var arrangement: Arrangement

  static func apply(to arrangement: inout Arrangement) {
    var places = VerticalPlaces(arrangement: arrangement)
    places.stack()
    let size = arrangement.elements.count
    places.run(rounds: size > 2_000 ? 6 : 24) { $0.approach($1) }
    for column in arrangement.columns.indices { places.snap(column) }
    places.run(rounds: size > 2_000 ? 4 : 16) { $0.straighten($1) }
    arrangement.tops = places.arrangement.tops
    let highest = arrangement.tops.min() ?? 0
    for element in arrangement.tops.indices { arrangement.tops[element] -= highest }
  }

  private mutating func stack() {
    for column in arrangement.columns {
      var top = 0
      var height = 0
      for (place, element) in column.enumerated() {
        if place > 0 { top += arrangement.separation(column[place - 1], element) }
        arrangement.tops[element] = top
        height = top + arrangement.elements[element].height
      }
      for element in column { arrangement.tops[element] -= height / 2 / Measure.grid * Measure.grid }
    }
  }

  private mutating func run(rounds: Int, _ step: (inout Self, Int) -> Void) {
    let columns = Array(arrangement.columns.indices)
    for round in 0..<rounds {
      let before = arrangement.tops
      for column in round % 2 == 0 ? columns : columns.reversed() { step(&self, column) }
      if arrangement.tops == before { return }
    }
  }

  /// What the links of an element want for its top.
  private func wishes(_ number: Int) -> [(top: Int, weight: Int)] {
    let element = arrangement.elements[number]
    return (element.left + element.right + element.same).compactMap { link in
      guard link.other != number else { return nil }
      // A bracket is never straight; its ends should only be near each other.
      let weight = arrangement.elements[link.other].column == element.column ? 0 : link.weight
      return weight == 0 ? nil : (arrangement.tops[link.other] + link.otherOffset - link.ownOffset, weight)
    }
  }

  /// The sums of the separations above each element. Without them, the order is all that has to be kept.
  private func depths(_ column: [Int]) -> [Int] {
    var depths: [Int] = []
    for (place, element) in column.enumerated() {
      depths.append(place == 0 ? 0 : depths[place - 1] + arrangement.separation(column[place - 1], element))
    }
    return depths
  }

  // MARK: Means

  private mutating func approach(_ number: Int) {
    let column = arrangement.columns[number]
    let depths = depths(column)
    var blocks: [(sum: Int, weight: Int, count: Int)] = []
    for (place, element) in column.enumerated() {
      var block = (sum: 0, weight: 0, count: 1)
      for wish in wishes(element) {
        block.sum += (wish.top - depths[place]) * wish.weight
        block.weight += wish.weight
      }
      if block.weight == 0 { block = (arrangement.tops[element] - depths[place], 1, 1) }
      // Blocks that would overlap become one.
      while let last = blocks.last, last.sum * block.weight >= block.sum * last.weight {
        block = (block.sum + last.sum, block.weight + last.weight, block.count + last.count)
        blocks.removeLast()
      }
      blocks.append(block)
    }
    set(column, depths, blocks.flatMap { Array(repeating: $0.sum / $0.weight, count: $0.count) })
  }

  // MARK: Medians

  private mutating func snap(_ number: Int) {
    let column = arrangement.columns[number]
    pool(column, column.map { [(Self.onGrid(arrangement.tops[$0]), 1)] })
  }

  private static func onGrid(_ value: Int) -> Int {
    Int((Double(value) / Double(Measure.grid)).rounded()) * Measure.grid
  }

  private mutating func straighten(_ number: Int) {
    let column = arrangement.columns[number]
    pool(
      column,
      column.map { element in
        let wishes = wishes(element)
        return wishes.isEmpty ? [(arrangement.tops[element], 1)] : wishes
      })
  }

  private mutating func pool(_ column: [Int], _ wishes: [[(top: Int, weight: Int)]]) {
    let depths = depths(column)
    var blocks: [MedianBlock] = []
    for place in column.indices {
      var block = MedianBlock(
        wishes[place].map { (value: $0.top - depths[place], weight: $0.weight) }.sorted { $0 < $1 })
      while let last = blocks.last, last.median > block.median {
        block.merge(last)
        blocks.removeLast()
      }
      blocks.append(block)
    }
    set(column, depths, blocks.flatMap { Array(repeating: $0.median, count: $0.count) })
  }

  private mutating func set(_ column: [Int], _ depths: [Int], _ values: [Int]) {
    for (place, element) in column.enumerated() { arrangement.tops[element] = values[place] + depths[place] }
  }
}

/// Elements that stand as close as they may, and move together.
private struct MedianBlock {
  private var wishes: [(value: Int, weight: Int)]
  private(set) var median: Int
  private(set) var count = 1

  init(_ wishes: [(value: Int, weight: Int)]) {
    self.wishes = wishes
    median = Self.median(of: wishes)
  }

  mutating func merge(_ other: MedianBlock) {
    var merged: [(value: Int, weight: Int)] = []
    merged.reserveCapacity(wishes.count + other.wishes.count)
    var (left, right) = (other.wishes[...], wishes[...])
    while let a = left.first, let b = right.first {
      if a <= b { merged.append(left.removeFirst()) } else { merged.append(right.removeFirst()) }
    }
    wishes = merged + left + right
    median = Self.median(of: wishes)
    count += other.count
  }

  private static func median(of wishes: [(value: Int, weight: Int)]) -> Int {
    let half = wishes.reduce(0) { $0 + $1.weight }
    var sum = 0
    for wish in wishes {
      sum += 2 * wish.weight
      if sum >= half { return wish.value }
    }
    return 0
  }
}
