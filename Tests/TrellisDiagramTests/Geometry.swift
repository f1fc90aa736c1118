import TrellisDiagram

/// What a layout must keep, whatever the model is. Each broken rule is a sentence.
struct Geometry {
  let content: DiagramContent
  let layout: DiagramLayout

  /// A straight piece of a line.
  struct Piece {
    let line: Int
    let a: Point
    let b: Point

    var low: Point { Point(x: min(a.x, b.x), y: min(a.y, b.y)) }
    var high: Point { Point(x: max(a.x, b.x), y: max(a.y, b.y)) }
    var isHorizontal: Bool { a.y == b.y }

    /// Whether the piece comes nearer to a rectangle than a distance.
    func isNear(_ frame: Rectangle, _ distance: Int) -> Bool {
      low.x < frame.maxX + distance && high.x > frame.x - distance && low.y < frame.maxY + distance
        && high.y > frame.y - distance
    }
  }

  init(_ content: DiagramContent) {
    self.content = content
    layout = DiagramLayout(content)
  }

  func problems() -> [String] {
    ends() + boxes() + pieces() + labels() + marks() + lines() + frame() + texts()
  }

  private var allPieces: [Piece] {
    layout.lines.flatMap { line in
      zip(line.points, line.points.dropFirst()).map { Piece(line: line.line, a: $0, b: $1) }
    }
  }

  private func name(_ line: Int) -> String { content.lines[line].note }

  private func boxes() -> [String] {
    var problems: [String] = []
    for (number, box) in layout.boxes.enumerated() {
      for (other, next) in layout.boxes.enumerated().dropFirst(number + 1) {
        let near = Rectangle(x: box.x - 20, y: box.y - 20, width: box.width + 40, height: box.height + 40)
        if near.overlaps(next) {
          problems.append("\(content.cards[number].title) is too near to \(content.cards[other].title)")
        }
      }
    }
    return problems
  }

  /// Every line begins and ends at the rows of its boxes, and is made of vertical and horizontal pieces.
  private func ends() -> [String] {
    var problems: [String] = []
    let expected = content.lines.reduce(0) { $0 + $1.spokes.count }
    if layout.lines.count != expected { problems.append("\(layout.lines.count) ways instead of \(expected)") }
    for line in layout.lines {
      let ends = content.lines[line.line]
      for (point, end, side) in [
        (line.points.first, ends.hub, line.hubSide), (line.points.last, ends.spokes[line.spoke], line.spokeSide),
      ] {
        let box = layout.boxes[end.card]
        if point != Point(x: side == .left ? box.x : box.maxX, y: box.y + end.offset) {
          problems.append("\(name(line.line)) does not end at \(content.cards[end.card].title)")
        }
      }
    }
    for piece in allPieces where piece.a.x != piece.b.x && piece.a.y != piece.b.y {
      problems.append("\(name(piece.line)) is slanted")
    }
    return problems
  }

  /// No piece comes near a box, but for the first and the last at their own boxes, which they touch.
  private func pieces() -> [String] {
    var problems: [String] = []
    for line in layout.lines {
      let ends = content.lines[line.line]
      for (place, pair) in zip(line.points, line.points.dropFirst()).enumerated() {
        let piece = Piece(line: line.line, a: pair.0, b: pair.1)
        for (card, box) in layout.boxes.enumerated() {
          let isOwn =
            place == 0 && card == ends.hub.card
            || place == line.points.count - 2 && card == ends.spokes[line.spoke].card
          if piece.isNear(box, isOwn ? 0 : 8) {
            problems.append("\(name(line.line)) runs through \(content.cards[card].title)")
          }
        }
      }
    }
    return problems
  }

  private func labels() -> [String] {
    var problems: [String] = []
    let pieces = allPieces
    for (number, label) in layout.labels.enumerated() {
      for other in layout.labels.dropFirst(number + 1) where label.frame.overlaps(other.frame) {
        problems.append("\(label.text) and \(other.text) overlap")
      }
      for (card, box) in layout.boxes.enumerated() where label.frame.overlaps(box) {
        problems.append("\(label.text) is on \(content.cards[card].title)")
      }
      for piece in pieces where piece.line != label.line && piece.isNear(label.frame, 1) {
        problems.append("\(name(piece.line)) runs through \(label.text) of \(name(label.line))")
      }
    }
    return problems
  }

  /// The marks at the ends of lines.
  private func marks() -> [String] {
    var problems: [String] = []
    let pieces = allPieces
    for line in layout.lines {
      let ends = content.lines[line.line]
      for (point, end, side) in [
        (line.points.first, ends.hub, line.hubSide), (line.points.last, ends.spokes[line.spoke], line.spokeSide),
      ] {
        guard let point, end.mark != .none else { continue }
        let mark = Rectangle(x: side == .left ? point.x - 22 : point.x, y: point.y - 6, width: 22, height: 12)
        for piece in pieces where piece.line != line.line && piece.isNear(mark, 0) {
          problems.append("\(name(piece.line)) runs through a mark of \(name(line.line))")
        }
        for label in layout.labels where label.frame.overlaps(mark) {
          problems.append("\(label.text) is on a mark of \(name(line.line))")
        }
      }
    }
    return problems
  }

  /// Lines cross, and none runs in the place of another.
  private func lines() -> [String] {
    var problems: [String] = []
    let pieces = allPieces
    for (number, piece) in pieces.enumerated() {
      for other in pieces.dropFirst(number + 1) where other.line != piece.line {
        guard piece.isHorizontal == other.isHorizontal else { continue }
        let isSame =
          piece.isHorizontal
          ? piece.a.y == other.a.y && piece.low.x <= other.high.x && other.low.x <= piece.high.x
          : piece.a.x == other.a.x && piece.low.y <= other.high.y && other.low.y <= piece.high.y
        if isSame { problems.append("\(name(piece.line)) and \(name(other.line)) are one line") }
      }
    }
    return problems
  }

  private func frame() -> [String] {
    var points = layout.lines.flatMap(\.points)
    for frame in layout.boxes + layout.labels.map(\.frame) {
      points += [Point(x: frame.x, y: frame.y), Point(x: frame.maxX, y: frame.maxY)]
    }
    let (width, height) = (layout.size.width, layout.size.height)
    return points.filter { point in point.x < 0 || point.y < 0 || point.x > width || point.y > height }
      .map { "\($0) is outside of the picture" }
  }

  private func texts() -> [String] {
    var problems: [String] = []
    for card in content.cards {
      for row in card.rows {
        let needed = TextWidth.of(row.name, size: 12) + TextWidth.of(row.detail, size: 11)
        if needed + 28 > card.width { problems.append("\(row.name) does not fit into \(card.title)") }
      }
    }
    return problems
  }
}
