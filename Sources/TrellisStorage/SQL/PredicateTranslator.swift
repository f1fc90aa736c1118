package import TrellisModel

/// Translates a predicate to SQL with parameters for its values.
///
/// Each term is true in SQL exactly when the predicate is true. Otherwise the term is false or null, which is the same
/// for WHERE, AND and OR. Only `not` distinguishes the two, with IS NOT TRUE. So the terms that indexes can serve stay
/// plain.
package struct PredicateTranslator {
  let layout: TableLayout
  private(set) var parameters: [Parameter] = []
  /// The objects that the variables stand for: the fetched object, then the members that enclosing quantifiers bind.
  var scopes: [TranslationScope]
  /// The columns of groups. If present, paths lead to them instead of properties.
  var columns: [TranslatedProperty]?
  private var valueCount = 0
  private var aliasCount = 1

  package init(_ layout: TableLayout, entity: Int) {
    self.layout = layout
    scopes = [TranslationScope(variable: 0, table: layout.tables[entity], alias: "t0")]
  }

  package var rootAlias: String { scopes[0].alias }
  /// The FROM clause for the fetched objects.
  package var rootSource: String { scopes[0].source }

  // MARK: Values

  /// A parameter for the request's next value.
  mutating func nextValue(_ form: Parameter.Form) -> String {
    valueCount += 1
    return parameter(valueCount - 1, form)
  }

  /// Another parameter for a value.
  mutating func parameter(_ value: Int, _ form: Parameter.Form) -> String {
    parameters.append(Parameter(value: value, form: form))
    return "?\(parameters.count)"
  }

  mutating func skipValue() -> Int {
    valueCount += 1
    return valueCount - 1
  }

  mutating func nextAlias() -> String {
    aliasCount += 1
    return "t\(aliasCount - 1)"
  }

  // MARK: Logic

  /// The terms of a conjunction. A list at the top level needs no parentheses.
  mutating func conjuncts(_ predicate: QueryPredicate) throws(StoreError) -> [String] {
    guard case .and(let terms) = predicate else { return [try condition(predicate)] }
    var result: [String] = []
    for term in terms { result += try conjuncts(term) }
    return result.count > Self.flatLimit ? [Self.balanced(result[...], " AND ")] : result
  }

  mutating func condition(_ predicate: QueryPredicate) throws(StoreError) -> String {
    switch predicate {
    case .constant(let value): return value ? "1" : "0"
    case .not(let inner): return try negation(inner)
    case .and(let terms): return try joined(terms, " AND ", empty: "1", flattening: \.conjuncts)
    case .or(let terms): return try joined(terms, " OR ", empty: "0", flattening: \.disjuncts)
    case .comparison(let comparison): return try self.comparison(comparison)
    case .isIn(let operand, let values, let kind): return try isIn(operand, values, kind)
    case .quantified(let quantifier, let path, let variable, let inner):
      return try quantified(quantifier, path, variable, inner)
    }
  }

  /// A condition that is true exactly when the predicate is not true.
  private mutating func negation(_ predicate: QueryPredicate) throws(StoreError) -> String {
    switch predicate {
    case .constant(let value): return value ? "0" : "1"
    case .not(let inner): return try condition(inner)
    case .comparison(var comparison) where comparison.relation == .equal:
      comparison.relation = .notEqual
      return try self.comparison(comparison)
    case .comparison(var comparison) where comparison.relation == .notEqual:
      comparison.relation = .equal
      return try self.comparison(comparison)
    case .quantified(.any, let path, let variable, let inner): return try quantified(.none, path, variable, inner)
    case .quantified(.none, let path, let variable, let inner): return try quantified(.any, path, variable, inner)
    default: return "(\(try condition(predicate))) IS NOT TRUE"
    }
  }

  private mutating func joined(
    _ terms: [QueryPredicate], _ separator: String, empty: String,
    flattening parts: KeyPath<QueryPredicate, [QueryPredicate]?>
  ) throws(StoreError) -> String {
    var texts: [String] = []
    var open = Array(terms.reversed())
    while let term = open.popLast() {
      if let inner = term[keyPath: parts] {
        open.append(contentsOf: inner.reversed())
      } else {
        texts.append(try condition(term))
      }
    }
    return texts.isEmpty ? empty : Self.balanced(texts[...], separator)
  }

  private static let flatLimit = 32

  /// Joins terms as a balanced tree: SQLite counts each operator of a flat list as one level of nesting.
  static func balanced(_ texts: ArraySlice<String>, _ separator: String) -> String {
    if texts.count == 1, let only = texts.first { return only }
    if texts.count <= flatLimit { return "(\(texts.separated(by: separator)))" }
    let middle = texts.startIndex + texts.count / 2
    return "(\(balanced(texts[..<middle], separator))\(separator)\(balanced(texts[middle...], separator)))"
  }

  // MARK: Errors

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

extension QueryPredicate {
  fileprivate var conjuncts: [QueryPredicate]? {
    if case .and(let terms) = self { terms } else { nil }
  }

  fileprivate var disjuncts: [QueryPredicate]? {
    if case .or(let terms) = self { terms } else { nil }
  }
}

// MARK: - Translation scope

/// The objects that one variable stands for, and the tables joined to them.
struct TranslationScope {
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

// MARK: - Quantifiers

extension PredicateTranslator {
  mutating func quantified(
    _ quantifier: Quantifier, _ path: PropertyPath, _ variable: Int, _ condition: QueryPredicate
  ) throws(StoreError) -> String {
    let (owner, relationship) = try toMany(path)
    let link = try enter(relationship, owner: owner, variable: variable)
    let inner = try self.conjuncts(quantifier == .all ? .not(condition) : condition)
    guard let scope = scopes.popLast() else { throw Self.unknown("variable") }
    let terms = ([link] + inner).separated(by: " AND ")
    let exists = "EXISTS (SELECT 1 FROM \(scope.source) WHERE \(terms))"
    return quantifier == .any ? exists : "NOT \(exists)"
  }

  package mutating func count(_ path: PropertyPath) throws(StoreError) -> String {
    let (owner, relationship) = try toMany(path)
    let link = try enter(relationship, owner: owner, variable: -1)
    guard let scope = scopes.popLast() else { throw Self.unknown("variable") }
    return "(SELECT count(*) FROM \(scope.source) WHERE \(link))"
  }

  /// Opens a scope for the members of a to-many.
  ///
  /// - Returns: the condition that ties the members to their owner.
  package mutating func enter(
    _ relationship: Relationship, owner: String, variable: Int
  ) throws(StoreError) -> String {
    let table = layout.tables[relationship.destination]
    switch relationship.home {
    case .inverseColumn:
      guard let number = layout.model.inverse(of: relationship)?.column,
        let column = layout.column(number, of: relationship.destination)
      else { throw Self.unknown("to-many") }
      var scope = TranslationScope(variable: variable, table: table, alias: nextAlias())
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
      var scope = TranslationScope(
        variable: variable, table: table, alias: nextAlias(), pairs: "\(layout.names.table(join.name)) AS \(pairs)",
        key: "\(pairs).\(theirs)", needsRow: needsRow)
      let order = isFirst ? join.first.orderColumn : join.second?.orderColumn
      scope.place = order.map { "\(pairs).\(layout.names.column($0))" }
      scopes.append(scope)
      return "\(pairs).\(mine) = \(owner)"
    case .column, .transient: throw Self.unknown("stored to-many")
    }
  }
}

// MARK: - External data predicates

/// Comparisons of data in external storage. The row contains either a blob, or a text that refers to a file by its
/// content. So bytes are compared with both, and no file is read.
extension PredicateTranslator {
  /// Whether external data is equal to a value. Nil if neither side is external data, or if the value is nil.
  mutating func externalEquality(
    _ left: TranslatedOperand, _ right: TranslatedOperand, isEqual: Bool
  ) throws(StoreError) -> String? {
    switch (left.content, right.content) {
    case (.column(let column), .value(let number, isNull: false)) where column.isExternal,
      (.value(let number, isNull: false), .column(let column)) where column.isExternal:
      let row = parameter(number, .plain)
      let file = parameter(number, .reference)
      return isEqual
        ? "(\(column.sql) = \(row) OR \(column.sql) = \(file))"
        : "(\(column.sql) IS NOT \(row) AND \(column.sql) IS NOT \(file))"
    case (.column(let left), .column(let right)) where left.isExternal || right.isExternal:
      throw StoreError(
        .unsupported, "SQLite cannot compare data that may lie in files with another attribute.",
        remedy: "Compare it with a value, or compare the objects' data.")
    default: return nil
    }
  }

  /// Whether external data is in a list of values.
  mutating func isIn(external sql: String, _ list: Int, _ values: [StoredValue]) -> String {
    let rows = ListParameter.values(parameter(list, .plain))
    let files = ListParameter.values(parameter(list, .reference))
    let isListed = "\(sql) IN \(rows) OR \(sql) IN \(files)"
    return values.hasNull ? "(\(isListed) OR \(sql) IS NULL)" : "(\(isListed))"
  }

  /// The number of bytes, which is part of the text in the row.
  static func externalLength(_ sql: String) -> String {
    let size = "CAST(substr(\(sql), \(ExternalFile.placeOfSize)) AS INTEGER)"
    return "CASE typeof(\(sql)) WHEN 'text' THEN \(size) ELSE length(\(sql)) END"
  }
}
