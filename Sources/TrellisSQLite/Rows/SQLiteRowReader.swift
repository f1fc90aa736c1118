internal import CSQLite
import TrellisSQL
import TrellisSchema
import TrellisStorage

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

  override func real(_ column: Int) -> Double {
    let value = trellis_sqlite3_column_double(statement, place(column))
    if value == 0 { reportIfNull(column) }
    return value
  }

  override func text(_ column: Int) -> String {
    let place = place(column)
    guard let start = trellis_sqlite3_column_text(statement, place) else {
      reportIfNull(column)
      return ""
    }
    let count = Int(trellis_sqlite3_column_bytes(statement, place))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
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
    let start = trellis_sqlite3_column_blob(statement, place)
    return UnsafeRawBufferPointer(
      start: start, count: start == nil ? 0 : Int(trellis_sqlite3_column_bytes(statement, place)))
  }

  /// A null reads as zero or as empty, so only these values need the check.
  @inline(never) private func reportIfNull(_ column: Int) {
    if isNull(column) { report(column, "there is no value") }
  }
}
