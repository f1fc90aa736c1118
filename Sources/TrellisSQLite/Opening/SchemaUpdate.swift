internal import CSQLite
import TrellisSQL
import TrellisSchema
import TrellisStorage

/// Updates a file to a model with the same storage layout but other texts, rules or indexes.
enum SchemaUpdate {
  /// Runs inside the transaction of the first save.
  static func apply(_ model: Model, to database: Database) throws(StoreError) {
    try Metadata.beginLineage(in: database)
    try updateIndexes(model, database)
    try Metadata.writeModel(model, to: database)
    try ModelLineage.add(ModelLineage.present(model), to: database)
  }

  /// Creates and drops the declared indexes. Their names tell their columns.
  private static func updateIndexes(_ model: Model, _ database: Database) throws(StoreError) {
    var present = try names(in: database)
    for index in IndexPlan(model).all where index.name.hasPrefix(IndexPlan.declaredPrefix) {
      if present.remove(index.name) == nil {
        try database.execute(index.statement, doing: "create an index")
      }
    }
    for name in present.sorted() {
      try database.execute("DROP INDEX \(SQLName.quoted(name))", doing: "drop an index")
    }
  }

  private static func names(in database: Database) throws(StoreError) -> Set<String> {
    let statement = try database.prepare("SELECT name FROM sqlite_schema WHERE type = 'index'")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var names: Set<String> = []
    while try database.step(statement.pointer, doing: "read the indexes") {
      if let name = database.text(of: statement.pointer), name.hasPrefix(IndexPlan.declaredPrefix) {
        names.insert(name)
      }
    }
    return names
  }
}
