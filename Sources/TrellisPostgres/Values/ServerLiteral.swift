import TrellisModel
import TrellisStorage

/// Values as literals, for statements that take no parameters.
enum ServerLiteral {
  /// The literal of a value of a type; nil if there is none that the server reads as exactly this value.
  static func text(_ value: StoredValue, _ type: ServerType) -> String? {
    switch (value, type) {
    case (.integer(0), .boolean): "false"
    case (.integer(1), .boolean): "true"
    case (.integer(let number), .smallint) where Int16(exactly: number) != nil: typed(String(number), type)
    case (.integer(let number), .integer) where Int32(exactly: number) != nil: typed(String(number), type)
    case (.integer(let number), .bigint): typed(String(number), type)
    case (.integer(let number), .timestamp): moment(number)
    // The shortest text that is read as the same number.
    case (.real(let number), .double) where number.isFinite: typed("\(number)", type)
    case (.text(let text), .text) where !text.utf8.contains(0):
      // What a plain literal means by a backslash depends on a setting.
      text.utf8.contains(UInt8(ascii: "\\"))
        ? "E" + SQLName.literal(text.replacing("\\", with: "\\\\")) : SQLName.literal(text)
    case (.text(let text), .numeric) where DecimalText.canonical(text) == text: typed(text, type)
    case (.blob(let bytes), .uuid) where bytes.count == 16: typed(hexadecimal(bytes), type)
    case (.blob(let bytes), .bytes): "decode('\(hexadecimal(bytes))', 'hex')"
    default: nil
    }
  }

  /// An expression for the value that a migration gives to rows without one; nil if there is none that the server
  /// understands.
  ///
  /// - Parameter now: the time of the migration, in microseconds since 1970.
  static func text(_ filling: Filling, _ type: ServerType, now: Int64) -> String? {
    switch filling {
    case .value(let value): text(value, type)
    case .now: text(.integer(now), type)
    case .newUUID: type == .uuid ? "gen_random_uuid()" : nil
    case .null, .expression, .unanswered: nil
    }
  }

  private static func typed(_ text: String, _ type: ServerType) -> String { "'\(text)'::\(type.name)" }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Four digits for the year: the years 1 to 9999.
  private static let years: ClosedRange<Int64> = -62_135_596_800_000_000...253_402_300_799_999_999

  private static func moment(_ microseconds: Int64) -> String? {
    guard years.contains(microseconds) else { return nil }
    return typed(DateText.text(microseconds), .timestamp)
  }
}
