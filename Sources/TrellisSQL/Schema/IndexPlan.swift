package import TrellisSchema

/// The indexes of all tables: for references, unique keys and the model's index declarations.
package struct IndexPlan: Sendable {
  package private(set) var all: [PlannedIndex] = []
  /// The prefix of the names of declared indexes.
  package static let declaredPrefix = "_index."

  /// - Complexity: linear in the size of the model.
  package init(_ model: Model) {
    for entity in model.entities {
      addReferences(entity, model)
      for key in entity.uniqueKeys where key.entity == entity.index { addUniqueKey(key, entity, model) }
    }
    // Declared indexes come last, so that an index which another one covers is left out.
    for entity in model.entities { for index in entity.indexes { add(index, entity, model) } }
  }

  private mutating func addReferences(_ entity: Entity, _ model: Model) {
    for column in entity.columns[entity.firstOwnColumn...] {
      guard case .reference(let property, _) = column.content,
        let relationship = entity.properties[property].relationship
      else { continue }
      var names = [column.name]
      if case .column(_, .some(let order)) = relationship.home { names.append(entity.columns[order].name) }
      let inverse = model.inverse(of: relationship)
      all.append(
        PlannedIndex(
          name: Self.referenceName(entity, property), entity: entity, properties: [property],
          columns: names.map { .init(name: $0, isDescending: false) },
          isUnique: inverse?.isToMany == false, model: model))
    }
  }

  private mutating func addUniqueKey(_ key: UniqueKey, _ entity: Entity, _ model: Model) {
    all.append(
      PlannedIndex(
        name: "_unique.\(entity.name).\(key.properties.map { entity.properties[$0].name }.joined(separator: "."))",
        entity: entity, properties: key.properties,
        columns: key.properties.compactMap { Self.column($0, entity, isDescending: false) }, isUnique: true,
        model: model))
  }

  private mutating func add(_ index: Index, _ entity: Entity, _ model: Model) {
    let parts = index.elements.map { entity.properties[$0.property].name + ($0.isDescending ? "-" : "") }
    let planned = PlannedIndex(
      name: "\(Self.declaredPrefix)\(entity.name).\(parts.joined(separator: "."))", entity: entity,
      properties: index.elements.map(\.property),
      columns: index.elements.compactMap { Self.column($0.property, entity, isDescending: $0.isDescending) },
      isUnique: false, model: model)
    // A partial index does not contain every row, so it covers no other index.
    let isCovered = all.contains {
      $0.root == planned.root && $0.condition == nil && $0.columns.starts(with: planned.columns)
    }
    if !isCovered { all.append(planned) }
  }

  /// The name of a reference's index, as statements use it.
  static func referenceName(_ entity: Entity, _ property: Int) -> String {
    "_reference.\(entity.name).\(entity.properties[property].name)"
  }

  private static func column(_ property: Int, _ entity: Entity, isDescending: Bool) -> PlannedIndex.IndexedColumn? {
    entity.properties[property].column.map { .init(name: entity.columns[$0].name, isDescending: isDescending) }
  }
}

/// One index of a table.
package struct PlannedIndex: Sendable {
  package struct IndexedColumn: Hashable, Sendable {
    package let name: String
    package let isDescending: Bool
  }

  package let name: String
  /// The entity that declares the reference, unique key or index.
  package let entity: Int
  package let properties: [Int]
  package let columns: [IndexedColumn]
  package let isUnique: Bool
  package let root: Int
  /// The condition on the rows that a child entity's unique key applies to. Nil if it applies to the whole table.
  let condition: String?
  private let tableName: String

  init(
    name: String, entity: Entity, properties: [Int], columns: [IndexedColumn], isUnique: Bool, model: Model
  ) {
    self.name = name
    self.entity = entity.index
    self.properties = properties
    self.columns = columns
    self.isUnique = isUnique
    root = entity.root
    tableName = model.entities[entity.root].name
    // A reference column of a child entity is null in all other rows, so its index needs no condition.
    let isPartial = isUnique && entity.parent != nil && !name.hasPrefix("_reference.")
    let names = entity.subtree.map { SQLName.literal(model.entities[$0].name) }.joined(separator: ", ")
    condition = isPartial ? "\(SQLName.entity) IN (\(names))" : nil
  }

  package var statement: String {
    let list = columns.map { SQLName.quoted($0.name) + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
    let kind = isUnique ? "CREATE UNIQUE INDEX" : "CREATE INDEX"
    let rows = condition.map { " WHERE \($0)" } ?? ""
    return "\(kind) \(SQLName.quoted(name)) ON \(SQLName.quoted(tableName)) (\(list))\(rows)"
  }

  /// The columns as SQLite lists them in the error message of a violated unique key.
  package var violation: String { columns.map { "\(tableName).\($0.name)" }.joined(separator: ", ") }
}
