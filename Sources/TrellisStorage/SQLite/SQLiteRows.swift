internal import CSQLite
import TrellisModel

/// Reads the columns of a statement's current row.
final class SQLiteRowReader: RowReader {
  @exclusivity(unchecked) private var statement: OpaquePointer
  /// The statement's columns where the row and where its own columns begin.
  @exclusivity(unchecked) private var base: Int32 = 0
  @exclusivity(unchecked) private var firstColumn: Int32 = 0
  @exclusivity(unchecked) private var table: EntityTable
  /// The folder of external storage. Nil if the model has none.
  private let folder: ExternalFolder?
  /// The positions of a subentity's columns. Empty if the columns are in order.
  @exclusivity(unchecked) private var places: UnsafeMutableBufferPointer<Int32> = .init(start: nil, count: 0)

  init(_ statement: OpaquePointer, _ table: EntityTable, _ folder: ExternalFolder?) {
    self.folder = folder
    self.statement = statement
    self.table = table
    super.init()
  }

  deinit { places.deallocate() }

  /// Prepares for the rows of a statement.
  func begin(_ statement: OpaquePointer, _ table: EntityTable, base: Int32 = 0) {
    self.statement = statement
    self.table = table
    self.base = base
    firstColumn = base + Int32(table.leadingColumns)
    setPlaces([])
    entity = table.entity
    problem = nil
  }

  /// Reads the key, version and entity of the current row.
  ///
  /// - Throws: ``StoreError`` if the row has an entity that is not in the subtree.
  @inline(__always) func load() throws(StoreError) {
    key = trellis_sqlite3_column_int64(statement, base)
    version = trellis_sqlite3_column_int64(statement, base + 1)
    if table.isInHierarchy { try loadEntity() }
  }

  private func loadEntity() throws(StoreError) {
    let text = bytes(at: base + 2)
    if let current = table.entityNames.first(where: { $0.number == entity }), Self.isEqual(text, current.name) {
      return
    }
    guard let found = table.entityNames.first(where: { Self.isEqual(text, $0.name) }) else {
      throw StoreError(
        .unreadableValue, "The row \(key) of \(table.name) belongs to no entity of the model that was asked for.",
        remedy: "Repair the column _entity with another tool, or restore the file from a backup.")
    }
    entity = found.number
    setPlaces(found.number == table.entity ? [] : table.places[found.number] ?? [])
  }

  /// Copies the positions, so that reading a column needs no retain.
  private func setPlaces(_ new: ContiguousArray<Int32>) {
    if places.isEmpty && new.isEmpty { return }
    places.deallocate()
    places = .allocate(capacity: new.count)
    _ = places.initialize(from: new)
  }

  private static func isEqual(_ bytes: UnsafeRawBufferPointer, _ name: String) -> Bool {
    bytes.count == name.utf8.count && name.utf8.elementsEqual(bytes)
  }

  @inline(__always) private func place(_ column: Int) -> Int32 {
    let column = column >= 0 && column < places.count ? places[column] : Int32(truncatingIfNeeded: column)
    return firstColumn &+ column
  }

  override func isNull(_ column: Int) -> Bool {
    trellis_sqlite3_column_type(statement, place(column)) == TRELLIS_SQLITE_NULL
  }

  override func integer(_ column: Int) -> Int64 {
    let value = trellis_sqlite3_column_int64(statement, place(column))
    if value == 0 { reportIfNull(column) }
    return value
  }

  // SQLite itself reads null as 0.
  override func reference(_ column: Int) -> Int64 { trellis_sqlite3_column_int64(statement, place(column)) }

  override func real(_ column: Int) -> Double {
    let value = trellis_sqlite3_column_double(statement, place(column))
    if value == 0 { reportIfNull(column) }
    return value
  }

  override func text(_ column: Int) -> String {
    guard let bytes = textBytes(column) else {
      reportIfNull(column)
      return ""
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  override func textAtHand(_ column: Int) -> UnsafeRawBufferPointer? { textBytes(column) }

  /// The UTF-8 bytes of a text. Nil for null.
  ///
  /// The column is looked up once, for the bytes and their number. SQLite wants the connection's mutex to be held while
  /// such a value is used, which stands for what holds here: one call at a time uses the connection.
  @inline(__always) private func textBytes(_ column: Int) -> UnsafeRawBufferPointer? {
    let value = trellis_sqlite3_column_value(statement, place(column))
    guard let start = trellis_sqlite3_value_text(value) else { return nil }
    return UnsafeRawBufferPointer(start: start, count: Int(trellis_sqlite3_value_bytes(value)))
  }

  override func bytes(_ column: Int) -> UnsafeRawBufferPointer {
    let result = bytes(at: place(column))
    if result.count == 0 { reportIfNull(column) }
    return result
  }

  /// Data in the row is a blob. A text instead refers to a file.
  override func file(_ column: Int) -> ExternalFile? {
    guard let folder else { return nil }
    switch trellis_sqlite3_column_type(statement, place(column)) {
    case TRELLIS_SQLITE_TEXT: break
    case TRELLIS_SQLITE_INTEGER, TRELLIS_SQLITE_FLOAT:
      report(column, "a number is no data")
      return nil
    default: return nil
    }
    if let file = folder.file(text(column)) { return file }
    report(column, "the stored reference to a file is none")
    return nil
  }

  private func bytes(at place: Int32) -> UnsafeRawBufferPointer {
    let value = trellis_sqlite3_column_value(statement, place)
    let start = trellis_sqlite3_value_blob(value)
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(trellis_sqlite3_value_bytes(value)))
  }

  /// A null reads as zero or as empty, so only these values need the check.
  @inline(never) private func reportIfNull(_ column: Int) {
    if isNull(column) { report(column, "there is no value") }
  }
}

// MARK: - SQLite row writer

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

  /// Room for the texts and blobs of several rows.
  private static let capacity = 65_536

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

// MARK: - Binding

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

  func bind(
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
