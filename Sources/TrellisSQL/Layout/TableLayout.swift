package import TrellisSchema

/// The table and column names of each entity.
package struct TableLayout: Sendable {
  package let model: Model
  /// The tables, by entity number.
  package let tables: [EntityTable]
  /// The insert rank of each entity: referenced rows have lower ranks, except in cycles.
  package let insertRanks: [Int]
  /// The full-text tables that queries may use.
  package let search: SearchPlan

  /// - Complexity: linear in the number of columns of all entities, including inherited ones.
  package init(_ model: Model, search: SearchPlan = SearchPlan()) {
    self.model = model
    self.search = search
    tables = model.entities.map { EntityTable($0, in: model) }
    insertRanks = InsertOrder(model).ranks
  }

  /// The relationship of a property number. Nil if there is none.
  package func relationship(_ entity: Int, _ property: Int) -> Relationship? {
    guard model.entities.indices.contains(entity) else { return nil }
    let properties = model.entities[entity].properties
    return properties.indices.contains(property) ? properties[property].relationship : nil
  }

  /// The quoted name of an entity's column. Nil if there is none.
  func column(_ column: Int, of entity: Int) -> String? {
    let names = tables[entity].columns
    return names.indices.contains(column) ? names[column] : nil
  }
}

/// The part of a root entity's table that belongs to one entity.
///
/// This is a class, because every statement that runs passes it on.
package final class EntityTable: Sendable {
  package let entity: Int
  /// The quoted name of the table, which is the root entity's.
  package let name: String
  package let isInHierarchy: Bool
  /// The quoted names of the entity's columns, by column number.
  package let columns: [String]
  /// The columns to read for a row of the entity or of its subentities: the entity's columns, then those of the
  /// subentities.
  package let selectedColumns: [String]
  /// The positions of each subtree entity's columns in ``selectedColumns``.
  package let places: [Int: ContiguousArray<Int32>]
  /// The names of the subtree's entities, as the column ``SQLName/entity`` contains them.
  package let entityNames: [(name: String, number: Int)]
  /// The condition for rows of the subtree. Nil if the table has no other rows.
  package let subtreeTerm: (@Sendable (_ alias: String) -> String)?
  /// The condition for rows of exactly this entity. Nil if the table has no other rows.
  package let ownTerm: (@Sendable (_ alias: String) -> String)?

  init(_ entity: Entity, in model: Model) {
    self.entity = entity.index
    name = SQLName.quoted(model.entities[entity.root].name)
    isInHierarchy = entity.isInHierarchy
    columns = entity.columns.map { SQLName.quoted($0.name) }
    (selectedColumns, places) = Self.selection(of: entity, columns, in: model)
    entityNames = entity.subtree.map { (model.entities[$0].name, $0) }
    subtreeTerm = entity.parent == nil ? nil : Self.term(entity.subtree.map { model.entities[$0].name })
    ownTerm = entity.isInHierarchy ? Self.term([entity.name]) : nil
  }

  private static func selection(
    of entity: Entity, _ columns: [String], in model: Model
  ) -> (columns: [String], places: [Int: ContiguousArray<Int32>]) {
    // The entity's own columns are in order.
    guard entity.subtree.count > 1 else { return (columns, [:]) }
    var selected = columns
    var places: [Int: ContiguousArray<Int32>] = [:]
    var placeOfName: [String: Int32] = [:]
    for (place, column) in selected.enumerated() { placeOfName[column] = Int32(place) }
    for number in entity.subtree {
      let member = model.entities[number]
      var mine: ContiguousArray<Int32> = []
      for column in member.columns {
        let name = SQLName.quoted(column.name)
        let place = placeOfName[name] ?? Int32(selected.count)
        if placeOfName.updateValue(place, forKey: name) == nil { selected.append(name) }
        mine.append(place)
      }
      places[number] = mine
    }
    return (selected, places)
  }

  private static func term(_ names: [String]) -> @Sendable (String) -> String {
    let literals = names.map(SQLName.literal)
    let test = literals.count == 1 ? " = \(literals[0])" : " IN (\(literals.joined(separator: ", ")))"
    return { alias in "\(alias).\(SQLName.entity)\(test)" }
  }

  /// The columns to read for each row: the key, the row version, the entity (only in hierarchies), then the columns.
  package func selection(_ alias: String) -> String {
    var names = [SQLName.id, SQLName.version]
    if isInHierarchy { names.append(SQLName.entity) }
    names += selectedColumns
    return names.map { "\(alias).\($0)" }.joined(separator: ", ")
  }

  /// The number of values before a row's own columns in ``selection(_:)``.
  package var leadingColumns: Int { isInHierarchy ? 3 : 2 }
}
