import TrellisModel

/// The server's binary forms of values.
enum ValueCoding {
  /// Microseconds from 1970 to 2000, where the server's time begins.
  static let epoch: Int64 = 946_684_800_000_000
  /// The first moment that a `timestamptz` can hold: 4714-11-24 BC, in microseconds since 1970. The last is
  /// beyond all dates that an attribute can hold.
  ///
  /// Source: PostgreSQL's `datatype/timestamp.h`, `MIN_TIMESTAMP`.
  static let firstMoment: Int64 = -211_813_488_000_000_000 + epoch
  /// The first moment after all that a `timestamptz` can hold.
  ///
  /// Source: PostgreSQL's `datatype/timestamp.h`, `END_TIMESTAMP`.
  static let endOfTime: Int64 = 9_223_371_331_200_000_000

  /// Appends the binary form of a value, without its length.
  ///
  /// - Returns: false, with nothing appended, if a column of this type cannot hold the value.
  static func append(_ value: Int64, as type: ServerType, to bytes: inout [UInt8]) -> Bool {
    switch type {
    case .bigint: bytes.append(bigEndian: value)
    case .integer:
      guard let narrow = Int32(exactly: value) else { return false }
      bytes.append(bigEndian: narrow)
    case .smallint:
      guard let narrow = Int16(exactly: value) else { return false }
      bytes.append(bigEndian: narrow)
    case .boolean:
      guard value == 0 || value == 1 else { return false }
      bytes.append(UInt8(value))
    case .timestamp:
      guard holds(moment: value) else { return false }
      bytes.append(bigEndian: value - epoch)
    case .double, .text, .numeric, .uuid, .bytes: return false
    }
    return true
  }

  /// Whether a `timestamptz` can hold a number of microseconds since 1970.
  static func holds(moment: Int64) -> Bool { moment >= firstMoment && moment - epoch < endOfTime }

  static func append(_ value: Double, as type: ServerType, to bytes: inout [UInt8]) -> Bool {
    guard type == .double, !value.isNaN else { return false }
    bytes.append(bigEndian: value.bitPattern)
    return true
  }

  static func append(_ value: String, as type: ServerType, to bytes: inout [UInt8]) -> Bool {
    switch type {
    case .text:
      var value = value
      return value.withUTF8 { text in
        // The server ends a text at NUL.
        if text.contains(0) { return false }
        bytes.append(contentsOf: text)
        return true
      }
    case .numeric: return NumericCoding.append(value, to: &bytes)
    default: return false
    }
  }

  static func append(_ value: UnsafeRawBufferPointer, as type: ServerType, to bytes: inout [UInt8]) -> Bool {
    switch type {
    case .bytes: break
    case .uuid: if value.count != 16 { return false }
    default: return false
    }
    bytes.append(contentsOf: value)
    return true
  }

  /// Appends a value that is not null.
  static func append(_ value: StoredValue, as type: ServerType, to bytes: inout [UInt8]) -> Bool {
    switch value {
    case .null: false
    case .integer(let value): append(value, as: type, to: &bytes)
    case .real(let value): append(value, as: type, to: &bytes)
    case .text(let value): append(value, as: type, to: &bytes)
    case .blob(let value): value.withUnsafeBytes { append($0, as: type, to: &bytes) }
    case .file: false
    }
  }

  /// The integer of a value in binary form; nil if its type is not one of integers, or it has no number.
  static func integer(_ bytes: UnsafeRawBufferPointer, _ type: ServerType?) -> Int64? {
    switch (type, bytes.count) {
    case (.bigint, 8): return bytes.bigEndian(Int64.self, at: 0)
    case (.integer, 4): return Int64(bytes.bigEndian(Int32.self, at: 0))
    case (.smallint, 2): return Int64(bytes.bigEndian(Int16.self, at: 0))
    case (.boolean, 1): return bytes[0] == 0 ? 0 : 1
    case (.timestamp, 8):
      let micros = bytes.bigEndian(Int64.self, at: 0)
      // The extremes stand for infinity.
      if micros == .max || micros == .min { return nil }
      let (sinceBeginning, overflow) = micros.addingReportingOverflow(epoch)
      return overflow ? nil : sinceBeginning
    default: return nil
    }
  }

  /// The real of a value in binary form; nil if its type is another.
  static func real(_ bytes: UnsafeRawBufferPointer, _ type: ServerType?) -> Double? {
    type == .double && bytes.count == 8 ? Double(bitPattern: bytes.bigEndian(UInt64.self, at: 0)) : nil
  }

  /// The value in its stored form; nil if it has none.
  static func value(_ bytes: UnsafeRawBufferPointer, _ type: ServerType?) -> StoredValue? {
    switch type {
    case .bigint, .integer, .smallint, .boolean, .timestamp: integer(bytes, type).map(StoredValue.integer)
    case .double: real(bytes, type).map(StoredValue.real)
    case .text: .text(String(decoding: bytes, as: UTF8.self))
    case .numeric: NumericCoding.text(bytes).map(StoredValue.text)
    case .uuid, .bytes: .blob([UInt8](bytes))
    case nil: nil
    }
  }
}
