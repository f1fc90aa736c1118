internal import CSQLite
import TrellisModel

/// Computes the values of backfill expressions from the stored rows, in temporary tables of a connection.
struct ExpressionCollection {
  let database: Database
  let migration: Migration

  func collectAll() throws(StoreError) {
    guard !migration.expressions.isEmpty else { return }
    let layout = SQLiteLayout(migration.stored)
    for (number, expression) in migration.expressions.enumerated() { try collect(number, expression, layout) }
  }

  private func collect(
    _ number: Int, _ expression: BackfillExpression, _ layout: SQLiteLayout
  ) throws(StoreError) {
    let request = StoreRequest(entity: expression.entity, includesSubentities: false)
    var translator = PredicateTranslator(layout, entity: expression.entity)
    var value = try translator.plain(expression.operand)
    let rows = try translator.filter(request)
    if let conversion = expression.conversion { value = "trellis_convert(\(conversion), \(value))" }
    let table = MigrationStatements.values(number)
    try database.execute("CREATE TABLE \(table) (key INTEGER PRIMARY KEY, value)", doing: "compute values")
    let statement = try database.prepare(
      "INSERT INTO \(table) SELECT \(translator.rootAlias).\(SQLName.id), \(value) FROM \(translator.rootSource)\(rows)",
      parameters: translator.parameters)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var shape = RequestShape()
    try shape.describe(
      BatchUpdate(request: request, assignments: [.init(property: 0, value: expression.operand)]))
    try database.bind(shape.values, to: statement)
    while try database.step(statement.pointer, doing: "compute values") {}
  }
}
