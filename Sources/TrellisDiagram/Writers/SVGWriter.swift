import TrellisModel

/// Writes a layout as SVG.
struct SVGWriter {
  private let content: DiagramContent
  private let layout: DiagramLayout
  private let title: String
  private let theme: DiagramTheme
  private var text = ""

  init(_ content: DiagramContent, _ layout: DiagramLayout, title: String, _ theme: DiagramTheme) {
    self.content = content
    self.layout = layout
    self.title = title
    self.theme = theme
  }

  mutating func document(_ link: (Card) -> String?) -> String {
    let legend = Legend(content)
    let margin = Spacing.margin
    let rows = legend.rows(within: max(layout.size.width, 300))
    let width = max(layout.size.width, rows.width) + 2 * margin
    let height = layout.size.height + 2 * margin + (rows.rows.isEmpty ? 0 : rows.rows.count * 22 + 12)
    text = """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
      role="img" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans KR', sans-serif" \
      font-size="\(Measure.textSize)">
      <title>\(XMLText.escaped(title))</title>
      <style>
      \(styles)</style>
      <rect class="paper" width="\(width)" height="\(height)"/>
      <g transform="translate(\(margin) \(margin))">

      """
    addLines()
    for (number, card) in content.cards.enumerated() { add(card, layout.boxes[number], link(card)) }
    for label in layout.labels { add(label) }
    add(legend, rows.rows, y: layout.size.height + margin + 6)
    text += "</g>\n</svg>\n"
    return text
  }

  private var styles: String {
    let shared = """
      .card{stroke-width:1}
      .rule{stroke-width:1}
      .line{fill:none;stroke-width:1.5}
      .halo{fill:none;stroke-width:6}
      .key{fill:none;stroke-width:1.3}
      .title{font-size:\(Measure.titleSize)px;font-weight:600}
      .detail{font-size:\(Measure.detailSize)px}
      .small{font-size:\(Measure.smallSize)px}
      .way:hover .line{stroke-width:3}

      """
    switch theme {
    case .light: return shared + Palette.light.styles
    case .dark: return shared + Palette.dark.styles
    case .automatic:
      return shared + Palette.light.styles + "@media (prefers-color-scheme: dark){\n\(Palette.dark.styles)}\n"
    }
  }

  // MARK: Lines

  private mutating func addLines() {
    var start = 0
    while start < layout.lines.count {
      var end = start
      while end < layout.lines.count, layout.lines[end].line == layout.lines[start].line { end += 1 }
      add(layout.lines[start..<end])
      start = end
    }
  }

  /// All ways of one line. Each is drawn on a broader line of the paper's color, so that it passes over those before.
  private mutating func add(_ ways: ArraySlice<DiagramLayout.PlacedLine>) {
    guard let first = ways.first else { return }
    let line = content.lines[first.line]
    let color = line.isInheritance ? "plain" : "c\(first.line % Palette.light.lines.count)"
    text += "<g class=\"way\"><title>\(XMLText.escaped(line.note))</title>\n"
    let paths = ways.map { Self.path($0.points) }
    for path in paths { text += "<path class=\"halo\" d=\"\(path)\"/>\n" }
    for path in paths { text += "<path class=\"line \(color)\" d=\"\(path)\"/>\n" }
    var hubSides: Set<Int> = []
    for way in ways {
      guard let hub = way.points.first, let spoke = way.points.last else { continue }
      if hubSides.insert(way.hubSide == .left ? 0 : 1).inserted { add(line.hub.mark, at: hub, way.hubSide, color) }
      add(line.spokes[way.spoke].mark, at: spoke, way.spokeSide, color)
    }
    text += "</g>\n"
  }

  /// A way with round corners.
  private static func path(_ points: [Point]) -> String {
    guard let first = points.first, let last = points.last else { return "" }
    var path = "M\(first.x) \(first.y)"
    for place in points.indices.dropFirst().dropLast() {
      let (before, corner, after) = (points[place - 1], points[place], points[place + 1])
      let radius = min(6, distance(before, corner) / 2, distance(corner, after) / 2)
      let entry = towards(before, from: corner, by: radius)
      let exit = towards(after, from: corner, by: radius)
      path += "L\(entry.x) \(entry.y)Q\(corner.x) \(corner.y) \(exit.x) \(exit.y)"
    }
    return path + "L\(last.x) \(last.y)"
  }

  private static func distance(_ a: Point, _ b: Point) -> Int { abs(a.x - b.x) + abs(a.y - b.y) }

  private static func towards(_ target: Point, from point: Point, by length: Int) -> Point {
    Point(x: point.x + (target.x - point.x).signum() * length, y: point.y + (target.y - point.y).signum() * length)
  }

  /// What the end of a line at a box looks like.
  private mutating func add(_ mark: DiagramContent.Mark, at point: Point, _ side: DiagramLayout.Side, _ color: String) {
    let (x, y) = (point.x, point.y)
    func at(_ distance: Int) -> Int { side == .right ? x + distance : x - distance }
    func bar(_ distance: Int) -> String { "M\(at(distance)) \(y - 6)V\(y + 6)" }
    let foot = "M\(x) \(y - 6)L\(at(13)) \(y)L\(x) \(y + 6)"
    func circle(_ distance: Int) -> String {
      "<circle class=\"line hollow \(color)\" cx=\"\(at(distance))\" cy=\"\(y)\" r=\"4\"/>\n"
    }
    func path(_ path: String) -> String { "<path class=\"line \(color)\" d=\"\(path)\"/>\n" }
    switch mark {
    case .none: break
    case .one: text += path(bar(8) + bar(13))
    case .optionalOne: text += path(bar(8)) + circle(16)
    case .many: text += path(foot) + circle(17)
    case .someMany: text += path(foot + bar(17))
    case .arrow: text += path(arrow(at(0), at(9), y))
    case .doubleArrow: text += path(arrow(at(0), at(9), y) + arrow(at(7), at(16), y))
    case .parent:
      text += "<path class=\"line hollow \(color)\" d=\"M\(x) \(y)L\(at(13)) \(y - 7)V\(y + 7)Z\"/>\n"
    }
  }

  private func arrow(_ tip: Int, _ back: Int, _ y: Int) -> String { "M\(back) \(y - 5)L\(tip) \(y)L\(back) \(y + 5)" }

  private mutating func add(_ label: DiagramLayout.Label) {
    let isRight = label.side == .right
    addText(
      label.text, x: isRight ? label.frame.x : label.frame.maxX, y: label.frame.maxY - 2, "muted small",
      anchor: isRight ? nil : "end")
  }

  // MARK: Boxes

  private mutating func add(_ card: Card, _ box: Rectangle, _ link: String?) {
    if let link { text += "<a href=\"\(XMLText.escaped(link))\">" }
    text += "<g transform=\"translate(\(box.x) \(box.y))\">"
    if let note = card.note { text += "<title>\(XMLText.escaped(note))</title>" }
    let (width, height) = (box.width, box.height)
    text += "\n<rect class=\"card\" width=\"\(width)\" height=\"\(height)\" rx=\"8\"/>\n"
    let bottom = Measure.title - 4
    if card.rows.isEmpty {
      text += "<rect class=\"head\" x=\"1\" y=\"1\" width=\"\(width - 2)\" height=\"\(height - 2)\" rx=\"7\"/>\n"
    } else {
      text +=
        "<path class=\"head\" d=\"M1 \(bottom)V8A7 7 0 0 1 8 1H\(width - 8)A7 7 0 0 1 \(width - 1) 8V\(bottom)Z\"/>\n"
      addRule(at: bottom, width)
    }
    addTitle(card, width)
    for divider in card.dividers { addRule(at: divider, width) }
    for row in card.rows { add(row, width) }
    text += link == nil ? "</g>\n" : "</g></a>\n"
  }

  private mutating func addTitle(_ card: Card, _ width: Int) {
    let y = card.rows.isEmpty ? Measure.title / 2 + 5 : Measure.title / 2 + 3
    switch card.kind {
    case .entity(_, let isAbstract):
      addText(card.title, x: width / 2, y: y, "title", anchor: "middle", isItalic: isAbstract)
    case .enumeration:
      addText(card.title, x: width / 2, y: y - 4, "title enum", anchor: "middle")
      addText("enum", x: width / 2, y: y + 8, "muted small", anchor: "middle")
    }
  }

  private mutating func addRule(at y: Int, _ width: Int) {
    text += "<path class=\"rule\" d=\"M1 \(y).5H\(width - 1)\"/>\n"
  }

  private mutating func add(_ row: Card.Row, _ width: Int) {
    let middle = row.top + row.height / 2
    let y = middle + 4
    let left = Measure.padding
    let right = width - Measure.padding
    let behindName = left + TextWidth.of(row.name, size: Measure.textSize)
    switch row.kind {
    case .attribute(let isUnique, let isTransient, let isEnum):
      addText(row.name, x: left, y: y, isTransient ? "muted" : "text", isItalic: isTransient)
      if isUnique { addKey(x: behindName + 6, y: middle) }
      addText(row.detail, x: right, y: y, isEnum ? "enum detail" : "muted detail", anchor: "end")
    case .relationship(let rule, let isTransient):
      addText(row.name, x: left, y: y, isTransient ? "muted" : "text", isItalic: isTransient)
      if let mark = rule.mark { addRuleMark(mark, x: behindName + 8, y: middle) }
      addText(row.detail, x: right, y: y, "type detail", anchor: "end")
    case .arrival: addText(row.name, x: left, y: y, "muted", isItalic: true)
    case .key:
      addKey(x: left, y: middle)
      addText(row.name, x: left + Measure.keyMark, y: y, "muted")
    case .enumCase:
      addText(row.name, x: left, y: y, "text")
      addText(row.detail, x: right, y: y, "muted detail", anchor: "end")
    }
  }

  private mutating func addRuleMark(_ mark: String, x: Int, y: Int) {
    let width = TextWidth.of(mark, size: Measure.smallSize) + 10
    let name = mark.replacing(" ", with: "-")
    text += "<rect class=\"\(name)-fill\" x=\"\(x)\" y=\"\(y - 8)\" width=\"\(width)\" height=\"15\" rx=\"7.5\"/>\n"
    addText(mark, x: x + width / 2, y: y + 3, "\(name) small", anchor: "middle")
  }

  private mutating func addKey(x: Int, y: Int) {
    text += "<path class=\"key\" d=\"M\(x + 6) \(y)h6m-2 0v3m-2 -3v2\"/>"
    text += "<circle class=\"key\" cx=\"\(x + 3)\" cy=\"\(y)\" r=\"3\"/>\n"
  }

  private mutating func addText(
    _ content: String, x: Int, y: Int, _ classes: String, anchor: String? = nil, isItalic: Bool = false
  ) {
    guard !content.isEmpty else { return }
    text += "<text class=\"\(classes)\" x=\"\(x)\" y=\"\(y)\""
    if let anchor { text += " text-anchor=\"\(anchor)\"" }
    if isItalic { text += " font-style=\"italic\"" }
    text += ">\(XMLText.escaped(content))</text>\n"
  }

  // MARK: Legend

  private mutating func add(_ legend: Legend, _ rows: [[Legend.Item]], y: Int) {
    for (number, row) in rows.enumerated() {
      var x = 0
      let middle = y + number * 22 + 11
      for item in row {
        switch item.symbol {
        case .mark(let mark):
          text += "<path class=\"line plain\" d=\"M\(x) \(middle)H\(x + Legend.symbolWidth)\"/>\n"
          // The mark is that of an end at a box on its right.
          add(mark, at: Point(x: x + Legend.symbolWidth, y: middle), .left, "plain")
        case .key: addKey(x: x + Legend.symbolWidth - 12, y: middle)
        }
        addText(item.text, x: x + Legend.symbolWidth + 8, y: middle + 4, "muted detail")
        x += item.width
      }
    }
  }
}

/// What the marks of a picture mean, for those that it has.
struct Legend {
  enum Symbol {
    case mark(DiagramContent.Mark)
    case key
  }

  struct Item {
    let symbol: Symbol
    let text: String

    var width: Int { Legend.symbolWidth + 8 + TextWidth.of(text, size: Measure.detailSize) + 24 }
  }

  static let symbolWidth = 34

  private var items: [Item] = []

  init(_ content: DiagramContent) {
    let used = Set(content.lines.flatMap { [$0.hub.mark] + $0.spokes.map(\.mark) })
    let words: [(DiagramContent.Mark, String)] = [
      (.one, "one"), (.optionalOne, "one or none"), (.many, "many"), (.someMany, "one or more"), (.arrow, "one way"),
      (.doubleArrow, "one way, many"), (.parent, "parent"),
    ]
    for (mark, text) in words where used.contains(mark) { items.append(Item(symbol: .mark(mark), text: text)) }
    let hasKey = content.cards.contains { card in
      card.rows.contains { row in
        switch row.kind {
        case .attribute(isUnique: true, _, _), .key: true
        default: false
        }
      }
    }
    if hasKey { items.append(Item(symbol: .key, text: "unique")) }
  }

  func rows(within bound: Int) -> (rows: [[Item]], width: Int) {
    var rows: [[Item]] = []
    var width = 0
    var widest = 0
    for item in items {
      if rows.isEmpty || width + item.width > bound {
        rows.append([])
        width = 0
      }
      rows[rows.count - 1].append(item)
      width += item.width
      widest = max(widest, width)
    }
    return (rows, widest)
  }
}

/// Text inside of XML.
enum XMLText {
  /// Escapes what has a meaning in XML, and replaces what no XML document may contain.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\t", "\n", "\r": result.unicodeScalars.append(scalar)
      case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
        result.unicodeScalars.append("\u{FFFD}")
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
