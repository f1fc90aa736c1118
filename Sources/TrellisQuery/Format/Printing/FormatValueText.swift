import TrellisSchema

/// The keywords. A property with such a name is written with `#`.
enum FormatKeywords {
  static let all: Set<String> = [
    "and", "or", "not", "any", "some", "all", "none", "in", "between", "beginswith", "endswith", "contains", "like",
    "matches", "matching", "null", "nil", "true", "false", "yes", "no", "truepredicate", "falsepredicate", "self",
  ]
}

/// Constants in format notation.
enum FormatValueText {
  static func text(_ value: StoredValue, _ type: FormatType) -> String {
    switch (value, type) {
    case (.null, _): "NIL"
    case (.real(let real), _): text(real)
    case (.integer(0), .bool): "FALSE"
    case (.integer(1), .bool): "TRUE"
    case (.integer(let micros), .date): "CAST(\(quoted(DateText.text(micros))), 'NSDate')"
    case (.integer(let key), .object): "CAST(\(key), 'ObjectID')"
    case (.integer(let integer), _): String(integer)
    case (.text(let digits), .decimal): DecimalNumber(digits).map(\.text) ?? quoted(digits)
    case (.text(let digits), .integer), (.text(let digits), .real):
      "CAST(\(DecimalNumber(digits).map(\.text) ?? quoted(digits)), 'Decimal')"
    case (.text(let text), _): quoted(text)
    case (.blob(let bytes), .uuid) where bytes.count == 16: quoted(UUIDText.text(bytes))
    case (.blob(let bytes), _): "CAST(\(quoted(Base64Text.text(bytes))), 'NSData')"
    // The format has no notation for a file, so this prints its reference.
    case (.file(let file), _): quoted(file.reference)
    }
  }

  /// A number that exceeds all reals parses as an infinity.
  private static func text(_ real: Double) -> String {
    if real.isNaN { return "NIL" }
    return real.isInfinite ? (real < 0 ? "-1e999" : "1e999") : real.description
  }

  private static func quoted(_ text: String) -> String {
    var result = "'"
    for scalar in text.unicodeScalars {
      switch scalar {
      case "'", "\\": result += "\\" + String(scalar)
      case "%": result += "%%"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "'"
  }
}

extension FormatType {
  /// The type of values of a kind if nothing else determines it.
  package init(_ kind: ValueKind) {
    self =
      switch kind {
      case .integer: .integer
      case .real: .real
      case .decimal: .decimal
      case .text: .text
      case .blob: .data
      }
  }
}
