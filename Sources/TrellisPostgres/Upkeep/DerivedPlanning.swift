import TrellisModel
import TrellisStorage

extension DerivedTables {
  /// The tables that a model needs.
  ///
  /// - Parameter functions: the functions of the store; nil if it has none.
  init(for setup: PostgresSetup, _ functions: ServerFunctions?) throws(StoreError) {
    var tables: [Table] = []
    for group in DerivedPlan.groups(of: setup.model) {
      if let table = try Table(group, setup, functions) { tables.append(table) }
    }
    self.init(tables)
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
    // The same in each schema, so that a restored or renamed one is known.
    text.replace(names.qualifier, with: "")
    digest = String(ContentDigest(of: Array(text.utf8) + parameters.bytes).text.prefix(16))
    name = names.table("\(DerivedTables.prefix)\(described.name).\(digest)")
  }
}
