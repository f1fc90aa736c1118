import TrellisStorage
import TrellisModel

/// Tells what a store has and the model does not, and what the model has and the store does not.
///
/// A model that was given, or a store from which tables were lost, may differ from each other. Without this, the rows and
/// values in between are missing from the copy and from its report.
struct UnmatchedData {
  private let file: StoreFile
  private let translation: ModelTranslation
  private let layout: StoreLayout
  private let findings: FindingCollector

  init(_ plan: CopyPlan) {
    file = plan.file
    translation = plan.translation
    layout = plan.layout
    findings = plan.findings
  }

  /// - Throws: ``CoreDataError``.
  /// - Complexity: linear in the rows of unknown entities, and in the values of unknown columns.
  func tell() throws {
    try tellEntities()
    for root in translation.entities.indices where translation.entities[root].parent == nil {
      guard let table = layout.entities[root].table else {
        try tellLostTable(root)
        continue
      }
      try tellColumns(of: table, root)
      for entity in layout.subtree(of: root) { try tellLostProperties(of: entity, in: table) }
    }
  }

  // MARK: In the store only

  /// Entities that the store names and the model does not. Their rows in the table of a known hierarchy are told as they
  /// are read.
  private func tellEntities() throws {
    let known = Set(layout.entities.compactMap(\.number))
    var tables = Set(layout.entities.compactMap(\.table))
    for (number, name) in file.entityNames.sorted(by: { $0.key < $1.key }) {
      guard number < StoreFile.firstInternalNumber, !known.contains(number), let table = file.table(ofRoot: name),
        tables.insert(table).inserted
      else { continue }
      try tellRows(of: table, nil, .leftOut, name, nil, "is not in the model")
    }
  }

  /// Columns of a hierarchy that are those of no property.
  private func tellColumns(of table: String, _ root: Int) throws {
    let placed = placedColumns(of: table)
    let unwritten = unwrittenNames(below: root)
    for (name, column) in try file.columns(of: table).sorted(by: { $0.key < $1.key }) where !placed.contains(column) {
      // `Z_PK` and the like, `Z_FOK_PARENT`, and `Z10_QUOTE`, the entity of a partner.
      if name.hasPrefix("Z_") || NumberedName(name)?.hasUnderscoreBehind == true || !name.hasPrefix("Z") { continue }
      if unwritten.contains(name) || unwritten.contains(Self.withoutSuffix(name)) { continue }
      try tellRows(
        of: table, column, .leftOut, translation.entities[root].source.name, column,
        "is a column that no property of the model has")
    }
  }

  private func placedColumns(of table: String) -> Set<String> {
    var placed: Set<String> = []
    for entity in layout.entities {
      if entity.table == table { placed.formUnion(entity.attributes.compactMap { $0 }) }
      for place in entity.relationships {
        switch place {
        case .column(let column, _) where entity.table == table: placed.insert(column)
        case .memberColumn(table, let column): placed.insert(column)
        default: continue
        }
      }
    }
    return placed
  }

  /// The columns of attributes that a copy leaves out, which the notes about the model tell.
  private func unwrittenNames(below root: Int) -> Set<String> {
    var names: Set<String> = []
    for entity in layout.subtree(of: root) {
      let written = Set(translation.entities[entity].attributes.filter { !$0.source.isTransient }.map { $0.path.first })
      for attribute in translation.entities[entity].source.attributes where !written.contains(attribute.name) {
        names.insert("Z" + attribute.name.uppercased())
      }
    }
    return names
  }

  private static func withoutSuffix(_ name: String) -> String {
    String(name.reversed().drop { $0.isASCII && $0.isNumber }.reversed())
  }

  // MARK: In the model only

  /// A hierarchy that had rows at a time and has no table.
  private func tellLostTable(_ root: Int) throws {
    guard let number = layout.entities[root].number, let table = file.tables["Z_PRIMARYKEY"],
      let last = try file.columns(of: table)["Z_MAX"], let key = try file.columns(of: table)["Z_ENT"]
    else { return }
    let entity = translation.entities[root].source.name
    var count: Int64?
    try file.rows(
      "SELECT \(SQLName.quoted(last)) FROM \(SQLName.quoted(table)) WHERE \(SQLName.quoted(key)) = \(number) LIMIT 1"
    ) { row in count = row.integer(0) }
    guard let count, count > 0 else { return }
    findings.note(.leftOut, entity, nil, "has no table in the store, although there were rows", key: nil)
  }

  /// Properties without a place in the store. Those that are required are told as their rows are read.
  private func tellLostProperties(of entity: Int, in table: String) throws {
    let (translated, place) = (translation.entities[entity], layout.entities[entity])
    let name = translated.source.name
    for (attribute, column) in zip(translated.attributes, place.attributes)
    where column == nil && !attribute.source.isTransient && attribute.source.isOptional {
      findings.note(
        .repaired, name, attribute.path.joined(separator: "."), "has no column in the store, and is nil", key: nil)
    }
    for (relationship, place) in zip(translated.relationships, place.relationships)
    where place == .none && !relationship.source.isTransient {
      let message =
        relationship.source.isToMany
        ? "has no table in the store, and is empty" : "has no column in the store, and is nil"
      findings.note(.repaired, name, relationship.source.name, message, key: nil)
    }
  }

  // MARK: Rows

  /// Tells each row of a table; with a column, each that has a value in it.
  private func tellRows(
    of table: String, _ column: String?, _ outcome: CoreDataFinding.Outcome, _ entity: String, _ property: String?,
    _ message: String
  ) throws {
    let key = try file.columns(of: table)["Z_PK"].map(SQLName.quoted) ?? "rowid"
    let condition = column.map { " WHERE \(SQLName.quoted($0)) IS NOT NULL" } ?? ""
    try file.rows("SELECT \(key) FROM \(SQLName.quoted(table))\(condition) ORDER BY 1") { row in
      findings.note(outcome, entity, property, message, key: row.integer(0))
    }
  }
}
