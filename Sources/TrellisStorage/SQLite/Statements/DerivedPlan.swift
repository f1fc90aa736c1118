package import TrellisModel

/// The columns of a file that keep the values of stored derived attributes, and one table of marks.
///
/// A mark says that the values of a row may have changed. Triggers insert marks, even if another program writes. A
/// commit computes the values of the marked rows and deletes the marks. No row that a context reads or writes has these
/// columns, so they change without a new version of the row, and without a conflict.
package struct DerivedPlan: Sendable {
  /// The stored derived attributes that an entity declares.
  package struct Group: Sendable {
    /// The entity's number, its name as a literal, and the quoted name of its table.
    package let entity: Int
    let name: String
    let table: String
    package let columns: [Column]
  }

  package struct Column: Sendable {
    /// The quoted name.
    let name: String
    /// The name of the attribute.
    package let attribute: String
    /// The expression, without other stored attributes.
    package let value: Operand
  }

  package let groups: [Group]
  private let triggers: [Trigger]
  private let indexes: [PlannedIndex]

  /// A plan without columns.
  package init() {
    groups = []
    triggers = []
    indexes = []
  }

  /// - Complexity: linear in the size of the model.
  package init(_ model: Model) {
    groups = Self.groups(of: model)
    if groups.isEmpty {
      triggers = []
      indexes = []
      return
    }
    triggers = Trigger.all(for: groups, in: model)
    indexes = model.entities.flatMap { entity in
      entity.indexes.filter { $0.isDerived(in: entity) }.map {
        PlannedIndex(declared: $0, prefix: "\(Self.prefix)index.", entity, model)
      }
    }
  }

  /// The stored derived attributes of a model.
  package static func groups(of model: Model) -> [Group] {
    // Most models have none, and their entities are not resolved for it.
    model.hasStoredDerivations ? (try? readGroups(of: model)) ?? [] : []
  }

  private static func readGroups(of model: Model) throws -> [Group] {
    try model.entities.compactMap { entity in
      let columns = try entity.storedDerivations.map { attribute in
        Column(
          name: SQLName.quoted(model.derivedColumn(of: attribute)), attribute: attribute.name,
          value: try model.derivation(of: attribute)?.operand.computedThroughout ?? .value(.null))
      }
      if columns.isEmpty { return nil }
      return Group(
        entity: entity.index, name: SQLName.literal(entity.name),
        table: SQLName.quoted(model.name(ofEntity: entity.root)), columns: columns)
    }
  }

  package var isEmpty: Bool { groups.isEmpty }

  static let marks = "\"_derivedMarks\""
  fileprivate static let prefix = "_derived."
}

// MARK: - Statements

extension DerivedPlan {
  /// The table, triggers and indexes that a file must have, in the order of their creation. The columns belong to their
  /// tables.
  package var parts: [CheckStatements.Part] {
    guard !isEmpty else { return [] }
    let marks =
      "CREATE TABLE \(Self.marks) (\n  \"entity\" TEXT NOT NULL,\n  \"key\" INTEGER NOT NULL,\n"
      + "  PRIMARY KEY (\"entity\", \"key\")\n) STRICT, WITHOUT ROWID"
    return [CheckStatements.Part(feature: "_derivedMarks", marks)]
      + triggers.map(\.part)
      + indexes.map { CheckStatements.Part(feature: $0.name, $0.statement) }
  }

  /// The temporary triggers of a connection. Triggers in the file are not trusted, and do not run on it.
  package var triggersOfConnection: [String] { triggers.map { $0.statement(isTemporary: true) } }

  /// Finds the table, triggers and indexes that a file has: the type, the name and the SQL of each.
  package static let present =
    "SELECT type, name, sql FROM sqlite_schema WHERE name = '_derivedMarks' OR "
    + "type IN ('trigger', 'index') AND name GLOB '_derived.*'"

  /// Marks all rows, so that their values are computed.
  package var markAll: [String] {
    groups.map { "INSERT OR IGNORE INTO \(Self.marks) SELECT \($0.name), \(SQLName.id) FROM \($0.table)" }
  }

  /// Finds out whether any row is marked.
  package static let findMarks = "SELECT 1 FROM \(marks) LIMIT 1"
  package static let deleteMarks = "DELETE FROM \(marks)"
}

extension DerivedPlan.Group {
  /// The statement that computes the values of the marked rows.
  package func computation(in layout: SQLiteLayout) throws(StoreError) -> (text: String, parameters: [Parameter]) {
    var translator = PredicateTranslator(layout, entity: entity)
    let names = columns.map(\.name).joined(separator: ", ")
    let values = try selection(columns, &translator)
    let text =
      "UPDATE \(table) AS o SET (\(names)) = (\(values)) WHERE o.\(SQLName.id) IN "
      + "(SELECT \"key\" FROM \(DerivedPlan.marks) WHERE \"entity\" = \(name))\(subtree(in: layout))"
    return (text, translator.parameters)
  }

  /// The query for the keys of the rows that are not marked and have another value than the expression.
  package func differences(
    of column: DerivedPlan.Column, in layout: SQLiteLayout
  ) throws(StoreError) -> (text: String, parameters: [Parameter]) {
    var translator = PredicateTranslator(layout, entity: entity)
    let value = try selection([column], &translator)
    let text =
      "SELECT o.\(SQLName.id) FROM \(table) AS o WHERE o.\(column.name) IS NOT (\(value)) AND NOT EXISTS "
      + "(SELECT 1 FROM \(DerivedPlan.marks) AS m WHERE m.\"entity\" = \(name) AND m.\"key\" = o.\(SQLName.id))\(subtree(in: layout))"
    return (text, translator.parameters)
  }

  /// The condition that leaves the rows of other entities of the table out.
  private func subtree(in layout: SQLiteLayout) -> String {
    layout.tables[entity].subtreeTerm.map { " AND " + $0("o") } ?? ""
  }

  private func selection(
    _ columns: [DerivedPlan.Column], _ translator: inout PredicateTranslator
  ) throws(StoreError) -> String {
    var values: [String] = []
    for column in columns { values.append(try translator.value(column.value).sql) }
    return "SELECT \(values.separated(by: ", ")) FROM \(translator.rootSource) "
      + "WHERE \(translator.rootAlias).\(SQLName.id) = o.\(SQLName.id)"
  }

  /// A request with the values of the expressions, in the order of the statement's parameters.
  package func request(for columns: [DerivedPlan.Column]) -> BatchUpdate {
    BatchUpdate(
      request: StoreRequest(entity: entity), assignments: columns.map { .init(property: 0, value: $0.value) })
  }
}

// MARK: - Triggers

extension Trigger {
  /// The triggers that mark the objects whose stored values depend on a changed row.
  fileprivate static func all(for groups: [DerivedPlan.Group], in model: Model) -> [Trigger] {
    var tables: [String: Watched] = [:]
    for group in groups {
      let reads = DerivedReads(group.columns.map(\.value), of: group.entity, in: model)
      for watch in reads.watches {
        tables[watch.table, default: Watched(keys: watch.keys)].add(
          watch.columns,
          DerivedMark(
            entity: group.name, keys: { reads.readers(of: watch.place, keys: "SELECT \($0).\(watch.column) AS k") }))
      }
    }
    return tables.sortedByKey.flatMap { $0.value.triggers(on: $0.key) }
  }
}

/// The objects to mark after the change of a row.
private struct DerivedMark {
  /// The entity's name as a literal.
  let entity: String
  /// A query for the keys, from `old` or `new`.
  let keys: (_ row: String) -> String

  func action(_ row: String) -> String {
    // Not OR IGNORE: an insert with a conflict clause of its own would replace it.
    "INSERT INTO \(DerivedPlan.marks) SELECT \(entity), k FROM (\(keys(row))) WHERE k IS NOT NULL ON CONFLICT DO NOTHING"
  }
}

/// A table that expressions read.
private struct Watched {
  /// The quoted names of the key's columns, and of those that expressions read.
  let keys: [String]
  private var columns: [String] = []
  private var marks: [DerivedMark] = []

  init(keys: [String]) { self.keys = keys }

  mutating func add(_ columns: [String], _ mark: DerivedMark) {
    self.columns += columns
    marks.append(mark)
  }

  func triggers(on table: String) -> [Trigger] {
    let columns = keys + Set(columns).sorted()
    let differs = columns.map { "old.\($0) IS NOT new.\($0)" }.joined(separator: " OR ")
    return [
      trigger(table, "insert", "INSERT", "", ["new"]),
      trigger(table, "update", "UPDATE OF \(columns.joined(separator: ", "))", " WHEN \(differs)", ["old", "new"]),
      trigger(table, "delete", "DELETE", "", ["old"]),
    ]
  }

  private func trigger(
    _ table: String, _ word: String, _ event: String, _ condition: String, _ rows: [String]
  ) -> Trigger {
    var actions: [String] = []
    for action in rows.flatMap({ row in marks.map { $0.action(row) } }) where !actions.contains(action) {
      actions.append(action)
    }
    return Trigger(
      name: "\(DerivedPlan.prefix)\(table).\(word)", event: event, table: SQLName.quoted(table), condition: condition,
      actions: actions)
  }
}
