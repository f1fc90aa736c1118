import Foundation

/// Changes the pieces of a file into UTF-8 with line feeds, whatever the encoding of the file.
///
/// UTF-16 is known by its byte order mark. Files in which lines end with CR alone, as on old systems, are known by their first
/// line.
final class PieceDecoder {
  private enum Form {
    case utf8
    case utf8WithReturns
    case utf16(isBigEndian: Bool)
    case windows1252
  }

  private var form: Form?
  /// The bytes of which the form is not known yet, or which are half of something.
  private var rest: [UInt8] = []
  /// The first half of a character in UTF-16.
  private var high: UInt16?
  private let isWindows1252: Bool

  init(_ encoding: CSVFormat.Encoding) { isWindows1252 = encoding == .windows1252 }

  /// Decodes the next piece; an empty one is the last.
  func decode(_ piece: Data) -> Data {
    if let form {
      if case .utf8 = form { return piece }
      return decode(Array(piece), form, isLast: piece.isEmpty)
    }
    rest += piece
    guard let form = form(of: rest, isLast: piece.isEmpty) else { return Data() }
    self.form = form
    let start = rest
    rest = []
    return decode(start, form, isLast: piece.isEmpty)
  }

  private func form(of bytes: [UInt8], isLast: Bool) -> Form? {
    if bytes.count < 4, !isLast { return nil }
    if bytes.starts(with: [0xFF, 0xFE]) { return .utf16(isBigEndian: false) }
    if bytes.starts(with: [0xFE, 0xFF]) { return .utf16(isBigEndian: true) }
    let hasMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    if isWindows1252, !hasMark { return .windows1252 }
    guard let end = bytes.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else {
      return isLast || bytes.count > 1 << 20 ? .utf8 : nil
    }
    if bytes[end] == 0x0A { return .utf8 }
    guard end + 1 < bytes.count else { return isLast ? .utf8WithReturns : nil }
    return bytes[end + 1] == 0x0A ? .utf8 : .utf8WithReturns
  }

  private func decode(_ bytes: [UInt8], _ form: Form, isLast: Bool) -> Data {
    switch form {
    case .utf8: return Data(bytes)
    case .utf8WithReturns: return Data(bytes.map { $0 == 0x0D ? 0x0A : $0 })
    case .utf16(let isBigEndian): return utf16(bytes, isBigEndian, isLast: isLast)
    case .windows1252:
      var text = Data(capacity: bytes.count + 64)
      for byte in bytes { append(Self.windows1252(byte), to: &text) }
      return text
    }
  }

  private func append(_ scalar: Unicode.Scalar, to text: inout Data) {
    if scalar.isASCII {
      text.append(UInt8(truncatingIfNeeded: scalar.value))
    } else {
      text.append(contentsOf: String(scalar).utf8)
    }
  }

  /// What is no UTF-16 becomes the replacement character.
  private func utf16(_ bytes: [UInt8], _ isBigEndian: Bool, isLast: Bool) -> Data {
    let all = rest + bytes
    let count = all.count / 2 * 2
    rest = Array(all[count...])
    var text = Data(capacity: all.count)
    for place in stride(from: 0, to: count, by: 2) {
      let (first, second) = (UInt16(all[place]), UInt16(all[place + 1]))
      let unit = isBigEndian ? first << 8 | second : second << 8 | first
      if let half = high {
        high = nil
        if UTF16.isTrailSurrogate(unit) {
          let value = 0x10000 + (UInt32(half - 0xD800) << 10 | UInt32(unit - 0xDC00))
          append(Unicode.Scalar(value) ?? "\u{FFFD}", to: &text)
          continue
        }
        append("\u{FFFD}", to: &text)
      }
      if UTF16.isLeadSurrogate(unit) { high = unit } else { append(Unicode.Scalar(unit) ?? "\u{FFFD}", to: &text) }
    }
    if isLast, high != nil || !rest.isEmpty { append("\u{FFFD}", to: &text) }
    return text
  }

  private static let upper: [UInt16] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D,
    0x8F, 0x90,
    0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E,
    0x0178,
  ]

  private static func windows1252(_ byte: UInt8) -> Unicode.Scalar {
    guard (0x80..<0xA0).contains(byte) else { return Unicode.Scalar(byte) }
    return Unicode.Scalar(upper[Int(byte) - 0x80]) ?? "\u{FFFD}"
  }
}
