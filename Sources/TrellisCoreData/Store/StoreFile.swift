import Foundation

/// A Core Data store: its tables, the numbers of its entities, and the model in its cache.
final class StoreFile {
  /// The original.
  let url: URL
  let database: SourceDatabase
  /// The identifier of the store, as in object URIs; empty if it has none.
  private(set) var uuid = ""
  /// The entities by their numbers in the store.
  private(set) var entityNames: [Int64: String] = [:]
  /// The names of the tables, by their names in capital letters.
  private(set) var tables: [String: String] = [:]
  /// The names of the columns of each table that was asked for, by their names in capital letters.
  private var columns: [String: [String: String]] = [:]
  private let snapshot: StoreSnapshot

  /// Numbers from this one on are those of Core Data's own tables.
  static let firstInternalNumber: Int64 = 16_000

  /// - Throws: ``CoreDataError``.
  init(_ url: URL) throws {
    self.url = url
    snapshot = try StoreSnapshot(of: url)
    database = try SourceDatabase(path: snapshot.path, name: url.path, size: snapshot.size)
    var tables: [String: String] = [:]
    try database.rows("SELECT name FROM sqlite_schema WHERE type = 'table'") { row in
      if let name = row.text(0) { tables[name.uppercased()] = name }
    }
    self.tables = tables
    guard tables["Z_PRIMARYKEY"] != nil, tables["Z_METADATA"] != nil else {
      let isOurs = tables["_TRELLIS"] != nil
      throw CoreDataError(
        .noCoreDataStore,
        isOurs
          ? "\(url.path) is a store of Trellis already."
          : "\(url.path) is no store of Core Data: it has no table Z_PRIMARYKEY.",
        remedy: isOurs ? "Open it with the model that it has." : "Give the SQLite file of a Core Data store.")
    }
    try readNumbers()
  }

  private func readNumbers() throws {
    var names: [Int64: String] = [:]
    try database.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY") { row in
      if let number = row.integer(0), let name = row.text(1) { names[number] = name }
    }
    entityNames = names
    var uuid: String?
    try database.rows("SELECT Z_UUID FROM Z_METADATA") { row in uuid = uuid ?? row.text(0) }
    self.uuid = uuid ?? ""
  }

  // MARK: Tables

  /// The columns of a table, by their names in capital letters.
  func columns(of table: String) throws -> [String: String] {
    if let known = columns[table] { return known }
    var found: [String: String] = [:]
    try database.rows("SELECT name FROM pragma_table_info(\(SourceDatabase.literal(table)))") { row in
      if let name = row.text(0) { found[name.uppercased()] = name }
    }
    columns[table] = found
    return found
  }

  /// The table of a hierarchy; nil if there is none.
  func table(ofRoot entity: String) -> String? { tables["Z" + entity.uppercased()] }

  // MARK: Model cache

  /// The model in the store.
  ///
  /// - Throws: ``CoreDataError`` with the code `noModelCache` if there is none that can be read.
  func cachedModel() throws -> CoreDataModel {
    var content: [UInt8] = []
    if let table = tables["Z_MODELCACHE"] {
      let column = try columns(of: table)["Z_CONTENT"]
      if let column {
        try database.rows(
          "SELECT \(SourceDatabase.quoted(column)) FROM \(SourceDatabase.quoted(table)) LIMIT 1"
        ) { row in content = row.bytes(0) }
      }
    }
    let remedy = "Give the model that the store was made with, as an .xcdatamodeld."
    guard !content.isEmpty else {
      throw CoreDataError(.noModelCache, "\(url.path) does not contain its model.", remedy: remedy)
    }
    do throws(ArchiveFault) {
      let archive = BinaryPlist.isMarked(content) ? content : try Inflate.bytes(of: content)
      return try ModelArchiveReader.read(archive)
    } catch {
      throw CoreDataError(
        .noModelCache, "The model in \(url.path) cannot be read: \(error.reason).", remedy: remedy)
    }
  }
}
