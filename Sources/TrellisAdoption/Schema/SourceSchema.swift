/// The tables of a database, as the database tells them, with samples of their rows.
package struct SourceSchema: Sendable {
  /// A name for the model: that of the file or of the database.
  package var name: String
  package var tables: [SourceTable]
  /// What the database has besides tables with rows.
  package var notes: [AdoptionNote]

  package init(name: String, tables: [SourceTable] = [], notes: [AdoptionNote] = []) {
    self.name = name
    self.tables = tables
    self.notes = notes
  }
}

/// A table with its keys and rules.
package struct SourceTable: Sendable {
  package var name: String
  package var doc: String?
  package var columns: [SourceColumn]
  /// The columns of the primary key, in its order.
  package var primaryKey: [String] = []
  package var foreignKeys: [SourceForeignKey] = []
  /// Columns whose combined values are unique, besides those of the primary key.
  package var uniqueKeys: [[String]] = []
  package var indexes: [SourceIndex] = []
  /// The texts of conditions that rows obey, without the word CHECK.
  package var checks: [String] = []

  package init(_ name: String, columns: [SourceColumn] = [], doc: String? = nil) {
    self.name = name
    self.columns = columns
    self.doc = doc
  }

  func column(_ name: String) -> SourceColumn? { columns.first { $0.name == name } }

  /// Whether no two rows have the same values in some columns, and none of these is null.
  func isKey(_ names: [String]) -> Bool {
    let set = Set(names)
    return Set(primaryKey) == set || uniqueKeys.contains { Set($0) == set }
  }
}

/// A column with its declaration and what is known of its values.
package struct SourceColumn: Sendable {
  package var name: String
  /// The declared type; empty for a column without a type.
  package var declaredType: String
  package var isRequired: Bool
  /// The expression of the default; nil for no default.
  package var defaultValue: String?
  /// Whether the value is computed by the database, and the expression if it is known.
  package var generation: String?
  package var doc: String?
  /// The values that an enum of the database allows, in their order, and its name.
  package var allowed: (name: String, values: [String])?
  package var observed = ObservedValues()
  /// What the database takes for the same text.
  package var folding: TextFolding? = .exact

  package init(_ name: String, _ declaredType: String, isRequired: Bool = false) {
    self.name = name
    self.declaredType = declaredType
    self.isRequired = isRequired
  }
}

/// A reference to rows of another table, or of the same one.
package struct SourceForeignKey: Sendable {
  package var columns: [String]
  package var target: String
  package var targetColumns: [String]
  package var onDelete: String
  package var onUpdate: String

  package init(
    _ columns: [String], to target: String, _ targetColumns: [String], onDelete: String = "NO ACTION",
    onUpdate: String = "NO ACTION"
  ) {
    self.columns = columns
    self.target = target
    self.targetColumns = targetColumns
    self.onDelete = onDelete
    self.onUpdate = onUpdate
  }
}

/// An index that is no key.
package struct SourceIndex: Sendable {
  package var name: String
  package var columns: [(name: String, isDescending: Bool)]

  package init(_ name: String, _ columns: [(name: String, isDescending: Bool)]) {
    self.name = name
    self.columns = columns
  }
}
