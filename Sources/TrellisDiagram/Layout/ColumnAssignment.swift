/// Assigns nodes to columns: neighbours to neighbouring ones, and about the same height to each.
///
/// Levels by distance from one node are the start, so that no edge is longer than one column. Then single nodes move as
/// long as the costs fall. Edges inside a column are allowed; they are drawn as a bracket.
struct ColumnAssignment {
  private struct Edge {
    let other: Int
    /// Whether the other should be on the right: 1, on the left: -1, or 0.
    let direction: Int
    let penalty: Int
  }

  private let graph: LayoutGraph
  private var edges: [[Edge]]
  private var heights: [Int: Int] = [:]
  private let bound: Int
  private let typicalHeight: Double
  /// The number of columns at which levels turn back.
  private let most: Int
  private(set) var columns: [Int]

  /// - Parameters:
  ///   - start: the node whose distances are the first levels.
  ///   - bound: the height above which a column is too high.
  init(_ graph: LayoutGraph, from start: Int, bound: Int) {
    self.graph = graph
    self.bound = max(bound, 1)
    // Columns of this height would have place for all nodes twice.
    let total = graph.nodes.reduce(0) { $0 + $1.height + Spacing.boxes }
    most = max(6, 2 * total / self.bound)
    typicalHeight = Double(max(total, 1)) / Double(max(graph.nodes.count, 1))
    edges = Array(repeating: [], count: graph.nodes.count)
    columns = Array(repeating: 0, count: graph.nodes.count)
    for net in graph.nets {
      for spoke in net.spokes where spoke.node != net.hub.node {
        edges[net.hub.node].append(Edge(other: spoke.node, direction: 1, penalty: net.leftPenalty))
        edges[spoke.node].append(Edge(other: net.hub.node, direction: -1, penalty: net.leftPenalty))
      }
    }
    setLevels(from: start)
    improve()
    columns = columns.withoutGaps
  }

  private mutating func setLevels(from start: Int) {
    var level = Array(repeating: -1, count: graph.nodes.count)
    level[start] = 0
    var queue = [start]
    var next = 0
    while next < queue.count {
      let node = queue[next]
      next += 1
      for edge in edges[node] where level[edge.other] < 0 {
        level[edge.other] = level[node] + 1
        queue.append(edge.other)
      }
    }
    columns = level.map { folded(max($0, 0)) }
    for (node, column) in columns.enumerated() { heights[column, default: 0] += height(node) }
  }

  /// The column of a level. A long chain goes to and fro, so that neighbouring levels stay in neighbouring columns.
  private func folded(_ level: Int) -> Int {
    let turn = level % (2 * most)
    return turn < most ? turn : 2 * most - 1 - turn
  }

  private func height(_ node: Int) -> Int { graph.nodes[node].height + Spacing.boxes }

  /// The costs are in percent of an edge between neighbouring columns.
  private func cost(of edge: Edge, at column: Int) -> Int {
    let distance = columns[edge.other] - column
    let length =
      switch abs(distance) {
      case 0: 150
      case 1: 100
      case let far: 200 * far - 80
      }
    return length + (distance * edge.direction < 0 ? edge.penalty : distance == 0 ? edge.penalty / 3 : 0)
  }

  /// The costs of a column that is too high. Each further node costs more, up to that of an edge over several columns, so
  /// that a hub's many neighbours spread over columns.
  private func overflow(_ height: Int) -> Int {
    let surplus = Double(max(0, height - bound)) / typicalHeight
    return Int(60 * surplus + 120 * surplus * surplus * typicalHeight / Double(bound))
  }

  private mutating func improve() {
    for _ in 0..<30 {
      var hasChanged = false
      for node in graph.nodes.indices where move(node) { hasChanged = true }
      if !hasChanged { return }
    }
  }

  private mutating func move(_ node: Int) -> Bool {
    let here = columns[node]
    var places = Set([here - 1, here + 1])
    for edge in edges[node] { places.formUnion((columns[edge.other] - 1)...(columns[edge.other] + 1)) }
    places.remove(here)
    let size = height(node)
    func cost(_ column: Int) -> Int {
      let without = (heights[column] ?? 0) - (column == here ? size : 0)
      return edges[node].reduce(0) { $0 + self.cost(of: $1, at: column) } + overflow(without + size) - overflow(without)
    }
    let present = cost(here)
    guard let best = places.sorted().map({ (cost($0), $0) }).min(by: { $0 < $1 }), best.0 < present else {
      return false
    }
    heights[here, default: 0] -= size
    heights[best.1, default: 0] += size
    columns[node] = best.1
    return true
  }
}

/// The distances of what lies in one column, and of vertical lines. Multiples of the grid.
enum Spacing {
  static let boxes = 40
  static let lanes = 10
  static let boxAndLane = 20
  /// Between the vertical pieces of lines.
  static let tracks = 10
  /// Between components.
  static let components = 50
  static let margin = 24
}
