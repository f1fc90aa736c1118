import Foundation
import TrellisModel
import TrellisStorage

/// The defaults of columns, which a row gets that another program inserts: a new key, the first version, the root entity of
/// a hierarchy, and the defaults of the model. Trellis itself writes all values.
///
/// Defaults that another program has set stay, as do those of a migration for programs with a former model.
struct ColumnDefaults {
  private struct Column: Hashable {
    let table: String
    let name: String
  }

  /// The default of a column as the store has set it.
  private struct Default: Codable {
    let table: String
    let column: String
    /// The expression that was set.
    let expression: String
    /// The expression in the server's words.
    let present: String
  }

  private let connection: ServerConnection
  private let setup: PostgresSetup
  /// The expressions that the columns should have, by the names on the server.
  private let wanted: [Column: String]

  init(_ connection: ServerConnection, _ setup: PostgresSetup) {
    self.connection = connection
    self.setup = setup
    wanted = Self.wanted(setup)
  }

  private var names: SQLNames { setup.layout.names }

  /// Gives the columns the defaults of the store's model. Without the right to do so, or while others use the tables for
  /// long, it is left to the next opening.
  func open() throws {
    guard !setup.options.isReadOnly else { return }
    let found = try read()
    guard found.isOfModel, !changes(found).isEmpty || found.recorded.keys.contains(where: { wanted[$0] == nil }) else {
      return
    }
    for _ in 0..<Self.mostAttempts {
      do {
        return try connection.transaction { connection in
          try connection.limitLocks()
          try connection.lockChanges(ofSchema: setup.options.schema)
          try change()
        }
      } catch let error as ServerError {
        if error.isRefusalOfWrites || error.isOfMissingFeature { return }
        guard error.state == ServerError.lockState || error.state == ServerError.endedState || error.isTransient else {
          throw error
        }
        Thread.sleep(forTimeInterval: .random(in: 0.05...0.15))
      }
    }
  }

  /// The number of times that an opening tries to get the tables.
  private static let mostAttempts = 20

  // MARK: What there is

  private struct Found {
    /// Whether the store has the program's model.
    var isOfModel: Bool
    /// What the store has set.
    var recorded: [Column: Default]
    /// The defaults of all columns.
    var present: [Column: String]
  }

  private func read() throws -> Found {
    var parameters = ServerParameters()
    parameters.add(setup.options.schema)
    let (results, failure) = try connection.run([
      ServerStatement("SELECT \(names.metadata(.checksum)), \(names.metadata(.defaults))"),
      ServerStatement(
        "SELECT c.relname::text, a.attname::text, pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef AS d JOIN pg_class AS c "
          + "ON c.oid = d.adrelid JOIN pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum "
          + "WHERE c.relnamespace = (SELECT n.oid FROM pg_namespace AS n WHERE n.nspname = $1)", parameters),
    ])
    if let failure { throw failure }
    let (own, defaults) = (results[0], results[1])
    let list = (try? JSONDecoder().decode([Default].self, from: Data((own.text(0, 1) ?? "").utf8))) ?? []
    var found = Found(
      isOfModel: TextBytes.areEqual(own.text(0, 0) ?? "", setup.model.checksum),
      recorded: Dictionary(list.map { (Column(table: $0.table, name: $0.column), $0) }) { first, _ in first },
      present: [:])
    for row in 0..<defaults.count {
      guard let table = defaults.text(row, 0), let name = defaults.text(row, 1) else { continue }
      found.present[Column(table: table, name: name)] = defaults.text(row, 2) ?? ""
    }
    return found
  }

  // MARK: What there should be

  private static func wanted(_ setup: PostgresSetup) -> [Column: String] {
    let names = setup.layout.names
    var wanted: [Column: String] = [:]
    for root in setup.model.entities where root.parent == nil {
      let table = names.fitted(root.name)
      wanted[Column(table: table, name: "_id")] = "\(names.qualifier)\(keyFunction)"
      wanted[Column(table: table, name: "_version")] = "1"
      if root.isInHierarchy, !root.isAbstract {
        wanted[Column(table: table, name: "_entity")] = SQLName.literal(root.name)
      }
      // The fields of a composite that is nil are nil.
      let grouped = Set(root.optionalGroups.flatMap { $0.presence..<$0.fields.upperBound })
      // A row of another entity in the hierarchy has no value for a child's column.
      for column in setup.schema.columns(of: root) where column.entity == root.index {
        guard let attribute = root.properties[column.property].attribute, !grouped.contains(column.property) else {
          continue
        }
        let expression =
          switch attribute.description.defaultValue {
          case .now: "now()"
          case .new: "gen_random_uuid()"
          case .value, .list: attribute.initialValue.flatMap { ServerLiteral.text($0, column.type) }
          case nil: String?.none
          }
        if let expression { wanted[Column(table: table, name: names.plain(column.name))] = expression }
      }
    }
    return wanted
  }

  private static let keyFunction = "trellis_new_key()"

  /// Gives out a key, as a program that inserts several objects does at once. Another program that takes keys waits until
  /// the transaction ends.
  private var keyFunctionStatement: String {
    "CREATE OR REPLACE FUNCTION \(names.qualifier)\(Self.keyFunction) RETURNS bigint LANGUAGE sql VOLATILE AS "
      + "$fn$UPDATE \(names.keys) SET \"next\" = \"next\" + 1 RETURNING \"next\" - 1$fn$"
  }

  // MARK: Changes

  /// The columns to change, each with its new default or nil for none.
  private func changes(_ found: Found) -> [(column: Column, expression: String?)] {
    let (recorded, present) = (found.recorded, found.present)
    var changes: [(column: Column, expression: String?)] = []
    for (column, expression) in wanted {
      let isOwn = present[column].map { $0 == recorded[column]?.present } ?? true
      let isSet = present[column] != nil && recorded[column]?.expression == expression
      if isOwn && !isSet { changes.append((column, expression)) }
    }
    for (column, former) in recorded where wanted[column] == nil && present[column] == former.present {
      changes.append((column, nil))
    }
    return changes.sorted { ($0.column.table, $0.column.name) < ($1.column.table, $1.column.name) }
  }

  private func change() throws {
    let before = try read()
    let changes = Dictionary(grouping: changes(before), by: \.column.table)
    try connection.lock(changes.keys.sorted().map(SQLName.quoted).map { names.qualifier + $0 }, "ACCESS EXCLUSIVE")
    try connection.runAll([keyFunctionStatement])
    for (table, changes) in changes.sorted(by: { $0.key < $1.key }) {
      let actions = changes.map { change in
        "ALTER COLUMN \(SQLName.quoted(change.column.name)) "
          + (change.expression.map { "SET DEFAULT \($0)" } ?? "DROP DEFAULT")
      }
      try connection.runAll([
        "ALTER TABLE \(names.qualifier)\(SQLName.quoted(table)) \(actions.joined(separator: ", "))"
      ])
    }
    // A default that another program has set is not recorded.
    let set = Set(changes.values.joined().map(\.column))
    let found = try read().present
    let list = wanted.compactMap { column, expression -> Default? in
      guard set.contains(column) || before.recorded[column]?.present == found[column], let text = found[column] else {
        return nil
      }
      return Default(table: column.table, column: column.name, expression: expression, present: text)
    }.sorted { ($0.table, $0.column) < ($1.table, $1.column) }
    let text = String(decoding: try JSONEncoder().encode(list), as: UTF8.self)
    try connection.run(MetadataStatements(names).set(.defaults, text))
  }
}
