/// The width of texts, from a table: a picture is made without the fonts that will show it.
///
/// The widths are those of a wide face, so that a text keeps its place in any common sans-serif face.
package enum TextWidth {
  /// The width of a text in pixels, rounded up.
  ///
  /// - Parameter size: the size of the font in pixels.
  package static func of(_ text: String, size: Int, bold: Bool = false) -> Int {
    var thousandths = 0
    for character in text { thousandths += width(of: character) }
    if bold { thousandths += thousandths / 9 }
    return (thousandths * size + 999) / 1000
  }

  /// A text that is not wider than a bound: its end gives way to an ellipsis.
  package static func fitted(_ text: String, size: Int, bold: Bool = false, within bound: Int) -> String {
    guard of(text, size: size, bold: bold) > bound else { return text }
    var shortened = text
    // A character is at least a fifth of its size wide, so what is far too long is cut first.
    if shortened.count > bound { shortened = String(shortened.prefix(max(1, bound))) }
    while shortened.count > 1, of(shortened + "…", size: size, bold: bold) > bound { shortened.removeLast() }
    return shortened + "…"
  }

  /// In thousandths of the font's size.
  private static func width(of character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    if scalar.value >= 0x20, scalar.value < 0x7F { return ascii[Int(scalar.value) - 0x20] }
    // A face has about these widths for what takes none, one or two cells of a terminal.
    switch CellWidth.of(character) {
    case 0: return 0
    case 1: return 700
    default: return 1050
    }
  }

  /// The printable characters of ASCII, in their order.
  private static let ascii = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838,
  ]
}
