import TrellisModel
import TrellisStorage

/// The tables with the values of stored derived attributes, one for each entity that declares such attributes. Each object
/// of the entity has a row there, with its key.
///
/// Triggers of the server keep the values current for every writer: each statement marks the rows that it changes, and the
/// end of the transaction computes the values of the objects that read them. The rows of the objects themselves are neither
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

  init(_ tables: [Table]) { self.tables = tables }

  /// Leaves tables out.
  func keeping(_ isKept: (Table) -> Bool) -> DerivedTables {
    DerivedTables(tables.filter(isKept))
  }

  /// The table and the column with the values of an attribute. Nil for an attribute without a column.
  func column(of attribute: Attribute) -> (table: String, column: Column)? {
    guard let table = tables.first(where: { $0.entity == attribute.entity }),
      let column = table.columns.first(where: { $0.attribute == attribute.name })
    else { return nil }
    return (table.name, column)
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
