import TrellisModel
import TrellisStorage

/// The tables with the values of stored derived attributes, one for each entity that declares such attributes. Each object
/// of the entity has a row there, with its key.
///
/// Triggers of the server keep the values, whoever writes: each statement marks the rows that it changes, and the end of
/// the transaction computes the values of the objects that read them. The rows of the objects themselves are neither
/// locked nor written for this. Expressions that the server does not compute have no column, and are computed by each
/// request.
///
/// The name of a table has a digest of the expressions, so that programs whose models differ in these use different
/// tables, which are all kept.
struct DerivedTables: Sendable {
  struct Column: Sendable {
    let attribute: String
    /// The quoted name.
    let name: String
    /// The expression over the object with the alias of a request's root.
    let expression: String
    let type: ServerType
  }

  struct Table: Sendable {
    /// The entity that declares the attributes.
    let entity: Int
    /// Identifies the expressions and the indexes.
    let digest: String
    /// The qualified name.
    let name: String
    let columns: [Column]
    /// The FROM clause of the expressions, the alias and the condition of the objects, and the values of all these.
    let source: String
    let root: String
    let condition: String
    let parameters: ServerParameters
    /// The columns of each index: the number of the column, and whether it descends.
    let indexes: [[(column: Int, isDescending: Bool)]]
    let reads: DerivedReads
  }

  private(set) var tables: [Table] = []

  init() {}

  /// The tables that a model needs.
  ///
  /// - Parameter functions: the functions of the store; nil if it has none.
  init(_ setup: PostgresSetup, _ functions: ServerFunctions?) throws(StoreError) {
    for group in DerivedPlan.groups(of: setup.model) {
      if let table = try Table(group, setup, functions) { tables.append(table) }
    }
  }

  /// Leaves tables out.
  func keeping(_ isKept: (Table) -> Bool) -> DerivedTables {
    var result = DerivedTables()
    result.tables = tables.filter(isKept)
    return result
  }

  /// The table and the column with the values of an attribute; nil if there is none.
  func column(of attribute: Attribute) -> (table: String, column: Column)? {
    guard let table = tables.first(where: { $0.entity == attribute.entity }),
      let column = table.columns.first(where: { $0.attribute == attribute.name })
    else { return nil }
    return (table.name, column)
  }
}

extension DerivedTables.Table {
  /// - Returns: nil if the server computes none of the expressions.
  fileprivate init?(
    _ group: DerivedPlan.Group, _ setup: PostgresSetup, _ functions: ServerFunctions?
  ) throws(StoreError) {
    let names = setup.layout.names
    let described = setup.model.entities[group.entity]
    var conditions = ExactConditions(setup, entity: group.entity, .none, functions)
    var columns: [DerivedTables.Column] = []
    var operands: [Operand] = []
    for column in group.columns {
      guard let (sql, type) = try conditions.expression(column.value) else { continue }
      columns.append(
        .init(attribute: column.attribute, name: names.column(column.attribute), expression: sql, type: type))
      operands.append(column.value)
    }
    if columns.isEmpty { return nil }
    entity = group.entity
    self.columns = columns
    source = conditions.paths.rootSource
    root = conditions.paths.rootAlias
    condition = setup.layout.tables[group.entity].subtreeTerm.map { " AND " + $0(conditions.paths.rootAlias) } ?? ""
    parameters = conditions.parameters
    reads = DerivedReads(operands, of: group.entity, in: setup.model, names: names)
    // An index has the derived attributes before the first other one.
    indexes = described.indexes.compactMap { index in
      let elements = index.elements.map { element in
        (
          column: columns.firstIndex { $0.attribute == described.properties[element.property].name },
          isDescending: element.isDescending
        )
      }
      let leading = elements.prefix { $0.column != nil }.compactMap { element in
        element.column.map { (column: $0, isDescending: element.isDescending) }
      }
      return leading.isEmpty ? nil : leading
    }
    var text = "\(source)\(condition)"
    for column in columns { text += "\n\(column.attribute) \(column.type.name) \(column.expression)" }
    for index in indexes { text += "\n\(index.map { "\($0.column)\($0.isDescending ? "-" : "+")" })" }
    for watch in reads.watches {
      text += "\n\(watch.table) \(watch.keys) \(watch.columns.sorted()) \(watch.place) \(watch.column)"
    }
    text += "\n\(parameters.types) \(parameters.places.map { $0.map(String.init(describing:)) ?? "NULL" })"
    digest = String(ContentDigest(of: Array(text.utf8) + parameters.bytes).text.prefix(16))
    name = names.table("\(DerivedTables.prefix)\(described.name).\(digest)")
  }
}

extension DerivedTables {
  static let prefix = "_derived."
  static let functionPrefix = "_derive."
  static let markPrefix = "_mark."
}

extension SQLNames {
  /// The table with the rows that a transaction has changed, until its end.
  var derivedMarks: String { table("_derivedMarks") }
}
