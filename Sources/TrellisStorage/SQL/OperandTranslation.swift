package import TrellisModel

/// One side of a comparison, as SQL.
struct TranslatedOperand {
  enum Content {
    /// A value of the request, by its position. Whether the value is null is part of the statement.
    case value(Int, isNull: Bool)
    case column(TranslatedProperty)
  }

  let content: Content

  var isNull: Bool {
    if case .value(_, isNull: true) = content { true } else { false }
  }

  var isOptional: Bool {
    switch content {
    case .value(_, let isNull): isNull
    case .column(let column): column.isOptional
    }
  }

  var isColumn: Bool {
    if case .column = content { true } else { false }
  }
}

extension PredicateTranslator {
  static let decimalOrder = " COLLATE trellis_decimal"
  /// The begin of the names of languages' collations.
  static let languagePrefix = "trellis_language_"

  static func folded(_ sql: String, _ options: TextOptions) -> String { "trellis_fold(\(sql), \(options.rawValue))" }

  mutating func comparison(_ comparison: Comparison) throws(StoreError) -> String {
    let left = try operand(comparison.left)
    let right = try operand(comparison.right)
    switch comparison.relation {
    case .equal, .notEqual:
      let isEqual = comparison.relation == .equal
      return try externalEquality(left, right, isEqual: isEqual)
        ?? equality(left, right, comparison, isEqual: isEqual)
    case .less: return order(left, "<", right, comparison)
    case .lessOrEqual: return order(left, "<=", right, comparison)
    case .greater: return order(left, ">", right, comparison)
    case .greaterOrEqual: return order(left, ">=", right, comparison)
    case .contains: return search("trellis_contains", left, right, comparison)
    case .hasPrefix: return prefix(left, right, comparison)
    case .hasSuffix: return search("trellis_suffix", left, right, comparison)
    case .like: return search("trellis_like", left, right, comparison)
    case .matching: return try matching(left, right, comparison)
    case .matches:
      let ignoresCase = comparison.options.contains(.caseInsensitive) ? 1 : 0
      return "trellis_matches(\(text(left, comparison)), \(text(right, comparison)), \(ignoresCase))"
    }
  }

  mutating func operand(_ operand: Operand) throws(StoreError) -> TranslatedOperand {
    switch operand {
    case .value(let value): TranslatedOperand(content: .value(skipValue(), isNull: value.isNil))
    case .path(let path): TranslatedOperand(content: .column(try property(path)))
    case .count(let path):
      TranslatedOperand(content: .column(TranslatedProperty(sql: try count(path), isOptional: false)))
    case .entity(let path): TranslatedOperand(content: .column(try entityName(path)))
    case .computed(.stored(let path, let inner)):
      if layout.readsDerivedColumn(at: path) {
        TranslatedOperand(content: .column(try storedColumn(path)))
      } else {
        try self.operand(inner)
      }
    case .now: TranslatedOperand(content: .value(skipValue(), isNull: false))
    case .computed(let computation):
      TranslatedOperand(content: .column(TranslatedProperty(sql: try self.computation(computation), isOptional: true)))
    case .parameter: throw Self.noValue
    }
  }

  /// The operand's text, folded if the comparison ignores case or diacritics.
  private mutating func text(_ operand: TranslatedOperand, _ comparison: Comparison) -> String {
    let options = comparison.folding
    switch operand.content {
    case .value(let number, _):
      return parameter(number, comparison.kind == .decimal ? .canonical : options.isEmpty ? .plain : .folded(options))
    case .column(let column): return options.isEmpty ? column.sql : Self.folded(column.sql, options)
    }
  }

  private mutating func equality(
    _ left: TranslatedOperand, _ right: TranslatedOperand, _ comparison: Comparison, isEqual: Bool
  ) -> String {
    // SQLite uses an index for the plain forms in every version.
    if right.isNull && left.isColumn { return "\(text(left, comparison)) \(isEqual ? "IS NULL" : "IS NOT NULL")" }
    if left.isNull && right.isColumn { return "\(text(right, comparison)) \(isEqual ? "IS NULL" : "IS NOT NULL")" }
    let isPlain = isEqual && !(left.isOptional && right.isOptional)
    let sign = isEqual ? (isPlain ? "=" : "IS") : "IS NOT"
    // Canonical decimals are equal exactly when their texts are equal, but two columns are compared as numbers.
    let suffix = comparison.kind == .decimal && left.isColumn && right.isColumn ? Self.decimalOrder : ""
    return "\(text(left, comparison)) \(sign) \(text(right, comparison))\(suffix)"
  }

  private mutating func order(
    _ left: TranslatedOperand, _ sign: String, _ right: TranslatedOperand, _ comparison: Comparison
  ) -> String {
    let suffix = comparison.kind == .decimal ? Self.decimalOrder : ""
    return "\(text(left, comparison)) \(sign) \(text(right, comparison))\(suffix)"
  }

  mutating func search(
    _ function: String, _ left: TranslatedOperand, _ right: TranslatedOperand, _ comparison: Comparison
  ) -> String {
    "\(function)(\(text(left, comparison)), \(text(right, comparison)))"
  }

  /// A range that an index can serve: texts with a prefix lie between the prefix and the next text of its length.
  private mutating func prefix(
    _ left: TranslatedOperand, _ right: TranslatedOperand, _ comparison: Comparison
  ) -> String {
    guard case .value(let number, isNull: false) = right.content, case .column(let column) = left.content,
      comparison.options.isEmpty
    else { return search("trellis_prefix", left, right, comparison) }
    return "(\(column.sql) >= \(parameter(number, .plain)) AND \(column.sql) < \(parameter(number, .endOfPrefix)))"
  }

  mutating func isIn(_ operand: Operand, _ values: [StoredValue], _ kind: ValueKind) throws(StoreError) -> String {
    let tested = try self.operand(operand)
    let list = skipValue()
    let comparison = Comparison(operand, .equal, operand, kind: kind)
    let sql = text(tested, comparison)
    if case .column(let column) = tested.content, column.isExternal { return isIn(external: sql, list, values) }
    let marker = parameter(list, kind == .decimal ? .canonical : .plain)
    let isListed = "\(sql) IN \(ListParameter.values(marker))"
    return values.hasNull ? "(\(isListed) OR \(sql) IS NULL)" : isListed
  }
}

// MARK: - Computations

/// Computed values. SQLite calls the same functions as evaluation in memory, so that overflow, division and rounding
/// are the same.
extension PredicateTranslator {
  mutating func computation(_ computation: Computation) throws(StoreError) -> String {
    switch computation {
    case .arithmetic(let sign, let left, let right):
      return "trellis_compute(\(sign.word), \(try plain(left)), \(try plain(right)))"
    case .function(.length, let operand):
      let content = try self.operand(operand).content
      if case .column(let column) = content, column.isExternal { return Self.externalLength(column.sql) }
      return "trellis_apply(\(ValueFunction.length.word), \(plain(content)))"
    case .date(_, let operand): return "trellis_date(\(try plain(operand)), \(nextValue(.plain)))"
    case .function(let function, let operand): return "trellis_apply(\(function.word), \(try plain(operand)))"
    case .aggregate(let function, let path, let variable, let operand, let kind):
      return try aggregate(function, path, variable, operand, kind)
    case .countWhere(let path, let variable, let condition):
      let (owner, relationship) = try toMany(path)
      let link = try enter(relationship, owner: owner, variable: variable)
      let terms = try [link] + conjuncts(condition)
      return "(SELECT count(*) FROM \(try leaveScope()) WHERE \(terms.joined(separator: " AND ")))"
    case .member(let place, let path, let variable, let operand): return try member(place, path, variable, operand)
    case .conditional(let condition, let first, let second):
      let choice = "CASE WHEN \(try self.condition(condition)) THEN \(try plain(first)) ELSE \(try plain(second)) END"
      // SQLite compares an expression by a collation that is named anywhere inside it, unless a subquery lies between.
      return choice.contains(Self.decimalOrder) ? "(SELECT \(choice))" : choice
    case .list(let function, let operands, let kind):
      var values: [String] = []
      for operand in operands { values.append("SELECT \(try plain(operand)) AS v") }
      let rows = values.isEmpty ? "SELECT NULL AS v WHERE 0" : values.joined(separator: " UNION ALL ")
      return "(SELECT \(Self.aggregate(function, kind)) FROM (\(rows)))"
    case .stored: return try plain(.computed(computation))
    }
  }

  private mutating func member(
    _ place: MemberPlace, _ path: PropertyPath, _ variable: Int, _ operand: Operand
  ) throws(StoreError) -> String {
    let (owner, relationship) = try toMany(path)
    let link = try enter(relationship, owner: owner, variable: variable)
    let value = try plain(operand)
    guard let scope = scopes.last else { throw Self.unknown("variable") }
    let direction = place == .last ? " DESC" : ""
    let order = [scope.place, scope.key].compactMap { $0.map { $0 + direction } }.joined(separator: ", ")
    let skipped: Int
    if case .at(let number) = place { skipped = number } else { skipped = 0 }
    // There is no member before the first.
    let window = skipped < 0 ? "LIMIT 0" : "LIMIT 1 OFFSET \(skipped)"
    return "(SELECT \(value) FROM \(try leaveScope()) WHERE \(link) ORDER BY \(order) \(window))"
  }

  private static func aggregate(_ function: AggregateFunction, _ kind: ValueKind) -> String {
    let order = kind == .decimal ? decimalOrder : ""
    return switch function {
    case .sum: "trellis_sum_\(kind.numberName)(v)"
    case .average: "trellis_average_\(kind.numberName)(v)"
    case .minimum: "min(v\(order))"
    case .maximum: "max(v\(order))"
    }
  }

  private mutating func aggregate(
    _ function: AggregateFunction, _ path: PropertyPath, _ variable: Int, _ operand: Operand, _ kind: ValueKind
  ) throws(StoreError) -> String {
    let (owner, relationship) = try toMany(path)
    let link = try enter(relationship, owner: owner, variable: variable)
    let value = try plain(operand)
    let result = Self.aggregate(function, kind)
    // If the value belonged to an outer row only, SQLite would compute the aggregate over the outer rows.
    return "(SELECT \(result) FROM (SELECT \(value) AS v FROM \(try leaveScope()) WHERE \(link)))"
  }

  /// The SQL of an operand, without folding or canonical form.
  mutating func plain(_ operand: Operand) throws(StoreError) -> String {
    plain(try self.operand(operand).content)
  }

  private mutating func plain(_ content: TranslatedOperand.Content) -> String {
    switch content {
    case .value(let number, _): parameter(number, .plain)
    case .column(let column): column.sql
    }
  }

  /// Ends the scope of a to-many.
  ///
  /// - Returns: its FROM clause.
  package mutating func leaveScope() throws(StoreError) -> String {
    guard let scope = scopes.popLast() else { throw Self.unknown("variable") }
    return scope.source
  }

  /// The key of the innermost variable's object, and its position if it has one.
  package var innermost: (key: String, place: String?) {
    (scopes[scopes.count - 1].key, scopes[scopes.count - 1].place)
  }
}

// MARK: - Paths

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
private struct RowReference {
  let scope: Int
  let alias: String
  let entity: Int
  let key: String
  /// Whether the row may be missing.
  let isOptional: Bool
}

extension PredicateTranslator {
  /// A value to sort by or to return.
  mutating func value(_ operand: Operand) throws(StoreError) -> TranslatedProperty {
    switch operand {
    case .path(let path): return try property(path)
    case .computed(.stored(let path, _)) where layout.readsDerivedColumn(at: path): return try storedColumn(path)
    default: break
    }
    let sql = try plain(operand)
    // A collation in an expression would change how the value is compared, unless a subquery lies between.
    let isCollated = sql.contains(Self.decimalOrder)
    return TranslatedProperty(sql: isCollated ? "(SELECT \(sql))" : sql, isOptional: true, isComputed: true)
  }

  /// The value at a path's end: an attribute, a to-one's key, the number of a to-many's members or the object's own
  /// key.
  package mutating func property(_ path: PropertyPath) throws(StoreError) -> TranslatedProperty {
    if let columns { return try Self.column(path, of: columns) }
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
        return TranslatedProperty(sql: sql, isOptional: row.isOptional, isComputed: true)
      }
      return TranslatedProperty(sql: try key(of: relationship, row), isOptional: true)
    }
  }

  /// The column of a stored derived attribute of the object that a variable stands for.
  private mutating func storedColumn(_ path: PropertyPath) throws(StoreError) -> TranslatedProperty {
    let row = try start(path)
    guard let step = path.onlyStep, let attribute = try property(step, of: row.entity).attribute else {
      throw Self.unknown("derived attribute")
    }
    scopes[row.scope].useRow()
    return TranslatedProperty(
      sql: "\(row.alias).\(SQLName.quoted(layout.model.derivedColumn(of: attribute)))", isOptional: true)
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

  private static func column(
    _ path: PropertyPath, of columns: [TranslatedProperty]
  ) throws(StoreError) -> TranslatedProperty {
    guard path.variable == 0, let step = path.onlyStep, columns.indices.contains(step) else {
      throw unknown("column of a group")
    }
    return columns[step]
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
  package mutating func toMany(_ path: PropertyPath) throws(StoreError) -> (owner: String, relationship: Relationship) {
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
