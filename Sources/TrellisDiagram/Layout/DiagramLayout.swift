/// A picture's boxes, lines and labels with their places.
///
/// Each connected component is laid out alone, several times from different starts, and the best result is taken. Components
/// are packed in rows. The result depends on the content only.
package struct DiagramLayout: Sendable {
  package enum Side: Sendable { case left, right }

  /// The way of a line from its hub to one of its spokes.
  package struct PlacedLine: Sendable {
    /// The number of the line in the content.
    package let line: Int
    package let spoke: Int
    package let points: [Point]
    /// The sides of the boxes at which both ends are.
    package let hubSide: Side
    package let spokeSide: Side
  }

  /// The text beside an end of a line.
  package struct Label: Sendable {
    package let line: Int
    package let text: String
    package let frame: Rectangle
    /// On which side of the box it is.
    package let side: Side
  }

  /// By the number of the card.
  package private(set) var boxes: [Rectangle] = []
  package private(set) var lines: [PlacedLine] = []
  package private(set) var labels: [Label] = []
  package private(set) var size = Size(width: 0, height: 0)

  package init(_ content: DiagramContent) {
    let graph = LayoutGraph(content)
    let members = graph.components()
    var netsOf: [[Int]] = Array(repeating: [], count: members.count)
    var componentOf = Array(repeating: 0, count: graph.nodes.count)
    for (number, nodes) in members.enumerated() { for node in nodes { componentOf[node] = number } }
    for (number, net) in graph.nets.enumerated() { netsOf[componentOf[net.hub.node]].append(number) }

    let components = members.indices.map { number in
      LayoutSearch.best(graph.part(members[number], nets: netsOf[number]))
    }
    let packing = Packing(components)
    size = packing.size
    boxes = Array(repeating: Rectangle(x: 0, y: 0, width: 0, height: 0), count: graph.nodes.count)
    for (number, component) in components.enumerated() {
      let corner = packing.corners[number]
      for (box, card) in zip(component.boxes, members[number]) { boxes[card] = box.moved(by: corner) }
      for way in component.ways {
        lines.append(
          PlacedLine(
            line: netsOf[number][way.net], spoke: way.spoke,
            points: way.points.map { Point(x: $0.x + corner.x, y: $0.y + corner.y) }, hubSide: Side(way.hubSide),
            spokeSide: Side(way.spokeSide)))
      }
    }
    lines.sort { ($0.line, $0.spoke) < ($1.line, $1.spoke) }
    for line in lines { addLabels(of: line, content) }
  }

  private mutating func addLabels(of line: PlacedLine, _ content: DiagramContent) {
    guard let first = line.points.first, let last = line.points.last else { return }
    let ends = content.lines[line.line]
    // All ways of a hub begin at the same label.
    if line.spoke == 0 { addLabel(ends.hub.label, at: first, line.hubSide, line.line) }
    addLabel(ends.spokes[line.spoke].label, at: last, line.spokeSide, line.line)
  }

  private mutating func addLabel(_ text: String, at point: Point, _ side: Side, _ line: Int) {
    guard !text.isEmpty else { return }
    let width = TextWidth.of(text, size: Measure.smallSize)
    let frame = Rectangle(
      x: side == .right ? point.x + Measure.markRoom : point.x - Measure.markRoom - width,
      y: point.y - Measure.labelTop, width: width, height: Measure.labelTop - 3)
    labels.append(Label(line: line, text: text, frame: frame, side: side))
  }
}

extension Measure {
  /// The length beside a box that is kept for the mark of an end.
  static let markRoom = 24
  /// The distance from a line up to the top of its label.
  static let labelTop = 15
}

extension LayoutGraph {
  init(_ content: DiagramContent) {
    nodes = content.cards.map { Node(width: $0.width, height: $0.height) }
    func port(_ end: DiagramContent.End) -> Port {
      let label = end.label.isEmpty ? 0 : TextWidth.of(end.label, size: Measure.smallSize) + 4
      return Port(node: end.card, offset: end.offset, room: end.mark == .none ? 14 : Measure.markRoom + label)
    }
    nets = content.lines.map {
      Net(hub: port($0.hub), spokes: $0.spokes.map(port), leftPenalty: $0.isInheritance ? 90 : 40)
    }
  }
}

extension DiagramLayout.Side {
  init(_ side: Arrangement.Side) { self = side == .left ? .left : .right }
}

extension Rectangle {
  func moved(by offset: Point) -> Rectangle {
    Rectangle(x: x + offset.x, y: y + offset.y, width: width, height: height)
  }
}
