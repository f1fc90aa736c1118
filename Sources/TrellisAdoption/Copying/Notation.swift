import TrellisForeignFiles

/// How a value of a column is written, as far as it matters whether two different values are one value of the attribute.
enum Notation: Hashable {
  /// The value is the same in each notation.
  case any
  /// Different values in this notation are different values of the attribute.
  case one(UInt64)
  /// A value has several spellings in this notation.
  case several
}

extension ValueForm {
  /// The notation of a value that is not null.
  func notation(of value: ForeignValue) -> Notation {
    switch self {
    case .integer, .double, .float, .bool: value.isNumber ? .one(0) : .several
    case .decimal:
      switch value {
      case .integer: .one(0)
      case .real: .one(1)
      default: .several
      }
    case .string, .data:
      switch value {
      case .integer, .real: .one(0)
      case .blob: .one(1)
      default: .one(2)
      }
    case .uuid:
      switch value {
      case .text(let text): Self.letterCase(of: text)
      default: .one(0)
      }
    case .date(let form): form.notation(of: value)
    case .among(_, let form, .exact): form.notation(of: value)
    case .among, .list: .several
    }
  }

  private static func letterCase(of text: String) -> Notation {
    let hasSmall = text.utf8.contains { (0x61...0x7A).contains($0) }
    let hasCapital = text.utf8.contains { (0x41...0x5A).contains($0) }
    return hasSmall && hasCapital ? .several : hasSmall ? .one(1) : hasCapital ? .one(2) : .any
  }
}

extension DateForm {
  fileprivate func notation(of value: ForeignValue) -> Notation {
    switch (self, value) {
    case (.text, .text(let text)): Self.shape(of: text)
    // A day as a real, and a fraction of a second, are rounded.
    case (.julianDays, _): .several
    case (_, .integer): .one(0)
    default: .several
    }
  }

  /// The places of digits and signs, and the digits of a zone.
  private static func shape(of text: String) -> Notation {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    var isZone = false
    var fraction = 0
    for (place, byte) in text.utf8.enumerated() {
      let isDigit = (0x30...0x39).contains(byte)
      if place > 10, byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { isZone = true }
      if byte == UInt8(ascii: ".") || fraction > 0 && isDigit && !isZone { fraction += 1 }
      hash = (hash ^ UInt64(isDigit && !isZone ? UInt8(ascii: "0") : byte)) &* 0x100_0000_01B3
    }
    // What is finer than a microsecond is cut off.
    return fraction > 7 ? .several : .one(hash)
  }
}

extension ForeignValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .real: true
    default: false
    }
  }
}
