package import TrellisModel

/// The objects that the variables of a predicate stand for, and the joins that its paths need.
package struct QueryPaths {
  private let layout: TableLayout
  /// The fetched object, then the members that enclosing quantifiers bind.
  private(set) var scopes: [QueryScope]
  private var aliasCount = 1

  package init(_ layout: TableLayout, entity: Int) {
    self.layout = layout
    scopes = [QueryScope(variable: 0, table: layout.tables[entity], alias: "t0")]
  }

  package var rootAlias: String { scopes[0].alias }
  /// The FROM clause for the fetched objects.
  package var rootSource: String { scopes[0].source }

  private mutating func nextAlias() -> String {
    aliasCount += 1
    return "t\(aliasCount - 1)"
  }

  // MARK: Paths

  /// The value at a path's end: an attribute, a to-one's key, the number of a to-many's members or the object's own
  /// key.
  package mutating func property(_ path: PropertyPath) throws(StoreError) -> TranslatedProperty {
    var steps = path.steps
    guard let last = steps.popLast() else {
      let start = try start(path)
      return TranslatedProperty(sql: start.key, isOptional: false)
    }
    let row = try walk(path, steps)
    switch try property(last, of: row.entity) {
    case .attribute(let attribute):
      guard let number = attribute.column, let column = layout.column(number, of: row.entity) else {
        throw QueryFault.unknown("stored attribute")
      }
      scopes[row.scope].useRow()
      return TranslatedProperty(
        sql: "\(row.alias).\(column)", isOptional: row.isOptional || attribute.isOptional,
        isExternal: attribute.description.isExternal)
    case .relationship(let relationship):
      if relationship.isToMany {
        let members = try count(path)
        let sql = row.isOptional ? "CASE WHEN \(row.key) IS NOT NULL THEN \(members) END" : members
        return TranslatedProperty(sql: sql, isOptional: row.isOptional, isComputed: true)
      }
      return TranslatedProperty(sql: try key(of: relationship, row), isOptional: true)
    }
  }

  /// The alias of a row whose columns are needed.
  mutating func alias(of row: RowReference) -> String {
    scopes[row.scope].useRow()
    return row.alias
  }

  /// Joins the row with the key of the object that a variable stands for. There is one for each object.
  ///
  /// - Parameter table: the qualified and quoted name.
  /// - Returns: the row's alias.
  package mutating func joinRow(of table: String, to path: PropertyPath) throws(StoreError) -> String {
    let row = try start(path)
    let alias = scopes[row.scope].joined(table) ?? nextAlias()
    scopes[row.scope].join(
      table, alias, "\(table) AS \(alias) ON \(alias).\(SQLName.id) = \(row.key)", isPresent: true)
    return alias
  }

  /// The name of the entity of the object at a path's end.
  package mutating func entityName(_ path: PropertyPath) throws(StoreError) -> TranslatedProperty {
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
  private mutating func toMany(_ path: PropertyPath) throws(StoreError) -> (owner: String, relationship: Relationship) {
    var steps = path.steps
    guard let last = steps.popLast() else { throw QueryFault.unknown("to-many") }
    let row = try walk(path, steps)
    guard let relationship = try property(last, of: row.entity).relationship else {
      throw QueryFault.unknown("to-many")
    }
    return (row.key, relationship)
  }

  func start(_ path: PropertyPath) throws(StoreError) -> RowReference {
    guard let number = scopes.lastIndex(where: { $0.variable == Int(path.variable) }) else {
      throw QueryFault.unknown("variable")
    }
    let scope = scopes[number]
    return RowReference(
      scope: number, alias: scope.alias, entity: scope.table.entity, key: scope.key, isOptional: false)
  }

  mutating func walk(_ path: PropertyPath, _ steps: [Int]) throws(StoreError) -> RowReference {
    var row = try start(path)
    for step in steps {
      guard let relationship = try property(step, of: row.entity).relationship, !relationship.isToMany else {
        throw QueryFault.unknown("to-one")
      }
      row = try join(relationship, to: row)
    }
    return row
  }

  func property(_ number: Int, of entity: Int) throws(StoreError) -> Property {
    let properties = layout.model.entities[entity].properties
    guard properties.indices.contains(number) else { throw QueryFault.unknown("property") }
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
      guard let column = layout.column(number, of: row.entity) else { throw QueryFault.unknown("to-one") }
      scopes[row.scope].useRow()
      return (SQLName.id, "\(row.alias).\(column)")
    case .inverseColumn:
      guard let number = layout.model.inverse(of: relationship)?.column,
        let column = layout.column(number, of: relationship.destination)
      else { throw QueryFault.unknown("to-one") }
      return (column, row.key)
    case .joinTable, .transient: throw QueryFault.unknown("stored to-one")
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

  // MARK: Members

  package mutating func count(_ path: PropertyPath) throws(StoreError) -> String {
    let link = try enter(path, variable: -1)
    return "(SELECT count(*) FROM \(try leaveScope()) WHERE \(link))"
  }

  /// Opens a scope for the members of the to-many at a path's end.
  ///
  /// - Returns: the condition that ties the members to their owner.
  package mutating func enter(_ path: PropertyPath, variable: Int) throws(StoreError) -> String {
    let (owner, relationship) = try toMany(path)
    let table = layout.tables[relationship.destination]
    switch relationship.home {
    case .inverseColumn:
      guard let number = layout.model.inverse(of: relationship)?.column,
        let column = layout.column(number, of: relationship.destination)
      else { throw QueryFault.unknown("to-many") }
      var scope = QueryScope(variable: variable, table: table, alias: nextAlias())
      if case .column(_, let order?)? = layout.model.inverse(of: relationship)?.home {
        scope.place = layout.column(order, of: relationship.destination).map { "\(scope.alias).\($0)" }
      }
      scopes.append(scope)
      return "\(scope.alias).\(column) = \(owner)"
    case .joinTable(let number, let isFirst):
      let join = layout.model.joinTables[number]
      let mine = layout.names.column(isFirst ? join.first.column : join.partnerColumn)
      let theirs = layout.names.column(isFirst ? join.partnerColumn : join.first.column)
      let pairs = nextAlias()
      // With the delete rule `noAction`, a join table row may refer to a deleted row, which is no member.
      let needsRow = relationship.partnerRule == .noAction
      var scope = QueryScope(
        variable: variable, table: table, alias: nextAlias(), pairs: "\(layout.names.table(join.name)) AS \(pairs)",
        key: "\(pairs).\(theirs)", needsRow: needsRow)
      let order = isFirst ? join.first.orderColumn : join.second?.orderColumn
      scope.place = order.map { "\(pairs).\(layout.names.column($0))" }
      scopes.append(scope)
      return "\(pairs).\(mine) = \(owner)"
    case .column, .transient: throw QueryFault.unknown("stored to-many")
    }
  }

  /// Ends the scope of a to-many.
  ///
  /// - Returns: its FROM clause.
  package mutating func leaveScope() throws(StoreError) -> String {
    guard let scope = scopes.popLast() else { throw QueryFault.unknown("variable") }
    return scope.source
  }

  /// The entity and the key of the innermost variable's object, and its position if it has one.
  package var innermost: (entity: Int, key: String, place: String?) {
    let scope = scopes[scopes.count - 1]
    return (scope.table.entity, scope.key, scope.place)
  }
}

// MARK: - Ends of paths

/// The SQL for the end of a path.
package struct TranslatedProperty {
  package let sql: String
  /// Whether the value may be null.
  package let isOptional: Bool
  /// Whether the value is data that may lie in a file. If it does, the row contains a text.
  var isExternal = false
  /// Whether a function or a statement inside the statement computes the value.
  var isComputed = false
}

/// A row on a path.
struct RowReference {
  let scope: Int
  let alias: String
  let entity: Int
  let key: String
  /// Whether the row may be missing.
  let isOptional: Bool
}

// MARK: - Scope

/// The objects that one variable stands for, and the tables joined to them.
struct QueryScope {
  let variable: Int
  let table: EntityTable
  let alias: String
  /// The object's key. For a member in a join table, the key needs no row.
  let key: String
  /// The column with the object's position in an ordered to-many.
  var place: String?
  private var tables: [String]
  /// The row's table, if it is joined only when a column is needed.
  private var pendingTable: String?
  private var aliases: [String: String] = [:]

  /// The objects of a table.
  init(variable: Int, table: EntityTable, alias: String) {
    self.variable = variable
    self.table = table
    self.alias = alias
    key = "\(alias).\(SQLName.id)"
    tables = ["\(table.name) AS \(alias)"]
  }

  /// The members in a join table, where the keys are known without the rows.
  init(variable: Int, table: EntityTable, alias: String, pairs: String, key: String, needsRow: Bool) {
    self.variable = variable
    self.table = table
    self.alias = alias
    self.key = key
    tables = [pairs]
    pendingTable = " JOIN \(table.name) AS \(alias) ON \(alias).\(SQLName.id) = \(key)"
    if needsRow { useRow() }
  }

  var source: String { tables.separated(by: "") }

  /// Joins the row's table, because a column of it is needed.
  mutating func useRow() {
    guard let table = pendingTable else { return }
    tables.append(table)
    pendingTable = nil
  }

  /// The alias of the row that is already joined for this path.
  func joined(_ way: String) -> String? { aliases[way] }

  /// Joins a row, once for each path.
  ///
  /// - Parameter isPresent: whether there is always such a row.
  mutating func join(_ way: String, _ alias: String, _ text: String, isPresent: Bool = false) {
    if aliases.updateValue(alias, forKey: way) == nil { tables.append("\(isPresent ? " JOIN" : " LEFT JOIN") \(text)") }
  }
}

// MARK: - Opposites

extension QueryPredicate {
  /// A predicate that is true exactly when this one is not, as simple as this one. Nil if there is none.
  package var opposite: QueryPredicate? {
    switch self {
    case .constant(let value): return .constant(!value)
    case .not(let inner): return inner
    case .comparison(var comparison) where comparison.relation == .equal:
      comparison.relation = .notEqual
      return .comparison(comparison)
    case .comparison(var comparison) where comparison.relation == .notEqual:
      comparison.relation = .equal
      return .comparison(comparison)
    case .quantified(.any, let path, let variable, let inner):
      return .quantified(.none, path, variable: variable, inner)
    case .quantified(.none, let path, let variable, let inner):
      return .quantified(.any, path, variable: variable, inner)
    default: return nil
    }
  }
}

// MARK: - Faults

/// What is wrong with a request that no database can answer.
package enum QueryFault {
  package static let noValue = StoreError(
    .internalError, "The predicate has a place for a value, and none is there.",
    remedy: "Give a value for each variable.")

  package static let unkeptDate = StoreError(
    .limit, "The predicate compares with a date further from 1970 than 292,000 years.",
    remedy: "Compare with a date that an attribute can keep.")

  /// A date function with the calendar that it uses now.
  ///
  /// - Throws: ``StoreError`` if the calendar is not known.
  package static func settled(_ function: DateFunction) throws(StoreError) -> DateFunction {
    do {
      return try function.settled()
    } catch {
      throw StoreError(.unsupported, error.description, remedy: "Use a calendar and a time zone that Foundation has.")
    }
  }

  package static func unknown(_ what: String) -> StoreError {
    StoreError(
      .internalError, "The request names a \(what) that the store does not have.",
      remedy: "Use a request that was made for this container's model.")
  }
}
