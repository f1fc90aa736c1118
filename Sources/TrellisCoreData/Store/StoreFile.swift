import TrellisStorage
import Foundation
import TrellisForeignFiles

/// A Core Data store: its tables, the numbers of its entities, and the model in its cache.
final class StoreFile {
  /// The original.
  let url: URL
  private let database: ForeignFile
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
    do throws(ForeignFileError) {
      database = try ForeignFile(path: snapshot.path, size: snapshot.size, .exclusive)
    } catch {
      throw CoreDataError(error, reading: url.path)
    }
    var tables: [String: String] = [:]
    try rows("SELECT name FROM sqlite_schema WHERE type = 'table'") { row in
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
    try rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY") { row in
      if let number = row.integer(0), let name = row.text(1) { names[number] = name }
    }
    entityNames = names
    var uuid: String?
    try rows("SELECT Z_UUID FROM Z_METADATA") { row in uuid = uuid ?? row.text(0) }
    self.uuid = uuid ?? ""
  }

  // MARK: Tables

  /// Passes the rows of a query.
  ///
  /// - Parameter parameters: The values of `?1` and so on.
  /// - Throws: ``CoreDataError``, or errors of `body`.
  func rows(_ sql: String, _ parameters: [Int64] = [], _ body: (ForeignRow) throws -> Void) throws {
    do { try database.rows(sql, parameters.map { .integer($0) }, body) } catch let error as ForeignFileError {
      throw CoreDataError(error, reading: url.path)
    }
  }

  /// The columns of a table, by their names in capital letters.
  func columns(of table: String) throws -> [String: String] {
    if let known = columns[table] { return known }
    var found: [String: String] = [:]
    try rows("SELECT name FROM pragma_table_info(\(SQLName.literal(table)))") { row in
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
        try rows(
          "SELECT \(SQLName.quoted(column)) FROM \(SQLName.quoted(table)) LIMIT 1"
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

extension CoreDataError {
  fileprivate init(_ error: ForeignFileError, reading name: String) {
    switch error.reason {
    case .noLibrary: self.init(.inputOutput, error.message, remedy: "Install SQLite 3.38 or later (libsqlite3).")
    case .noDatabase:
      self.init(
        .encrypted, "\(name) is encrypted, or is no SQLite file.",
        remedy: "Decrypt it with the program that made it, and give the decrypted copy.")
    case .inaccessible:
      self.init(
        .inputOutput, "The copy of \(name) cannot be read: \(error.message).",
        remedy: "Make room on the disk and try again.")
    case .foreign:
      self.init(
        .damaged, "\(name) uses what only another program has: \(error.message).",
        remedy: "Let Core Data write a copy of the store, or restore it from a backup.")
    case .busy, .damaged, .refused:
      self.init(.damaged, "\(name) is damaged: \(error.message).", remedy: "Restore the store from a backup.")
    }
  }
}
