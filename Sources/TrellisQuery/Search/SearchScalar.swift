/// The role of a scalar of a folded text in a search.
enum SearchScalar: Equatable {
  /// Separates words and belongs to none.
  case separator
  /// A letter or digit of a script with spaces between words.
  case spaced
  /// A letter of a script that joins words or their endings without a space, or a pictograph.
  case joined
  /// Belongs to the preceding scalar.
  case mark

  init(_ scalar: Unicode.Scalar) {
    if scalar.value < 0x80 {
      self = Self.isASCIIWord(scalar.value) ? .spaced : .separator
      return
    }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber:
      self = Self.isJoined(scalar.value) ? .joined : .spaced
    case .nonspacingMark, .spacingMark, .enclosingMark: self = .mark
    case .otherSymbol: self = .joined
    default: self = .separator
    }
  }

  private static func isASCIIWord(_ value: UInt32) -> Bool {
    switch value {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
  }

  private static func isJoined(_ value: UInt32) -> Bool {
    switch value {
    // Thai, Lao, Tibetan, Myanmar, Hangul jamo.
    case 0x0E00...0x11FF: value < 0x10A0 || value > 0x10FF
    // Khmer; New Tai Lue and Khmer symbols; Tai Tham.
    case 0x1780...0x17FF, 0x1980...0x19FF, 0x1A20...0x1AAF: true
    // Radicals, kana, bopomofo, Hangul compatibility jamo, ideographs, Yi.
    case 0x2E80...0xA4CF: true
    // Hangul extensions, Myanmar and Tai Viet.
    case 0xA960...0xA97F, 0xA9E0...0xA9FF, 0xAA60...0xAADF, 0xAC00...0xD7FF: true
    // Compatibility ideographs, halfwidth kana and Hangul.
    case 0xF900...0xFAFF, 0xFF66...0xFFDC: true
    // Historic kana, and the ideographic planes.
    case 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x20000...0x3FFFF: true
    default: false
    }
  }
}
