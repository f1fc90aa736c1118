internal import CSQLite
import TrellisQuery
import TrellisSQL
import TrellisSchema
import TrellisStorage

/// Binds the values of requests.
extension Database {
  func bind(_ values: ContiguousArray<BoundValue>, to statement: Statement) throws(StoreError) {
    var index: Int32 = 0
    for parameter in statement.parameters {
      index += 1
      guard parameter.value < values.count else { throw error(TRELLIS_SQLITE_RANGE, doing: "bind a value") }
      let code =
        switch values[parameter.value] {
        case .single(let value): try bind(value, parameter.form, index, statement.pointer)
        case .list(let list): try bind(list, parameter.form, index, statement.pointer)
        }
      try check(code, doing: "bind a value")
    }
  }

  func bind(
    _ value: StoredValue, _ form: Parameter.Form, _ index: Int32, _ statement: OpaquePointer
  ) throws(StoreError) -> Int32 {
    switch value {
    case .null: return trellis_sqlite3_bind_null(statement, index)
    case .integer(let value): return trellis_sqlite3_bind_int64(statement, index, value)
    case .real(let value): return trellis_sqlite3_bind_double(statement, index, value)
    case .text(let value): return try bind(value, form, index, statement)
    case .file(let file): return try bind(file.reference, .plain, index, statement)
    case .blob(let value) where form == .reference: return try bind(Self.reference(value), .plain, index, statement)
    case .blob(let value):
      let count = try Self.length(value.count)
      guard count > 0 else { return trellis_sqlite3_bind_zeroblob(statement, index, 0) }
      return value.withUnsafeBytes {
        trellis_sqlite3_bind_blob(statement, index, $0.baseAddress, count, trellis_sqlite_transient())
      }
    }
  }

  private func bind(
    _ value: String, _ form: Parameter.Form, _ index: Int32, _ statement: OpaquePointer
  ) throws(StoreError) -> Int32 {
    if form == .endOfPrefix { return try bindEnd(of: value, index, statement) }
    var text = Self.text(value, form)
    let count = try Self.length(text.utf8.count)
    return text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        guard let start = bytes.baseAddress else {
          return trellis_sqlite3_bind_text(statement, index, "", 0, trellis_sqlite_transient())
        }
        return trellis_sqlite3_bind_text(statement, index, start, count, trellis_sqlite_transient())
      }
    }
  }

  /// The prefix with its last byte incremented. UTF-8 has no byte 255, so this is always possible.
  private func bindEnd(of prefix: String, _ index: Int32, _ statement: OpaquePointer) throws(StoreError) -> Int32 {
    var bytes = Array(prefix.utf8)
    // Every text has the empty prefix. All texts sort before all blobs.
    guard let last = bytes.popLast() else { return trellis_sqlite3_bind_zeroblob(statement, index, 0) }
    bytes.append(last + 1)
    let count = try Self.length(bytes.count)
    return bytes.withUnsafeBytes {
      trellis_sqlite3_bind_text(
        statement, index, $0.bindMemory(to: CChar.self).baseAddress, count, trellis_sqlite_transient())
    }
  }

  private func bind(
    _ values: [StoredValue], _ form: Parameter.Form, _ index: Int32, _ statement: OpaquePointer
  ) throws(StoreError) -> Int32 {
    guard let list = trellis_list_create(Int64(values.count)) else { return TRELLIS_SQLITE_NOMEM }
    var isComplete = true
    for (place, value) in values.enumerated() where !set(list, Int64(place), value, form) { isComplete = false }
    let code = trellis_sqlite_bind_list(statement, index, list)
    return isComplete ? code : TRELLIS_SQLITE_NOMEM
  }

  private func set(
    _ list: UnsafeMutablePointer<trellis_list>, _ place: Int64, _ value: StoredValue, _ form: Parameter.Form
  ) -> Bool {
    switch value {
    case .null: return true
    case .integer(let value): trellis_list_set_integer(list, place, value)
    case .real(let value): if !value.isNaN { trellis_list_set_real(list, place, value) }
    case .text(let value):
      var text = Self.text(value, form)
      return text.withUTF8 { Self.set(list, place, Int32(TRELLIS_SQLITE_TEXT), UnsafeRawBufferPointer($0)) }
    case .file(let file): return set(list, place, .text(file.reference), .plain)
    case .blob(let value) where form == .reference: return set(list, place, .text(Self.reference(value)), .plain)
    case .blob(let value):
      return value.withUnsafeBytes { Self.set(list, place, Int32(TRELLIS_SQLITE_BLOB), $0) }
    }
    return true
  }

  private static func set(
    _ list: UnsafeMutablePointer<trellis_list>, _ place: Int64, _ type: Int32, _ bytes: UnsafeRawBufferPointer
  ) -> Bool {
    guard let count = Int32(exactly: bytes.count) else { return false }
    return trellis_list_set_bytes(list, place, type, bytes.baseAddress, count) != 0
  }

  private static func text(_ value: String, _ form: Parameter.Form) -> String {
    switch form {
    case .plain, .endOfPrefix, .reference: value
    case .folded(let options): TextFolding.fold(value, options: options)
    case .canonical: DecimalOrder.canonical(value)
    case .searchTerms: SearchTokens.asked(by: value)
    }
  }

  /// The text in a row for bytes that are in a file.
  private static func reference(_ bytes: [UInt8]) -> String {
    ExternalFile.reference(ContentDigest(of: bytes), bytes.count)
  }

  private static func length(_ count: Int) throws(StoreError) -> Int32 {
    guard let length = Int32(exactly: count), length <= 1_000_000_000 else {
      throw StoreError(
        .limit, "A value of a request is too large for SQLite.",
        remedy: "Compare with values below 1,000,000,000 bytes.")
    }
    return length
  }
}
