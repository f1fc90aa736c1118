/// The nodes of one component in columns, with lanes in the columns that a line only passes.
struct Arrangement {
  enum Side { case left, right }

  /// The part of a net on one side of its hub.
  struct SideNet {
    let net: Int
    /// The numbers of its spokes.
    let spokes: [Int]
    /// Where the lines leave the hub. Nets within one column get theirs when the places are known.
    var side: Side?
    /// The elements of the lanes by column.
    var lanes: [Int: Int] = [:]
  }

  /// What takes a place in a column: a node, or a lane if it is none.
  struct Element {
    let node: Int?
    let column: Int
    let height: Int
    /// Links to the left, to the right, and within the column.
    var left: [Link] = []
    var right: [Link] = []
    var same: [Link] = []
  }

  struct Link {
    let other: Int
    let ownOffset: Int
    let otherOffset: Int
    /// Long lines should be straight before others are.
    let weight: Int
  }

  let graph: LayoutGraph
  let columnOf: [Int]
  private(set) var elements: [Element] = []
  var sideNets: [SideNet] = []
  /// The elements of each column from top to bottom.
  var columns: [[Int]]
  /// The top of each element.
  var tops: [Int] = []

  init(_ graph: LayoutGraph, columns assigned: [Int]) {
    self.graph = graph
    columnOf = assigned
    columns = Array(repeating: [], count: (assigned.max() ?? 0) + 1)
    for (node, content) in graph.nodes.enumerated() {
      elements.append(Element(node: node, column: assigned[node], height: content.height))
    }
    for number in graph.nets.indices { addSideNets(of: number) }
    for (number, element) in elements.enumerated() { columns[element.column].append(number) }
    tops = Array(repeating: 0, count: elements.count)
  }

  private mutating func addSideNets(of number: Int) {
    let net = graph.nets[number]
    let hubColumn = columnOf[net.hub.node]
    var right = net.spokes.indices.filter { columnOf[net.spokes[$0].node] > hubColumn }
    var left = net.spokes.indices.filter { columnOf[net.spokes[$0].node] < hubColumn }
    let same = net.spokes.indices.filter { columnOf[net.spokes[$0].node] == hubColumn }
    // What stays in the column joins lines that leave anyway.
    if !right.isEmpty { right += same } else if !left.isEmpty { left += same }
    if !right.isEmpty { add(SideNet(net: number, spokes: right, side: .right)) }
    if !left.isEmpty { add(SideNet(net: number, spokes: left, side: .left)) }
    if right.isEmpty && left.isEmpty { add(SideNet(net: number, spokes: same, side: nil)) }
  }

  private mutating func add(_ sideNet: SideNet) {
    var sideNet = sideNet
    let net = graph.nets[sideNet.net]
    let hubColumn = columnOf[net.hub.node]
    let step = sideNet.side == .left ? -1 : 1
    let farthest = sideNet.spokes.map { abs(columnOf[net.spokes[$0].node] - hubColumn) }.max() ?? 0
    var source = (element: net.hub.node, offset: net.hub.offset)
    for distance in 0...max(farthest, 0) {
      let column = hubColumn + distance * step
      if distance > 0, distance < farthest {
        elements.append(Element(node: nil, column: column, height: 0))
        let lane = elements.count - 1
        sideNet.lanes[column] = lane
        link(source, (lane, 0), step, weight: distance == 1 ? 2 : 6)
      }
      for spoke in sideNet.spokes.map({ net.spokes[$0] }) where columnOf[spoke.node] == column {
        if distance == 0 {
          elements[source.element].same.append(
            Link(other: spoke.node, ownOffset: source.offset, otherOffset: spoke.offset, weight: 1))
          elements[spoke.node].same.append(
            Link(other: source.element, ownOffset: spoke.offset, otherOffset: source.offset, weight: 1))
        } else {
          link(source, (spoke.node, spoke.offset), step, weight: distance == 1 ? 2 : 3)
        }
      }
      if let lane = sideNet.lanes[column] { source = (lane, 0) }
    }
    sideNets.append(sideNet)
  }

  private mutating func link(
    _ source: (element: Int, offset: Int), _ target: (element: Int, offset: Int), _ step: Int, weight: Int
  ) {
    let forth = Link(other: target.element, ownOffset: source.offset, otherOffset: target.offset, weight: weight)
    let back = Link(other: source.element, ownOffset: target.offset, otherOffset: source.offset, weight: weight)
    if step > 0 {
      elements[source.element].right.append(forth)
      elements[target.element].left.append(back)
    } else {
      elements[source.element].left.append(forth)
      elements[target.element].right.append(back)
    }
  }

  /// The distance between the top of an element and the top of the one below it.
  func separation(_ upper: Int, _ lower: Int) -> Int {
    let gap =
      switch (elements[upper].node != nil, elements[lower].node != nil) {
      case (true, true): Spacing.boxes
      case (false, false): Spacing.lanes
      default: Spacing.boxAndLane
      }
    return elements[upper].height + gap
  }
}
