internal import CSQLite
import TrellisSchema
import TrellisStorage

/// Binds values to a statement's parameters in order.
///
/// Texts and blobs are copied once, into a buffer that all rows share, and SQLite reads them there: a million rows need
/// no allocation each. SQLite itself copies values that do not fit into the buffer.
final class SQLiteRowWriter: RowWriter {
  /// The reason why a value could not be bound.
  enum Problem {
    case notANumber, tooLarge, code(Int32)
    case external(StoreError)
  }

  private static let capacity = 16_384

  private var statement: OpaquePointer?
  /// The last bound parameter.
  private(set) var index: Int32 = 0
  private(set) var problem: Problem?
  private let memory = UnsafeMutableRawPointer.allocate(byteCount: SQLiteRowWriter.capacity, alignment: 16)
  private var used = 0
  /// Writes external data. Nil if the model has none.
  private let externals: ExternalWriter?

  init(_ externals: ExternalWriter? = nil) { self.externals = externals }

  deinit { memory.deallocate() }

  /// Starts with the first parameter of a statement, which must not be running.
  @inline(__always) func begin(_ statement: OpaquePointer) {
    self.statement = statement
    index = 0
    used = 0
    problem = nil
  }

  override func null() {
    index += 1
    note(trellis_sqlite3_bind_null(statement, index))
  }

  override func integer(_ value: Int64) {
    index += 1
    note(trellis_sqlite3_bind_int64(statement, index, value))
  }

  override func real(_ value: Double) {
    index += 1
    // SQLite would store null.
    if value.isNaN { note(.notANumber) }
    note(trellis_sqlite3_bind_double(statement, index, value))
  }

  override func text(_ value: String) {
    index += 1
    var value = value
    value.withUTF8 { bytes in
      guard let start = copied(UnsafeRawBufferPointer(bytes)) else { return bindLongText(bytes) }
      note(
        trellis_sqlite3_bind_text(
          statement, index, start.assumingMemoryBound(to: CChar.self), Int32(truncatingIfNeeded: bytes.count), nil))
    }
  }

  override func blob(_ value: UnsafeRawBufferPointer) {
    index += 1
    guard let start = copied(value) else { return bindLongBlob(value) }
    note(trellis_sqlite3_bind_blob(statement, index, start, Int32(truncatingIfNeeded: value.count), nil))
  }

  override func external(_ value: ExternalData) {
    if let file = externals?.file(for: value) { return text(file.reference) }
    if let problem = externals?.problem { note(.external(problem)) }
    super.external(value)
  }

  override func file(_ value: ExternalFile) {
    if let file = externals?.kept(value) { return text(file.reference) }
    if let problem = externals?.problem { note(.external(problem)) }
    super.file(value)
  }

  /// The bytes in the row buffer. Nil if there is no room left.
  @inline(__always) private func copied(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer? {
    // One byte is reserved even for empty data, because SQLite reads a null pointer as null.
    guard bytes.count < Self.capacity - used else { return nil }
    let start = memory + used
    if let source = bytes.baseAddress { start.copyMemory(from: source, byteCount: bytes.count) }
    used += bytes.count
    return start
  }

  private func bindLongText(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let count = Int32(exactly: bytes.count) else { return note(.tooLarge) }
    bytes.withMemoryRebound(to: CChar.self) {
      note(trellis_sqlite3_bind_text(statement, index, $0.baseAddress, count, trellis_sqlite_transient()))
    }
  }

  private func bindLongBlob(_ bytes: UnsafeRawBufferPointer) {
    guard let count = Int32(exactly: bytes.count) else { return note(.tooLarge) }
    note(trellis_sqlite3_bind_blob(statement, index, bytes.baseAddress, count, trellis_sqlite_transient()))
  }

  @inline(__always) private func note(_ code: Int32) {
    if code != TRELLIS_SQLITE_OK { note(.code(code)) }
  }

  @inline(never) private func note(_ problem: Problem) {
    if self.problem == nil { self.problem = problem }
  }
}
