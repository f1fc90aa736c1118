import TrellisModel

/// Writes a model as a graph of Graphviz: a table for each entity, and an edge for each relationship from row to row.
struct DotText {
  private let content: DiagramContent
  private let title: String
  private var text = ""

  static func text(_ content: DiagramContent, title: String) -> String {
    var writer = DotText(content: content, title: title)
    writer.write()
    return writer.text
  }

  private init(content: DiagramContent, title: String) {
    self.content = content
    self.title = title
  }

  private mutating func write() {
    text = """
      digraph \(Self.quoted(title)) {
        graph [rankdir=LR, nodesep=0.4, ranksep=1.2]
        node [shape=plain, fontname="Helvetica", fontsize=11]
        edge [fontname="Helvetica", fontsize=9, color="#5c6b7c", dir=both]

      """
    for (number, card) in content.cards.enumerated() { add(card, number) }
    for line in content.lines { add(line) }
    text += "}\n"
  }

  // MARK: Nodes

  private mutating func add(_ card: Card, _ number: Int) {
    text += "  n\(number) [label=<<table border=\"0\" cellborder=\"1\" cellspacing=\"0\" cellpadding=\"4\">\n"
    let name = XMLText.escaped(card.title)
    let title =
      switch card.kind {
      case .entity(_, isAbstract: true): "<i>\(name)</i>"
      case .entity: "<b>\(name)</b>"
      case .enumeration: "enum <b>\(name)</b>"
      }
    text += "    <tr><td port=\"title\" bgcolor=\"#eef3f9\" colspan=\"2\">\(title)</td></tr>\n"
    for (place, row) in card.rows.enumerated() { add(row, place) }
    text += "  </table>>]\n"
  }

  private mutating func add(_ row: Card.Row, _ place: Int) {
    var name = XMLText.escaped(row.name)
    switch row.kind {
    case .attribute(let isUnique, let isTransient, _):
      if isTransient { name = "<i>\(name)</i>" }
      if isUnique { name += " (unique)" }
    case .relationship(let rule, let isTransient):
      if isTransient { name = "<i>\(name)</i>" }
      if let mark = rule.mark { name += " (\(mark))" }
    case .arrival: name = "<i>\(name)</i>"
    case .key: name = "unique: \(name)"
    case .enumCase: break
    }
    if row.detail.isEmpty {
      text += "    <tr><td port=\"r\(place)\" colspan=\"2\" align=\"left\">\(name)</td></tr>\n"
    } else {
      text += "    <tr><td port=\"r\(place)\" align=\"left\">\(name)</td>"
      text += "<td port=\"t\(place)\" align=\"right\">\(XMLText.escaped(row.detail))</td></tr>\n"
    }
  }

  // MARK: Edges

  private mutating func add(_ line: DiagramContent.Line) {
    for spoke in line.spokes {
      var attributes = [
        "arrowtail=\(Self.arrow(line.hub.mark))", "arrowhead=\(Self.arrow(spoke.mark))",
      ]
      if !line.hub.label.isEmpty { attributes.append("taillabel=\(Self.quoted(line.hub.label))") }
      if !spoke.label.isEmpty { attributes.append("headlabel=\(Self.quoted(spoke.label))") }
      // The graph grows to the right, and a line to the own table is a bracket there.
      let head = port(spoke, atRight: spoke.card == line.hub.card)
      text += "  \(port(line.hub, atRight: true)) -> \(head) [\(attributes.joined(separator: ", "))]\n"
    }
  }

  private func port(_ end: DiagramContent.End, atRight: Bool) -> String {
    let rows = content.cards[end.card].rows
    let compass = atRight ? "e" : "w"
    guard let row = rows.firstIndex(where: { $0.top <= end.offset && end.offset < $0.top + $0.height }) else {
      return "n\(end.card):title:\(compass)"
    }
    return "n\(end.card):\(atRight && !rows[row].detail.isEmpty ? "t" : "r")\(row):\(compass)"
  }

  private static func arrow(_ mark: DiagramContent.Mark) -> String {
    switch mark {
    case .none: "none"
    case .one: "teetee"
    case .optionalOne: "teeodot"
    case .many: "crowodot"
    case .someMany: "crowtee"
    case .arrow: "vee"
    case .doubleArrow: "veevee"
    case .parent: "onormal"
    }
  }

  private static func quoted(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar -> String in
      switch scalar {
      case "\"": "\\\""
      case "\\": "\\\\"
      case _ where scalar.value < 0x20: " "
      default: String(scalar)
      }
    }
    return "\"\(escaped.joined())\""
  }
}
