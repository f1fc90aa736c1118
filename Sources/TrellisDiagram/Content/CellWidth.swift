/// The number of cells that a terminal gives to a text: two for Hangul, Han, kana and emoji, none for marks.
package enum CellWidth {
  package static func of(_ text: String) -> Int { text.reduce(0) { $0 + of($1) } }

  package static func of(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    // A variation selector asks for the picture of a sign that is also a text.
    if scalars.count > 1 && scalars.contains("\u{FE0F}") { return 2 }
    return scalars.map(of).max() ?? 0
  }

  private static func of(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    return scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  /// The ranges of the Unicode Standard with the East Asian width W or F.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
    0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1B000...0x1B2FB, 0x1F200...0x1F265, 0x20000...0x3FFFD,
  ]
}
