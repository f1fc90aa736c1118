import TrellisQuery
import TrellisSchema
import TrellisStorage

/// The SQL for the end of a path.
struct TranslatedProperty {
  let sql: String
  /// Whether the value may be null.
  let isOptional: Bool
  /// Whether the value is data that may lie in a file. If it does, the row contains a text.
  var isExternal = false
}

/// A row on a path.
private struct RowReference {
  let scope: Int
  let alias: String
  let entity: Int
  let key: String
  /// Whether the row may be missing.
  let isOptional: Bool
}

extension PredicateTranslator {
  /// The value at a path's end: an attribute, a to-one's key, the number of a to-many's members or the object's own
  /// key.
  mutating func property(_ path: PropertyPath) throws(StoreError) -> TranslatedProperty {
    var steps = path.steps
    guard let last = steps.popLast() else {
      let start = try start(path)
      return TranslatedProperty(sql: start.key, isOptional: false)
    }
    let row = try walk(path, steps)
    switch try property(last, of: row.entity) {
    case .attribute(let attribute):
      guard let number = attribute.column, let column = layout.column(number, of: row.entity) else {
        throw Self.unknown("stored attribute")
      }
      scopes[row.scope].useRow()
      return TranslatedProperty(
        sql: "\(row.alias).\(column)", isOptional: row.isOptional || attribute.isOptional,
        isExternal: attribute.description.isExternal)
    case .relationship(let relationship):
      if relationship.isToMany {
        let members = try count(path)
        let sql = row.isOptional ? "CASE WHEN \(row.key) IS NOT NULL THEN \(members) END" : members
        return TranslatedProperty(sql: sql, isOptional: row.isOptional)
      }
      return TranslatedProperty(sql: try key(of: relationship, row), isOptional: true)
    }
  }

  /// The name of the entity of the object at a path's end.
  mutating func entityName(_ path: PropertyPath) throws(StoreError) -> TranslatedProperty {
    let row = try walk(path, path.steps)
    let table = layout.tables[row.entity]
    if table.isInHierarchy {
      scopes[row.scope].useRow()
      return TranslatedProperty(sql: "\(row.alias).\(SQLName.entity)", isOptional: row.isOptional)
    }
    let name = SQLName.literal(layout.model.entities[row.entity].name)
    return TranslatedProperty(
      sql: row.isOptional ? "CASE WHEN \(row.key) IS NOT NULL THEN \(name) END" : name, isOptional: row.isOptional)
  }

  /// The to-many at a path's end: its owner's key and the relationship.
  mutating func toMany(_ path: PropertyPath) throws(StoreError) -> (owner: String, relationship: Relationship) {
    var steps = path.steps
    guard let last = steps.popLast() else { throw Self.unknown("to-many") }
    let row = try walk(path, steps)
    guard let relationship = try property(last, of: row.entity).relationship else { throw Self.unknown("to-many") }
    return (row.key, relationship)
  }

  /// The full-text table of the attribute at a path's end, the key of the attribute's row, and the entity name in
  /// marks. Nil if there is no such table. ``property(_:)`` must have translated the path before.
  mutating func indexedColumn(
    _ path: PropertyPath
  ) throws(StoreError) -> (table: String, key: String, entity: String)? {
    var steps = path.steps
    guard !layout.search.isEmpty, let last = steps.popLast() else { return nil }
    let row = try walk(path, steps)
    let root = layout.model.entities[layout.model.entities[row.entity].root]
    guard let number = try property(last, of: row.entity).column, let column = layout.column(number, of: row.entity),
      let indexed = layout.search.indexedColumn(column, of: root.index)
    else { return nil }
    return (indexed.table, row.key, SQLName.literal(root.name))
  }

  private func start(_ path: PropertyPath) throws(StoreError) -> RowReference {
    guard let number = scopes.lastIndex(where: { $0.variable == Int(path.variable) }) else {
      throw Self.unknown("variable")
    }
    let scope = scopes[number]
    return RowReference(
      scope: number, alias: scope.alias, entity: scope.table.entity, key: scope.key, isOptional: false)
  }

  private mutating func walk(_ path: PropertyPath, _ steps: [Int]) throws(StoreError) -> RowReference {
    var row = try start(path)
    for step in steps {
      guard let relationship = try property(step, of: row.entity).relationship, !relationship.isToMany else {
        throw Self.unknown("to-one")
      }
      row = try join(relationship, to: row)
    }
    return row
  }

  private func property(_ number: Int, of entity: Int) throws(StoreError) -> Property {
    let properties = layout.model.entities[entity].properties
    guard properties.indices.contains(number) else { throw Self.unknown("property") }
    return properties[number]
  }

  /// The row at the other end of a to-one, or nulls if there is none.
  private mutating func join(_ relationship: Relationship, to row: RowReference) throws(StoreError) -> RowReference {
    let table = layout.tables[relationship.destination]
    let term = try joinTerm(relationship, row)
    let way = "\(row.alias).\(relationship.index)"
    let alias = scopes[row.scope].joined(way) ?? nextAlias()
    scopes[row.scope].join(way, alias, "\(table.name) AS \(alias) ON \(alias).\(term.theirs) = \(term.mine)")
    return RowReference(
      scope: row.scope, alias: alias, entity: relationship.destination, key: "\(alias).\(SQLName.id)", isOptional: true)
  }

  private mutating func joinTerm(
    _ relationship: Relationship, _ row: RowReference
  ) throws(StoreError) -> (theirs: String, mine: String) {
    switch relationship.home {
    case .column(let number, _):
      guard let column = layout.column(number, of: row.entity) else { throw Self.unknown("to-one") }
      scopes[row.scope].useRow()
      return (SQLName.id, "\(row.alias).\(column)")
    case .inverseColumn:
      guard let number = layout.model.inverse(of: relationship)?.column,
        let column = layout.column(number, of: relationship.destination)
      else { throw Self.unknown("to-one") }
      return (column, row.key)
    case .joinTable, .transient: throw Self.unknown("stored to-one")
    }
  }

  /// The key of the object at the other end of a to-one.
  private mutating func key(of relationship: Relationship, _ row: RowReference) throws(StoreError) -> String {
    if case .column(let number, _) = relationship.home, !relationship.isLeftAlone,
      let column = layout.column(number, of: row.entity)
    {
      scopes[row.scope].useRow()
      return "\(row.alias).\(column)"
    }
    // A reference to a deleted row reads as nil, so the row has to be joined.
    return try join(relationship, to: row).key
  }
}
