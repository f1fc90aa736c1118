internal import CSQLite
import Foundation
import TrellisSQL
import TrellisSchema
package import TrellisStorage

/// The models that a file has had, the first one first, in a separate table. They are never removed, so that data of an
/// earlier model can always be interpreted.
enum ModelLineage {
  /// Adds a model, unless the file has had it before.
  static func add(_ model: StoredModel, to database: Database) throws(StoreError) {
    let statement = try database.prepare(
      "INSERT INTO \(SQLName.models) (\"checksum\", \"version\", \"since\", \"json\") VALUES (?1, ?2, ?3, ?4) "
        + "ON CONFLICT (\"checksum\") DO NOTHING")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    let values: [StoredValue] = [
      .text(model.checksum), model.version.map { .text($0) } ?? .null, model.since.map { .integer($0) } ?? .null,
      .text(model.json),
    ]
    for (place, value) in values.enumerated() {
      try database.check(
        try database.bind(value, .plain, Int32(place + 1), statement.pointer), doing: "bind a value")
    }
    _ = try database.step(statement.pointer, doing: "write what the file is")
  }

  /// Whether the file has or had a model.
  static func contains(_ checksum: String, in database: Database) throws(StoreError) -> Bool {
    let statement = try database.prepare("SELECT 1 FROM \(SQLName.models) WHERE \"checksum\" = ?1")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    try database.check(try database.bind(.text(checksum), .plain, 1, statement.pointer), doing: "bind a value")
    return try database.step(statement.pointer, doing: "read what the file is")
  }

  /// The models of the file, the newest last.
  static func all(in database: Database) throws(StoreError) -> [StoredModel] {
    let statement = try database.prepare(
      "SELECT \"checksum\", \"version\", \"json\", \"since\" FROM \(SQLName.models) ORDER BY \"number\"")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var models: [StoredModel] = []
    while try database.step(statement.pointer, doing: "read what the file is") {
      guard let checksum = database.text(of: statement.pointer), let json = database.text(of: statement.pointer, 2)
      else { throw SQLiteErrors.damaged(database.path, "it does not say which models it had") }
      let hasDate = trellis_sqlite3_column_type(statement.pointer, 3) == TRELLIS_SQLITE_INTEGER
      models.append(
        StoredModel(
          checksum: checksum, version: database.text(of: statement.pointer, 1),
          since: hasDate ? trellis_sqlite3_column_int64(statement.pointer, 3) : nil, json: json))
    }
    return models
  }

  /// The program's model, with the current time.
  static func present(_ model: Model) -> StoredModel {
    StoredModel(
      checksum: model.checksum, version: model.description.version,
      since: Int64(Date().timeIntervalSince1970 * 1_000_000), json: model.description.canonicalJSON())
  }
}

extension SQLiteStore {
  /// The models that the file has and had, the newest last. Empty if the file does not keep them, until this version of
  /// Trellis saves to it.
  ///
  /// - Throws: ``StoreError``.
  package func models() throws -> [StoredModel] {
    let connection = try take()
    defer { giveBack(connection) }
    return try Metadata.head(of: connection.database).hasModels ? ModelLineage.all(in: connection.database) : []
  }
}
