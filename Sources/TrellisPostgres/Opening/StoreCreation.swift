import TrellisModel
import TrellisStorage

/// Creates a store in a schema that has none, within a transaction.
struct StoreCreation {
  private let connection: ServerConnection
  private let setup: PostgresSetup

  init(_ connection: ServerConnection, _ setup: PostgresSetup) {
    self.connection = connection
    self.setup = setup
  }

  private var names: SQLNames { setup.layout.names }

  /// - Throws: ``ServerError``; ``StoreError`` with the code `foreignFile`.
  func run() throws {
    let schema = SQLName.quoted(setup.options.schema)
    var parameters = ServerParameters()
    parameters.add(setup.options.schema)
    let isThere = try connection.run(
      ServerStatement("SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)", parameters))
    // A role that may not create schemas can use one that was made for it.
    if isThere.integer(0, 0) == 0 { try connection.run(ServerStatement("CREATE SCHEMA \(schema)")) }
    try refuseForeignTables()
    let own = [
      "CREATE TABLE \(names.metadata) (\"key\" text COLLATE \"C\" PRIMARY KEY, \"value\" text NOT NULL)",
      "CREATE TABLE \(names.models) (\"number\" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
        + "\"checksum\" text NOT NULL UNIQUE, \"version\" text, \"since\" timestamptz, \"json\" text NOT NULL)",
      "CREATE TABLE \(names.keys) (\"next\" bigint NOT NULL)",
      "INSERT INTO \(names.keys) VALUES (1)",
      "CREATE TABLE \(names.saves) (\"connection\" bigint PRIMARY KEY, \"save\" bigint NOT NULL, "
        + "\"time\" timestamptz NOT NULL)",
    ]
    let metadata = MetadataStatements(names)
    try connection.runAll(
      (own + setup.schema.all).map { ServerStatement($0) } + [
        metadata.set(.format, StoreMetadata.format), metadata.set(.compatible, StoreFeatures.models),
        metadata.set(.readOnlyCompatible, ""), metadata.set(.incompatible, ""),
        metadata.set(.migrations, OpenModels().text),
      ] + metadata.model(setup.model, passing: setup.options.migration.steps))
  }

  /// A schema with the tables of another program is left as it is.
  private func refuseForeignTables() throws {
    let model = setup.model
    let tables = model.entities.filter { $0.parent == nil }.map(\.name) + model.joinTables.map(\.name)
    var parameters = ServerParameters()
    parameters.add(setup.options.schema)
    var list = ServerArray(of: .text)
    for table in tables + ["_models", "_keys", "_saves", "_history", "_derivedMarks"] {
      _ = list.append(.text(names.fitted(table)))
    }
    parameters.add(list)
    let found = try connection.run(
      ServerStatement(
        "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
          + "WHERE n.nspname = $1 AND c.relname = ANY($2) LIMIT 1", parameters))
    guard found.count == 0 else {
      throw StoreError(
        .foreignFile, "\(setup.name) has a table \(found.text(0, 0) ?? "") of another program.",
        remedy: "Give the store a schema of its own.")
    }
  }
}
