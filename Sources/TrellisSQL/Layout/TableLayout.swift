package import TrellisSchema

/// Where the rows of each entity lie, and under which names.
package struct TableLayout: Sendable {
  package let model: Model
  /// By entity.
  package let tables: [EntityTable]
  /// How early an entity's rows are inserted so that what they refer to is there already, as far as there is such an order.
  package let insertRanks: [Int]
  /// The full-text tables that can be asked.
  package let search: SearchPlan

  /// - Complexity: linear in the number of columns of all entities, inherited ones included.
  package init(_ model: Model, search: SearchPlan = SearchPlan()) {
    self.model = model
    self.search = search
    tables = model.entities.map { EntityTable($0, in: model) }
    insertRanks = InsertOrder(model).ranks
  }

  /// The relationship of this number; nil when there is none.
  package func relationship(_ entity: Int, _ property: Int) -> Relationship? {
    guard model.entities.indices.contains(entity) else { return nil }
    let properties = model.entities[entity].properties
    return properties.indices.contains(property) ? properties[property].relationship : nil
  }

  /// The name of a column of an entity, quoted; nil when there is none.
  func column(_ column: Int, of entity: Int) -> String? {
    let names = tables[entity].columns
    return names.indices.contains(column) ? names[column] : nil
  }
}

/// One entity's part of its root's table.
///
/// A class, because it is handed on for every statement that runs.
package final class EntityTable: Sendable {
  package let entity: Int
  /// The table's name, quoted: the root entity's.
  package let name: String
  package let isInHierarchy: Bool
  /// The names of the entity's columns, quoted, by column number.
  package let columns: [String]
  /// What is read of a row of the entity or of one below it: the entity's columns, then those of the entities below.
  package let selectedColumns: [String]
  /// Where the columns of each entity of the subtree stand among ``selectedColumns``.
  package let places: [Int: ContiguousArray<Int32>]
  /// The names of the entities of the subtree, which ``SQLName/entity`` holds.
  package let entityNames: [(name: String, number: Int)]
  /// Tells rows of the subtree from others of the table; nil when the table has no others.
  package let subtreeTerm: (@Sendable (_ alias: String) -> String)?
  /// Tells rows of the entity itself from those of others; nil when the table has no others.
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
    // The entity's own columns stand in order.
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

  /// What a statement reads of each row: key, version, in hierarchies the entity, then the columns.
  package func selection(_ alias: String) -> String {
    var names = [SQLName.id, SQLName.version]
    if isInHierarchy { names.append(SQLName.entity) }
    names += selectedColumns
    return names.map { "\(alias).\($0)" }.joined(separator: ", ")
  }

  /// The number of values before a row's own columns in ``selection(_:)``.
  package var leadingColumns: Int { isInHierarchy ? 3 : 2 }
}
