/// The format of a date in a JSON document, as written in a model file.
///
/// ```
/// iso8601                      2026-01-31T09:30:00.250+09:00
/// seconds  milliseconds        numbers since 1970-01-01T00:00:00Z
/// yyyy-MM-dd                   2026-01-31
/// dd.MM.yyyy 'at' HH:mm Z      31.01.2026 at 09:30 +09:00
/// ```
package enum JSONDateFormat: Hashable, Sendable {
  /// A field of a pattern. All have a fixed number of digits, but for the zone.
  package enum Field: String, Hashable, Sendable, CaseIterable {
    case year = "yyyy"
    case month = "MM"
    case day = "dd"
    case hour = "HH"
    case minute = "mm"
    case second = "ss"
    case millisecond = "SSS"
    /// `Z`, `+hh:mm` or `+hhmm`.
    case zone = "Z"
  }

  /// A part of a pattern.
  package enum Part: Hashable, Sendable {
    case field(Field)
    /// Text that stands for itself.
    case literal(String)
  }

  /// An ISO 8601 date, with or without a time.
  case iso8601
  /// Seconds since 1970-01-01T00:00:00Z, as a number.
  case seconds
  /// Milliseconds since 1970-01-01T00:00:00Z, as a number.
  case milliseconds
  /// Fields and literals in a row. Fields that are absent are the first of their kind, the zone is UTC.
  case pattern([Part])

  /// The formats with a name.
  package static let names = ["iso8601", "seconds", "milliseconds"]
}

/// The reason why a text is no format of dates.
package struct JSONDateFault: Error, Hashable, Sendable {
  /// What is wrong and how to write it, as a sentence without a full stop.
  package let message: String
}

extension JSONDateFormat {
  /// Reads a format.
  ///
  /// - Throws: ``JSONDateFault``.
  package init(_ text: String) throws(JSONDateFault) {
    switch text {
    case "iso8601": self = .iso8601
    case "seconds": self = .seconds
    case "milliseconds": self = .milliseconds
    default: self = .pattern(try Self.parts(of: text))
    }
  }

  private static let literals = "-/.: T,"

  private static func parts(of text: String) throws(JSONDateFault) -> [Part] {
    guard !text.isEmpty else { throw JSONDateFault(message: "a format is not empty") }
    let letters = Array(text)
    var parts: [Part] = []
    var literal = ""
    var place = 0
    while place < letters.count {
      let letter = letters[place]
      if letter == "'" {
        literal += try quotedText(letters, &place)
      } else if literals.contains(letter) {
        literal.append(letter)
        place += 1
      } else {
        let field = try field(letters, &place)
        if !literal.isEmpty { parts.append(.literal(literal)) }
        literal = ""
        parts.append(.field(field))
      }
    }
    if !literal.isEmpty { parts.append(.literal(literal)) }
    try check(parts)
    return parts
  }

  /// The text in single quotes; two in a row stand for one.
  private static func quotedText(_ letters: [Character], _ place: inout Int) throws(JSONDateFault) -> String {
    place += 1
    var text = ""
    while place < letters.count {
      let letter = letters[place]
      place += 1
      guard letter == "'" else {
        text.append(letter)
        continue
      }
      // An empty text in quotes is a quote itself.
      guard place < letters.count, letters[place] == "'" else { return text.isEmpty ? "'" : text }
      text.append("'")
      place += 1
    }
    throw JSONDateFault(message: "a single quote is not closed")
  }

  private static func field(_ letters: [Character], _ place: inout Int) throws(JSONDateFault) -> Field {
    let letter = letters[place]
    let run = letters[place...].prefix { $0 == letter }
    place += run.count
    if let field = Field(rawValue: String(run)) { return field }
    if let field = Field.allCases.first(where: { $0.rawValue.first == letter }) {
      throw JSONDateFault(message: "'\(String(run.prefix(16)))' is written '\(field.rawValue)'")
    }
    throw JSONDateFault(
      message: "'\(letter)' is none of \(Field.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")); "
        + "text that stands for itself is in single quotes")
  }

  private static func check(_ parts: [Part]) throws(JSONDateFault) {
    var fields: Set<Field> = []
    for case .field(let field) in parts where !fields.insert(field).inserted {
      throw JSONDateFault(message: "'\(field.rawValue)' is there twice")
    }
    guard fields.contains(.year) else { throw JSONDateFault(message: "a date has at least a year, 'yyyy'") }
    let order: [Field] = [.year, .month, .day, .hour, .minute, .second, .millisecond]
    for (larger, smaller) in zip(order, order.dropFirst()) where fields.contains(smaller) && !fields.contains(larger) {
      throw JSONDateFault(message: "'\(smaller.rawValue)' has no meaning without '\(larger.rawValue)'")
    }
    if fields.contains(.zone), !fields.contains(.hour) {
      throw JSONDateFault(message: "'Z' has no meaning without 'HH'")
    }
  }
}
