/// Finds the best of several layouts of a component: from different starts, and then with single nodes in other columns.
struct LayoutSearch {
  private struct Candidate {
    let columns: [Int]
    /// The node from which the first order is made.
    let start: Int
    let placed: PlacedComponent
    let score: Double
  }

  private let graph: LayoutGraph
  private var best: Candidate

  static func best(_ graph: LayoutGraph) -> PlacedComponent {
    var search = LayoutSearch(graph)
    search.tryShapes()
    search.moveNodes()
    return search.best.placed
  }

  private init(_ graph: LayoutGraph) {
    self.graph = graph
    let columns = graph.nodes.count > 1 ? ColumnAssignment(graph, from: 0, bound: Self.height(graph, 1.5)).columns : [0]
    best = Self.candidate(graph, columns, from: 0)
  }

  private static func candidate(_ graph: LayoutGraph, _ columns: [Int], from start: Int) -> Candidate {
    var arrangement = Arrangement(graph, columns: columns)
    ColumnOrder.apply(to: &arrangement, from: start)
    VerticalPlaces.apply(to: &arrangement)
    let placed = PlacedComponent(arrangement)
    return Candidate(columns: columns, start: start, placed: placed, score: score(placed) + turned(graph, columns))
  }

  /// What is on the wrong side of its hub: owners and parents are on the left, as people read.
  private static func turned(_ graph: LayoutGraph, _ columns: [Int]) -> Double {
    var penalty = 0
    for net in graph.nets {
      for spoke in net.spokes where spoke.node != net.hub.node {
        let distance = columns[spoke.node] - columns[net.hub.node]
        if distance <= 0 { penalty += distance < 0 ? 2 * net.leftPenalty : net.leftPenalty }
      }
    }
    return Double(penalty)
  }

  /// Crossings, bends, long lines, a large picture and an odd shape are bad.
  private static func score(_ placed: PlacedComponent) -> Double {
    let width = Double(placed.size.width)
    let height = Double(placed.size.height)
    // A picture that fits on a page, which is about 950 pixels wide, may have any shape.
    let shape = max(width / max(height, 400) / 2.2, height / max(width, 700) / 0.9, 1)
    let bends = placed.ways.reduce(0) { $0 + $1.points.count - 2 }
    return Double(placed.crossings) * 70 + Double(placed.length) * 0.25 + Double(bends) * 15
      + (width * height).squareRoot() * shape * 0.9 + max(0, width - 950) * 0.6
  }

  /// - Returns: whether the columns are better than the best before.
  private mutating func consider(_ columns: [Int], from start: Int) -> Bool {
    let candidate = Self.candidate(graph, columns, from: start)
    guard candidate.score < best.score else { return false }
    best = candidate
    return true
  }

  // MARK: Starts

  /// Levels from different nodes, and columns of different heights. Fewer for large graphs, which take longer.
  private mutating func tryShapes() {
    let count = graph.nodes.count
    guard count > 1 else { return }
    for shape in count > 200 ? [1.5] : [0.9, 1.5, 2.3] {
      let bound = Self.height(graph, shape)
      for node in starts(count > 200 ? 1 : 12) {
        _ = consider(ColumnAssignment(graph, from: node, bound: bound).columns, from: node)
      }
    }
  }

  /// The height of a picture with a shape: its width divided by its height.
  private static func height(_ graph: LayoutGraph, _ shape: Double) -> Int {
    let area = graph.nodes.reduce(0.0) { $0 + Double($1.width + 140) * Double($1.height + Spacing.boxes) }
    return max(graph.nodes.map(\.height).max() ?? 0, Int((area / shape).squareRoot()))
  }

  /// The busiest nodes, and those at the rim.
  private func starts(_ limit: Int) -> [Int] {
    var degrees = Array(repeating: 0, count: graph.nodes.count)
    for net in graph.nets {
      for spoke in net.spokes {
        degrees[net.hub.node] += 1
        degrees[spoke.node] += 1
      }
    }
    let busiest = graph.nodes.indices.sorted { (-degrees[$0], $0) < (-degrees[$1], $1) }
    if busiest.count <= limit { return busiest }
    return Array(busiest.prefix((limit + 1) / 2) + busiest.suffix(limit / 2))
  }

  // MARK: Moves

  /// Tries other columns for each node, as long as that helps. Small pictures are looked at more closely.
  private mutating func moveNodes() {
    let count = graph.nodes.count
    guard count > 1, count <= 40 else { return }
    var rest = min(400, 4_000 / count)
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      for node in graph.nodes.indices {
        let columns = best.columns
        for column in -1...((columns.max() ?? 0) + 1) where column != columns[node] {
          guard rest > 0 else { return }
          rest -= 1
          var changed = columns
          changed[node] = column
          if consider(changed.withoutGaps, from: best.start) { hasChanged = true }
        }
      }
    }
  }
}

extension [Int] {
  /// The same order of numbers, counted from 0.
  var withoutGaps: [Int] {
    let number = Dictionary(uniqueKeysWithValues: Set(self).sorted().enumerated().map { ($1, $0) })
    return map { number[$0] ?? 0 }
  }
}
