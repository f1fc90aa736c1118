/// Which colors a picture has.
package enum DiagramTheme: Sendable {
  /// Light or dark, as the reader's system is.
  case automatic
  case light, dark
}

/// The colors of a theme.
struct Palette {
  let paper, card, border, header, title, text, muted, type, line, enumeration, key: String
  let cascade, cascadeFill, deny, denyFill, plain, plainFill: String
  /// Lines take turns, so that they can be told apart where they cross.
  let lines: [String]

  static let light = Palette(
    paper: "#ffffff", card: "#ffffff", border: "#c8d1dc", header: "#eef3f9", title: "#1b2733", text: "#2b3643",
    muted: "#76828f", type: "#2563b0", line: "#5c6b7c", enumeration: "#7a45b8", key: "#b07d12", cascade: "#b42335",
    cascadeFill: "#fdebed", deny: "#8a5a00", denyFill: "#fdf3d7", plain: "#5b6673", plainFill: "#eef1f4",
    lines: ["#4a78b5", "#3f8f7c", "#9467b0", "#b8763a", "#5d8a3c", "#b55677", "#5f6f86", "#2f8aa8"])

  static let dark = Palette(
    paper: "#0f151c", card: "#18212b", border: "#36434f", header: "#222e3a", title: "#eef3f8", text: "#d3dce5",
    muted: "#8a97a5", type: "#7db4f5", line: "#8796a6", enumeration: "#c9a3f5", key: "#dcae4a", cascade: "#ff8f9b",
    cascadeFill: "#44212a", deny: "#e8bd5c", denyFill: "#40341a", plain: "#a5b1bd", plainFill: "#2a3641",
    lines: ["#7ba7e0", "#62bfa8", "#c097dd", "#dea36b", "#90bd6d", "#df89a6", "#94a5bd", "#5fbad8"])

  /// The rules of a style sheet.
  var styles: String {
    var rules = [
      ".paper{fill:\(paper)}", ".card{fill:\(card);stroke:\(border)}", ".head{fill:\(header)}",
      ".rule{stroke:\(border)}", ".title{fill:\(title)}", ".text{fill:\(text)}", ".muted{fill:\(muted)}",
      ".type{fill:\(type)}", ".enum{fill:\(enumeration)}", ".key{stroke:\(key)}", ".halo{stroke:\(paper)}",
      ".plain{stroke:\(line)}", ".hollow{fill:\(paper)}", ".cascade{fill:\(cascade)}",
      ".cascade-fill{fill:\(cascadeFill)}", ".deny{fill:\(deny)}", ".deny-fill{fill:\(denyFill)}",
      ".no-action{fill:\(plain)}", ".no-action-fill{fill:\(plainFill)}",
    ]
    for (number, color) in lines.enumerated() { rules.append(".c\(number){stroke:\(color)}") }
    return rules.joined(separator: "\n") + "\n"
  }
}
