package import TrellisModel

/// The full-text tables of a file: one for each searchable column, and one table of marks.
///
/// A mark says that a row's texts have changed since they were indexed. Triggers insert marks, even if another program
/// writes. A commit indexes the marked rows and deletes the marks. A search tests the marked rows in addition to the
/// rows from the index. So a result is correct no matter which program wrote last.
package struct SearchPlan: Sendable {
  /// One searchable column.
  package struct IndexedColumn: Sendable {
    /// The quoted name of the full-text table.
    package let table: String
    /// The quoted name of the column.
    let column: String
  }

  /// The table of a root entity, with its columns.
  package struct IndexedTable: Sendable {
    /// The entity's name, plain and quoted.
    let entity: String
    let name: String
    package let columns: [IndexedColumn]
  }

  /// The tables, by the root entity's number.
  package let tables: [Int: IndexedTable]

  /// - Complexity: linear in the size of the model.
  package init(_ model: Model) {
    var tables: [Int: IndexedTable] = [:]
    // Most models have no such text, and their entities are not resolved for it.
    guard model.hasSearchableText else {
      self.tables = tables
      return
    }
    for root in model.entities where root.parent == nil {
      var known: Set<String> = []
      var columns: [IndexedColumn] = []
      for number in root.subtree {
        let entity = model.entities[number]
        for case .attribute(let attribute) in entity.properties where attribute.description.isSearchable {
          guard let column = attribute.column, known.insert(entity.columns[column].name).inserted else { continue }
          let name = entity.columns[column].name
          // SQLite makes shadow tables with this name as their prefix. The suffix keeps them apart from other columns'
          // tables.
          columns.append(
            IndexedColumn(table: SQLName.quoted("\(Self.prefix)\(root.name).\(name).fts"), column: SQLName.quoted(name))
          )
        }
      }
      guard !columns.isEmpty else { continue }
      tables[root.index] = IndexedTable(entity: root.name, name: SQLName.quoted(root.name), columns: columns)
    }
    self.tables = tables
  }

  /// A plan without columns.
  package init() { tables = [:] }

  package var isEmpty: Bool { tables.isEmpty }

  /// The prefix of the names of full-text tables.
  static let prefix = "_search."
  static let marks = "\"_searchMarks\""

  /// The full-text table of a quoted column. Nil if there is none.
  func indexedColumn(_ column: String, of root: Int) -> IndexedColumn? {
    tables[root]?.columns.first { $0.column == column }
  }

  private var sorted: [IndexedTable] { tables.sortedByKey.map(\.value) }
}

// MARK: Statements

extension SearchPlan {
  /// The tables and triggers that a file must have, in the order of their creation.
  package var parts: [CheckStatements.Part] {
    guard !isEmpty else { return [] }
    let marks =
      "CREATE TABLE \(Self.marks) (\n  \"entity\" TEXT NOT NULL,\n  \"key\" INTEGER NOT NULL,\n"
      + "  PRIMARY KEY (\"entity\", \"key\")\n) STRICT, WITHOUT ROWID"
    var parts = [CheckStatements.Part(feature: "_searchMarks", marks)]
    for table in sorted {
      for column in table.columns {
        let name = String(column.table.dropFirst().dropLast())
        parts.append(
          CheckStatements.Part(
            feature: name,
            "CREATE VIRTUAL TABLE \(column.table) USING fts5(words, tokenize = ascii, detail = none, columnsize = 0)"))
      }
      parts += table.triggers.map(\.part)
    }
    return parts
  }

  /// The temporary triggers of a connection. Triggers in the file are not trusted, and do not run on it.
  package var triggersOfConnection: [String] {
    sorted.flatMap { table in table.triggers.map { $0.statement(isTemporary: true) } }
  }

  /// Finds the search tables and triggers that a file has: names, each with its SQL.
  package static let present =
    "SELECT type, name, sql FROM sqlite_schema WHERE name = '_searchMarks' OR (sql IS NOT NULL AND ("
    + "type = 'trigger' AND name GLOB '_search.*' OR sql LIKE 'CREATE VIRTUAL TABLE \"_search.%'))"

  /// Marks all rows, so that the next commit indexes them.
  package var markAll: [String] {
    sorted.map { table in
      let known = table.columns.map { "\($0.column) IS NOT NULL" }.joined(separator: " OR ")
      return "INSERT OR IGNORE INTO \(Self.marks) SELECT \(SQLName.literal(table.entity)), \(SQLName.id) "
        + "FROM \(table.name) WHERE \(known)"
    }
  }

  /// Finds out whether any row is marked.
  package static let findMarks = "SELECT 1 FROM \(marks) LIMIT 1"

  /// Indexes the marked rows and deletes the marks.
  package var indexMarked: [String] {
    sorted.flatMap { table -> [String] in
      let entity = SQLName.literal(table.entity)
      let marked = "FROM \(Self.marks) AS m WHERE m.\"entity\" = \(entity)"
      return table.columns.flatMap { column in
        [
          "DELETE FROM \(column.table) WHERE rowid IN (SELECT m.\"key\" \(marked))",
          "INSERT INTO \(column.table) (rowid, words) SELECT t.\(SQLName.id), trellis_search_words(t.\(column.column)) "
            + "FROM \(Self.marks) AS m CROSS JOIN \(table.name) AS t ON t.\(SQLName.id) = m.\"key\" "
            + "WHERE m.\"entity\" = \(entity) AND t.\(column.column) IS NOT NULL",
        ]
      }
    } + ["DELETE FROM \(Self.marks)"]
  }

  /// Finds the rows that are not marked and differ from their full-text index.
  package var findDifferences: [(entity: String, statement: String)] {
    sorted.flatMap { table in
      let isUnmarked =
        "NOT EXISTS (SELECT 1 FROM \(Self.marks) AS m WHERE m.\"entity\" = \(SQLName.literal(table.entity)) "
        + "AND m.\"key\" = t.\(SQLName.id))"
      return table.columns.map { column in
        (
          table.entity,
          "SELECT t.\(SQLName.id) FROM \(table.name) AS t LEFT JOIN \(column.table) AS f ON f.rowid = t.\(SQLName.id) "
            + "WHERE f.words IS NOT trellis_search_words(t.\(column.column)) AND \(isUnmarked)"
        )
      }
    }
  }
}

extension SearchPlan.IndexedTable {
  var triggers: [Trigger] {
    let list = columns.map(\.column).joined(separator: ", ")
    let differs = ([SQLName.id] + columns.map(\.column)).map { "old.\($0) IS NOT new.\($0)" }
    return [
      trigger("insert", "INSERT", "", marking: ["new"]),
      trigger(
        "update", "UPDATE OF \(SQLName.id), \(list)", " WHEN \(differs.joined(separator: " OR "))",
        marking: ["old", "new"]),
      trigger("delete", "DELETE", "", marking: ["old"]),
    ]
  }

  private func trigger(_ word: String, _ event: String, _ condition: String, marking rows: [String]) -> Trigger {
    Trigger(
      name: "\(SearchPlan.prefix)\(entity).\(word)", event: event, table: name, condition: condition,
      actions: rows.map {
        "INSERT OR IGNORE INTO \(SearchPlan.marks) VALUES (\(SQLName.literal(entity)), \($0).\(SQLName.id))"
      })
  }
}

// MARK: - Searching

extension PredicateTranslator {
  /// Whether a text has the words of a query. If the column has a full-text table, that table finds candidates, and the
  /// text itself decides.
  mutating func matching(
    _ left: TranslatedOperand, _ right: TranslatedOperand, _ comparison: Comparison
  ) throws(StoreError) -> String {
    let test = search("trellis_search", left, right, comparison)
    guard case .path(let path) = comparison.left, case .value(let number, isNull: false) = right.content,
      let column = try indexedColumn(path)
    else { return test }
    let asked = parameter(number, .searchTerms)
    return "(\(column.key) IN (SELECT rowid FROM \(column.table) WHERE \(column.table) MATCH \(asked) "
      + "UNION ALL SELECT \"key\" FROM \(SearchPlan.marks) WHERE \"entity\" = \(column.entity)) AND \(test))"
  }
}
