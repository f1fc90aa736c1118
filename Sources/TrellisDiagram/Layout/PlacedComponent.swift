/// The places of one component's boxes and lines, from its own corner.
struct PlacedComponent {
  /// The way of a line from its hub to one spoke, with an end at the box on both sides.
  struct Way {
    let net: Int
    let spoke: Int
    var points: [Point]
    /// On which side of its box each end lies.
    let hubSide: Arrangement.Side
    let spokeSide: Arrangement.Side
  }

  private(set) var boxes: [Rectangle] = []
  private(set) var ways: [Way] = []
  private(set) var size = Size(width: 0, height: 0)
  private(set) var crossings = 0
  private(set) var length = 0

  private var channels: [Channel] = []
  /// The run of each net's part in each channel.
  private var runOf: [[Int: Int]] = []
  private var columnX: [Int] = []
  private var columnWidth: [Int] = []
  private var trackX: [Int] = []

  init(_ arrangement: Arrangement) {
    var arrangement = arrangement
    Self.chooseSides(&arrangement)
    makeChannels(arrangement)
    placeColumns(arrangement)
    boxes = arrangement.graph.nodes.indices.map { node in
      let column = arrangement.columnOf[node]
      return Rectangle(
        x: columnX[column], y: arrangement.tops[node], width: columnWidth[column],
        height: arrangement.graph.nodes[node].height)
    }
    for number in arrangement.sideNets.indices { addWays(of: number, arrangement) }
    moveIntoView()
    crossings = channels.reduce(0) { $0 + $1.crossings }
    for way in ways {
      for (a, b) in zip(way.points, way.points.dropFirst()) { length += abs(a.x - b.x) + abs(a.y - b.y) }
    }
  }

  // MARK: Sides

  private static func height(_ port: LayoutGraph.Port, _ arrangement: Arrangement) -> Int {
    arrangement.tops[port.node] + port.offset
  }

  /// A bracket within a column goes to the side on which fewer lines leave between its ends.
  private static func chooseSides(_ arrangement: inout Arrangement) {
    for number in arrangement.sideNets.indices where arrangement.sideNets[number].side == nil {
      let net = arrangement.graph.nets[arrangement.sideNets[number].net]
      let heights = net.ports.map { height($0, arrangement) }
      let range = (heights.min() ?? 0)...(heights.max() ?? 0)
      let column = arrangement.columnOf[net.hub.node]
      var left = 0
      var right = 0
      for element in arrangement.columns[column] {
        let top = arrangement.tops[element]
        left += arrangement.elements[element].left.count { range.contains(top + $0.ownOffset) }
        right += arrangement.elements[element].right.count { range.contains(top + $0.ownOffset) }
      }
      let isFirst = column == 0 && arrangement.columns.count > 1
      arrangement.sideNets[number].side = left < right || left == right && isFirst ? .left : .right
    }
  }

  // MARK: Channels

  /// The channel on the right of a column has the number of the next column; the first is on the left of all.
  private mutating func makeChannels(_ arrangement: Arrangement) {
    var runs: [[Channel.Run]] = Array(repeating: [], count: arrangement.columns.count + 1)
    runOf = Array(repeating: [:], count: runs.count)
    for (number, sideNet) in arrangement.sideNets.enumerated() {
      let net = arrangement.graph.nets[sideNet.net]
      let isRight = sideNet.side != .left
      let hubColumn = arrangement.columnOf[net.hub.node]
      let spokes = sideNet.spokes.map { net.spokes[$0] }
      let farthest = max(1, spokes.map { abs(arrangement.columnOf[$0.node] - hubColumn) }.max() ?? 0)
      var source = Self.height(net.hub, arrangement)
      for distance in 0..<farthest {
        let column = isRight ? hubColumn + distance : hubColumn - distance
        let next = isRight ? column + 1 : column - 1
        let channel = isRight ? column + 1 : column
        var near = [source]
        if distance == 0 {
          near += spokes.filter { arrangement.columnOf[$0.node] == column }.map { Self.height($0, arrangement) }
        }
        var far = spokes.filter { arrangement.columnOf[$0.node] == next }.map { Self.height($0, arrangement) }
        if let lane = sideNet.lanes[next] {
          source = arrangement.tops[lane]
          far.append(source)
        }
        runOf[channel][number] = runs[channel].count
        runs[channel].append(Channel.Run(sideNet: number, left: isRight ? near : far, right: isRight ? far : near))
      }
    }
    channels = runs.map { Channel($0) }
  }

  // MARK: Columns

  private mutating func placeColumns(_ arrangement: Arrangement) {
    columnWidth = arrangement.columns.map { column in
      column.compactMap { arrangement.elements[$0].node.map { arrangement.graph.nodes[$0].width } }.max() ?? 0
    }
    var leftRoom = Array(repeating: 0, count: channels.count)
    var rightRoom = leftRoom
    for sideNet in arrangement.sideNets {
      let net = arrangement.graph.nets[sideNet.net]
      let hubColumn = arrangement.columnOf[net.hub.node]
      func need(_ port: LayoutGraph.Port, _ isOnRight: Bool) {
        let column = arrangement.columnOf[port.node]
        if isOnRight {
          leftRoom[column + 1] = max(leftRoom[column + 1], port.room)
        } else {
          rightRoom[column] = max(rightRoom[column], port.room)
        }
      }
      let isRight = sideNet.side != .left
      need(net.hub, isRight)
      for spoke in sideNet.spokes.map({ net.spokes[$0] }) {
        need(spoke, arrangement.columnOf[spoke.node] == hubColumn ? isRight : !isRight)
      }
    }
    var x = 0
    for (number, channel) in channels.enumerated() {
      let isOuter = number == 0 || number == channels.count - 1
      let tracks = max(0, channel.trackCount - 1) * Spacing.tracks
      let padding = isOuter && channel.runs.isEmpty ? 0 : Spacing.tracks
      // Lines that all are straight need no place to turn.
      let isNarrow = leftRoom[number] + rightRoom[number] + tracks < 60 && !isOuter
      let extra = isNarrow ? (60 - leftRoom[number] - rightRoom[number] - tracks) / 2 : 0
      trackX.append(x + leftRoom[number] + max(padding, extra))
      x += leftRoom[number] + tracks + rightRoom[number] + 2 * max(padding, extra)
      if number < columnWidth.count {
        columnX.append(x)
        x += columnWidth[number]
      }
    }
    size = Size(width: x, height: 0)
  }

  // MARK: Ways

  private mutating func addWays(of number: Int, _ arrangement: Arrangement) {
    let sideNet = arrangement.sideNets[number]
    let net = arrangement.graph.nets[sideNet.net]
    let isRight = sideNet.side != .left
    let hubColumn = arrangement.columnOf[net.hub.node]
    func edge(_ column: Int, onRight: Bool) -> Int { columnX[column] + (onRight ? columnWidth[column] : 0) }

    for spokeNumber in sideNet.spokes {
      let spoke = net.spokes[spokeNumber]
      let spokeColumn = arrangement.columnOf[spoke.node]
      let start = Point(x: edge(hubColumn, onRight: isRight), y: Self.height(net.hub, arrangement))
      let isSame = spokeColumn == hubColumn
      let end = Point(
        x: edge(spokeColumn, onRight: isSame ? isRight : !isRight), y: Self.height(spoke, arrangement))
      var points = [start]
      var column = hubColumn
      repeat {
        let next = isRight ? column + 1 : column - 1
        let isLast = isSame || next == spokeColumn
        let height = isLast ? end.y : sideNet.lanes[next].map { arrangement.tops[$0] } ?? end.y
        turn(
          &points, to: height, in: isRight ? column + 1 : column, number, fromRight: !isRight,
          toRight: isRight != isSame)
        column = next
        if isLast { break }
      } while column >= 0 && column < arrangement.columns.count
      points.append(end)
      ways.append(
        Way(
          net: sideNet.net, spoke: spokeNumber, points: points.withoutNeedlessPoints,
          hubSide: isRight ? .right : .left, spokeSide: isSame == isRight ? .right : .left))
    }
  }

  /// Leads a line through a channel: along its track, and from there to the height at which it goes on.
  private func turn(
    _ points: inout [Point], to end: Int, in number: Int, _ sideNet: Int, fromRight: Bool, toRight: Bool
  ) {
    guard let run = runOf[number][sideNet], let start = points.last?.y else { return }
    let channel = channels[number]
    func x(_ track: Int) -> Int { trackX[number] + track * Spacing.tracks }
    func corners(_ height: Int, isRight: Bool) -> [Point] {
      guard isRight, let jog = channel.jogs[run]?[height] else {
        return [Point(x: x(channel.tracks[run]), y: height)]
      }
      return [
        Point(x: x(channel.tracks[run]), y: jog.height), Point(x: x(jog.track), y: jog.height),
        Point(x: x(jog.track), y: height),
      ]
    }
    points += corners(start, isRight: fromRight).reversed() + corners(end, isRight: toRight)
  }

  // MARK: Corner

  private mutating func moveIntoView() {
    let heights = boxes.flatMap { [$0.y, $0.y + $0.height] } + ways.flatMap { $0.points.map(\.y) }
    let top = heights.min() ?? 0
    size.height = (heights.max() ?? 0) - top
    for number in boxes.indices { boxes[number].y -= top }
    for number in ways.indices {
      for point in ways[number].points.indices { ways[number].points[point].y -= top }
    }
  }
}
