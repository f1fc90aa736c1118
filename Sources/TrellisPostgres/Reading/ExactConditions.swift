import TrellisModel
import TrellisStorage

/// Translates what PostgreSQL answers exactly as evaluation in memory does, and leaves the rest.
///
/// Each term is true in SQL exactly when the predicate is true. Otherwise the term is false or null, which is the same
/// for WHERE, AND and OR. Only `not` distinguishes the two, with IS NOT TRUE.
struct ExactConditions {
  /// The paths, with the joins that they need.
  var paths: QueryPaths
  var parameters = ServerParameters()
  private let setup: PostgresSetup
  let dates: DateBounds
  /// The functions of the store; nil if it has none.
  let functions: ServerFunctions?
  /// What the store keeps beside the rows.
  let features: StoreFeatureParts
  /// The entities that the variables stand for.
  var entities: [Int: Int]
  /// What makes a condition wide. Nil where conditions are exact.
  private var width: Width?
  /// Whether rows that do not match may be found. Not so below a negation.
  private var mayFindMore = true
  /// The conditions for rows whose order by folded texts may be another one than in memory.
  private(set) var doubtsOfOrder: [String] = []
  /// Whether texts are ordered as folded ones.
  var ordersFoldedTexts = true

  init(
    _ setup: PostgresSetup, entity: Int, _ dates: DateBounds, _ functions: ServerFunctions?,
    _ features: StoreFeatureParts = StoreFeatureParts()
  ) {
    self.setup = setup
    self.dates = dates
    self.functions = functions
    self.features = features
    paths = QueryPaths(setup.layout, entity: entity)
    entities = [0: entity]
  }

  /// Runs a translation, of which nothing remains if it returns nil.
  mutating func attempt<Result>(
    _ body: (inout ExactConditions) throws(StoreError) -> Result?
  ) throws(StoreError) -> Result? {
    let before = self
    if let result = try body(&self) { return result }
    self = before
    return nil
  }

  // MARK: Logic

  /// The terms of a conjunction that SQL answers, and those that it does not.
  mutating func split(
    _ predicate: QueryPredicate, into terms: inout [String], rest: inout [QueryPredicate]
  ) throws(StoreError) {
    if case .and(let parts) = predicate {
      for part in parts { try split(part, into: &terms, rest: &rest) }
    } else if let term = try attempt({ self_ throws(StoreError) in try self_.condition(predicate) }) {
      terms.append(term)
    } else {
      if let term = try attempt({ self_ throws(StoreError) in try self_.wideCondition(predicate) }) {
        terms.append(term)
      }
      rest.append(predicate)
    }
  }

  private struct Width {
    /// The texts that are compared as folded ones.
    var foldedTexts: [String] = []
    /// Whether an index is searched that finds too much.
    var hasSearch = false
  }

  /// A condition that is true for all objects for which the predicate is, for those with texts that the server may fold in
  /// another way, and for those that a full-text index finds. Nil for a predicate that the server does not answer, or that
  /// has neither.
  private mutating func wideCondition(_ predicate: QueryPredicate) throws(StoreError) -> String? {
    guard let functions else { return nil }
    width = Width()
    defer { width = nil }
    guard let condition = try self.condition(predicate), let width, width.hasSearch || !width.foldedTexts.isEmpty else {
      return nil
    }
    let doubts = Set(width.foldedTexts).sorted().map { "NOT \(functions.isKnown($0))" }
    return "(\(([condition] + doubts).joined(separator: " OR ")))"
  }

  /// The maximum number of parameters of a condition. A statement has at most 65,535.
  ///
  /// Source: PostgreSQL's manual, "PostgreSQL Limits".
  private static let mostParameters = 50_000

  /// The condition in SQL; nil if it would not be exact, or would be too long.
  mutating func condition(_ predicate: QueryPredicate) throws(StoreError) -> String? {
    guard parameters.count < Self.mostParameters else { return nil }
    switch predicate {
    case .constant(let value): return value ? "TRUE" : "FALSE"
    case .not(let inner): return try negation(inner)
    case .and(let terms): return try joined(terms, " AND ", empty: "TRUE")
    case .or(let terms): return try joined(terms, " OR ", empty: "FALSE")
    case .comparison(let comparison): return try self.comparison(comparison)
    case .isIn(let operand, let values, let kind): return try isIn(operand, values, kind)
    case .quantified(let quantifier, let path, let variable, let inner):
      return try quantified(quantifier, path, variable, inner)
    }
  }

  private mutating func negation(_ predicate: QueryPredicate) throws(StoreError) -> String? {
    try exactly { self_ throws(StoreError) in
      if let opposite = predicate.opposite { return try self_.condition(opposite) }
      return try self_.condition(predicate).map { "(\($0)) IS NOT TRUE" }
    }
  }

  /// Runs a translation in which no row may be found that does not match.
  mutating func exactly<Result>(
    _ body: (inout ExactConditions) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let outer = mayFindMore
    mayFindMore = false
    defer { mayFindMore = outer }
    return try body(&self)
  }

  private mutating func joined(
    _ terms: [QueryPredicate], _ separator: String, empty: String
  ) throws(StoreError) -> String? {
    var texts: [String] = []
    for term in terms {
      guard let text = try condition(term) else { return nil }
      texts.append(text)
    }
    return texts.isEmpty ? empty : "(\(texts.joined(separator: separator)))"
  }

  private mutating func quantified(
    _ quantifier: Quantifier, _ path: PropertyPath, _ variable: Int, _ condition: QueryPredicate
  ) throws(StoreError) -> String? {
    let tested = quantifier == .all ? .not(condition) : condition
    guard
      let (source, link, inner) = try members(
        of: path, variable,
        { self_ throws(StoreError) in
          if quantifier == .any { return try self_.condition(tested) }
          return try self_.exactly { inner throws(StoreError) in try inner.condition(tested) }
        })
    else { return nil }
    let exists = "EXISTS (SELECT 1 FROM \(source) WHERE \(link) AND \(inner))"
    return quantifier == .any ? exists : "NOT \(exists)"
  }

  // MARK: Operands

  /// One side of a comparison.
  enum Side {
    case value(StoredValue)
    case sql(String, ServerType, isOptional: Bool)
  }

  mutating func side(_ operand: Operand) throws(StoreError) -> Side? {
    switch operand {
    case .value(let value): return .value(ValueOrder.isNil(value) ? .null : value)
    case .now: return .value(.integer(QueryClock.now))
    case .path(let path):
      guard let type = type(at: path) else { return nil }
      let property = try paths.property(path)
      return .sql(property.sql, type, isOptional: property.isOptional)
    case .count(let path): return .sql(try paths.count(path), .bigint, isOptional: false)
    case .entity(let path):
      let property = try paths.entityName(path)
      return .sql("\(property.sql) COLLATE \"C\"", .text, isOptional: property.isOptional)
    case .computed(let computation):
      return try exactly { self_ throws(StoreError) in try self_.side(computation) }
    case .parameter: throw QueryFault.noValue
    }
  }

  /// The type of the values at a path's end; nil if the model has no such path.
  func type(at path: PropertyPath) -> ServerType? {
    if path.count == 0 { return entities[Int(path.variable)] == nil ? nil : .bigint }
    switch property(at: path) {
    case .attribute(let attribute): return ServerType(of: attribute)
    case .relationship: return .bigint
    case nil: return nil
    }
  }

  /// The property at a path's end; nil if the model has no such path.
  private func property(at path: PropertyPath) -> Property? {
    guard var entity = entities[Int(path.variable)] else { return nil }
    var steps = path.steps
    guard let last = steps.popLast() else { return nil }
    for step in steps {
      guard let relationship = property(step, of: entity)?.relationship else { return nil }
      entity = relationship.destination
    }
    return property(last, of: entity)
  }

  func property(_ number: Int, of entity: Int) -> Property? {
    let properties = setup.model.entities[entity].properties
    return properties.indices.contains(number) ? properties[number] : nil
  }

  // MARK: Comparisons

  private mutating func comparison(_ comparison: Comparison) throws(StoreError) -> String? {
    if comparison.relation == .matching { return try search(comparison) }
    if comparison.relation == .matches || comparison.kind == .text && !comparison.options.isEmpty {
      return try foldedComparison(comparison)
    }
    guard let left = try side(comparison.left), let right = try side(comparison.right),
      let term = compare(left, comparison.relation, right, comparison.kind)
    else { return nil }
    switch comparison.relation {
    case .contains, .hasPrefix, .hasSuffix, .like:
      return try trigramFilter(comparison).map { "(\($0) AND \(term))" } ?? term
    default: return term
    }
  }

  /// A condition that an index of trigrams serves, and that holds for each text for which the comparison does. Nil if there
  /// is no index of the text, or if it would not help.
  private mutating func trigramFilter(_ comparison: Comparison) throws(StoreError) -> String? {
    let searches = features.searches
    guard let functions, let trigrams = searches.trigrams, mayFindMore, case .path(let path) = comparison.left,
      let attribute = property(at: path)?.attribute, searches.have(.trigrams, of: attribute),
      case .value(.text(let text)) = comparison.right, !text.utf8.contains(0),
      let pattern = TrigramPattern(comparison, text)?.like(trigrams)
    else { return nil }
    let letters = functions.letters(try paths.property(path).sql)
    return "(\(letters) LIKE \(parameters.add(pattern)) OR \(letters) LIKE '\(TrigramPattern.unknown)')"
  }

  private mutating func compare(
    _ left: Side, _ relation: ComparisonOperator, _ right: Side, _ kind: ValueKind
  ) -> String? {
    switch (left, right) {
    case (.sql(let sql, let type, let isOptional), .value(let value)):
      // Null has no kind.
      guard type.kind == kind || value == .null else { return nil }
      return compare(sql, type, isOptional: isOptional, relation, value)
    case (.value(let value), .sql(let sql, let type, let isOptional)):
      guard type.kind == kind || value == .null, let mirrored = relation.mirrored else { return nil }
      return compare(sql, type, isOptional: isOptional, mirrored, value)
    case (.sql(let a, let typeA, let isOptionalA), .sql(let b, let typeB, let isOptionalB)):
      guard typeA.kind == kind, typeB.kind == kind else { return nil }
      let (a, b) = Self.together(a, typeA, b, typeB)
      return Self.compare(
        a, relation, b, mayBothBeNull: isOptionalA && isOptionalB, mayBeNull: isOptionalA || isOptionalB)
    case (.value, .value): return nil
    }
  }

  /// A comparison of texts that ignores case, accents or spellings, or has a regular expression.
  private mutating func foldedComparison(_ comparison: Comparison) throws(StoreError) -> String? {
    guard let functions, width != nil else { return nil }
    // The rows are tested in memory, so another condition would only take time.
    if let filter = try trigramFilter(comparison) {
      width?.hasSearch = true
      return filter
    }
    // What is compared inside a to-many is not known to the whole condition.
    guard entities.count == 1, comparison.relation != .matches else { return nil }
    let options = comparison.folding
    func folded(_ side: Side?) -> Side? {
      switch side {
      case .value(.text(let text)): return .value(.text(TextFolding.fold(text, options: options)))
      case .value(let value): return .value(value)
      case .sql(let sql, .text, let isOptional):
        width?.foldedTexts.append(sql)
        return .sql(functions.folded(sql, options), .text, isOptional: isOptional)
      case .sql, nil: return nil
      }
    }
    guard case .path = comparison.left, let left = folded(try side(comparison.left)) else { return nil }
    switch comparison.right {
    case .path, .value: break
    default: return nil
    }
    guard let right = folded(try side(comparison.right)) else { return nil }
    return compare(left, comparison.relation, right, .text)
  }

  /// A full-text search in the texts of an index.
  private mutating func search(_ comparison: Comparison) throws(StoreError) -> String? {
    guard let functions, width != nil, mayFindMore, case .path(let path) = comparison.left,
      let attribute = property(at: path)?.attribute, features.searches.have(.tokens, of: attribute),
      case .value(.text(let words)) = comparison.right
    else { return nil }
    guard let query = ServerFunctions.query(words) else { return "FALSE" }
    width?.hasSearch = true
    return "\(functions.tokens(try paths.property(path).sql)) @@ \(parameters.add(query))::tsquery"
  }

  /// Two expressions of one kind, in a type that they have in common.
  static func together(_ a: String, _ typeA: ServerType, _ b: String, _ typeB: ServerType) -> (String, String) {
    if typeA == typeB || typeA.isPlainInteger && typeB.isPlainInteger { return (a, b) }
    return (widened(a, typeA), widened(b, typeB))
  }

  /// An expression as the number or the bytes that stand for its values in memory.
  static func widened(_ sql: String, _ type: ServerType) -> String {
    switch type {
    case .boolean: "(\(sql))::int::bigint"
    case .timestamp: "(extract(epoch FROM \(sql)) * 1000000)::bigint"
    case .uuid: "uuid_send(\(sql))"
    default: sql
    }
  }

  private mutating func compare(
    _ sql: String, _ type: ServerType, isOptional: Bool, _ relation: ComparisonOperator, _ value: StoredValue
  ) -> String? {
    if case .null = value {
      return switch relation {
      case .equal: "\(sql) IS NULL"
      case .notEqual: "\(sql) IS NOT NULL"
      default: "FALSE"
      }
    }
    switch relation {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
      guard let (sql, marker) = compared(sql, type, value, isOrdered: relation != .equal && relation != .notEqual)
      else {
        return nil
      }
      guard let marker else { return relation == .equal ? "FALSE" : "TRUE" }
      return Self.compare(sql, relation, marker, mayBothBeNull: false, mayBeNull: isOptional)
    case .contains, .hasPrefix, .hasSuffix, .like:
      guard type == .text, case .text(let text) = value else { return nil }
      // No stored text has U+0000.
      if text.utf8.contains(0) { return "FALSE" }
      return search(sql, relation, text)
    case .matches, .matching: return nil
    }
  }

  /// An expression and a parameter of the same type. The parameter is nil if no value of the expression can be equal.
  /// Nil if SQL has no exact comparison.
  private mutating func compared(
    _ sql: String, _ type: ServerType, _ value: StoredValue, isOrdered: Bool
  ) -> (sql: String, marker: String?)? {
    switch (type, value) {
    case (.smallint, .integer(let number)), (.integer, .integer(let number)), (.bigint, .integer(let number)):
      return (sql, parameters.add(number))
    case (.boolean, .integer(let number)), (.timestamp, .integer(let number)):
      if let marker = parameters.add(value, as: type) { return (sql, marker) }
      return isOrdered ? (Self.widened(sql, type), parameters.add(number)) : (sql, nil)
    case (.double, .real), (.bytes, .blob), (.numeric, .text):
      guard let marker = parameters.add(value, as: type) else { return nil }
      return (sql, marker)
    case (.text, .text(let text)):
      if let marker = parameters.add(value, as: .text) { return (sql, marker) }
      // The server has no text with U+0000, but has its bytes.
      return isOrdered ? ("convert_to(\(sql), 'UTF8'::name)", parameters.add(bytes: text.utf8)) : (sql, nil)
    case (.uuid, .blob(let bytes)):
      if let marker = parameters.add(value, as: .uuid) { return (sql, marker) }
      return isOrdered ? (Self.widened(sql, .uuid), parameters.add(bytes: bytes)) : (sql, nil)
    default: return nil
    }
  }

  private static func compare(
    _ left: String, _ relation: ComparisonOperator, _ right: String, mayBothBeNull: Bool, mayBeNull: Bool
  ) -> String? {
    switch relation {
    case .equal: mayBothBeNull ? "\(left) IS NOT DISTINCT FROM \(right)" : "\(left) = \(right)"
    case .notEqual: mayBeNull ? "\(left) IS DISTINCT FROM \(right)" : "\(left) <> \(right)"
    case .less: "\(left) < \(right)"
    case .lessOrEqual: "\(left) <= \(right)"
    case .greater: "\(left) > \(right)"
    case .greaterOrEqual: "\(left) >= \(right)"
    case .contains: "strpos(\(left), \(right)) > 0"
    case .hasPrefix: "starts_with(\(left), \(right))"
    case .hasSuffix: "right(\(left), char_length(\(right))) = \(right)"
    case .like, .matches, .matching: nil
    }
  }

  private mutating func search(_ sql: String, _ relation: ComparisonOperator, _ text: String) -> String? {
    switch relation {
    case .contains: return "strpos(\(sql), \(parameters.add(text))) > 0"
    case .hasPrefix:
      // A range that an index can serve: texts with a prefix lie between the prefix and the next text of its length.
      let start = "\(sql) >= \(parameters.add(text))"
      if text.isEmpty { return start }
      guard let end = text.endOfPrefix else { return "(\(start) AND starts_with(\(sql), \(parameters.add(text))))" }
      return "(\(start) AND \(sql) < \(parameters.add(end)))"
    case .hasSuffix:
      let marker = parameters.add(text)
      return "right(\(sql), \(text.unicodeScalars.count)) = \(marker)"
    case .like: return "\(sql) LIKE \(parameters.add(text.likePattern))"
    default: return nil
    }
  }

  private mutating func isIn(
    _ operand: Operand, _ values: [StoredValue], _ kind: ValueKind
  ) throws(StoreError) -> String? {
    guard case .sql(let sql, let type, _)? = try side(operand), type.kind == kind else { return nil }
    // Integers of all widths compare with each other.
    let listed: ServerType = type.isPlainInteger ? .bigint : type
    var list = ServerArray(of: listed)
    var hasNull = false
    for value in values {
      if ValueOrder.isNil(value) {
        hasNull = true
        continue
      }
      // A value that the column cannot hold equals none of its values.
      guard let fitting = Self.fitting(value, listed) else { continue }
      if !list.append(fitting), listed == .numeric { return nil }
    }
    let isListed = list.count == 0 ? "FALSE" : "\(sql) = ANY(\(parameters.add(list)))"
    return hasNull ? "(\(isListed) OR \(sql) IS NULL)" : isListed
  }

  /// The same value in the class of a type; nil if there is none.
  private static func fitting(_ value: StoredValue, _ type: ServerType) -> StoredValue? {
    switch (value, type) {
    case (.integer(let number), .double): Double(exactly: number).map(StoredValue.real)
    case (.real(let number), .bigint), (.real(let number), .boolean), (.real(let number), .timestamp):
      Int64(exactly: number).map(StoredValue.integer)
    default: value
    }
  }

  // MARK: Assignments

  /// A condition for each row; nil if it would not be exact.
  mutating func exactCondition(_ predicate: QueryPredicate) throws(StoreError) -> String? {
    try attempt { self_ throws(StoreError) in try self_.condition(predicate) }
  }

  /// A value for a column of a type; nil if the server does not compute it, or if it may not fit.
  mutating func assigned(_ operand: Operand, _ column: ServerType) throws(StoreError) -> String? {
    switch try attempt({ self_ throws(StoreError) in try self_.side(operand) }) {
    case .value(.null): return "NULL::\(column.name)"
    case .value(let value): return parameters.add(value, as: column)
    case .sql(let sql, let type, _):
      if type == column { return sql }
      let widens = type == .smallint && column == .integer || type.isPlainInteger && column == .bigint
      return widens ? "(\(sql))::\(column.name)" : nil
    case nil: return nil
    }
  }

  // MARK: Order

  /// The ORDER BY of a request: the sort keys, then the object's key in the direction of the last sort key. Nil if the
  /// server sorts in another way.
  mutating func order(by keys: ArraySlice<SortKey>) throws(StoreError) -> String? {
    try attempt { self_ throws(StoreError) in try self_.exactOrder(by: keys) }
  }

  private mutating func exactOrder(by keys: ArraySlice<SortKey>) throws(StoreError) -> String? {
    var terms: [String] = []
    for key in keys {
      guard key.query == nil, key.language == nil, var value = try value(key.value, key.kind) else { return nil }
      if key.kind == .text && !key.options.isEmpty {
        guard let functions, ordersFoldedTexts, case .path = key.value else { return nil }
        doubtsOfOrder.append("NOT \(functions.isKnown(value.sql))")
        value.sql = functions.folded(value.sql, key.options)
      }
      // Null comes first in ascending order.
      let nulls = value.isOptional ? key.isDescending ? " NULLS LAST" : " NULLS FIRST" : ""
      terms.append(value.sql + (key.isDescending ? " DESC" : "") + nulls)
    }
    if keys.last?.isOwnKey != true {
      terms.append("\(paths.rootAlias).\(SQLName.id)" + (keys.last?.isDescending == true ? " DESC" : ""))
    }
    return " ORDER BY " + terms.joined(separator: ", ")
  }

  /// A value to sort by or to group by; nil unless the server computes it, as one of a kind.
  mutating func value(
    _ operand: Operand, _ kind: ValueKind
  ) throws(StoreError) -> (sql: String, type: ServerType, isOptional: Bool)? {
    guard case .sql(let sql, let type, let isOptional)? = try side(operand), type.kind == kind else { return nil }
    return (sql, type, isOptional)
  }

  /// The values to return, in their order; nil if the server does not compute all of them.
  mutating func projection(_ projected: [ProjectedValue]) throws(StoreError) -> String? {
    try attempt { self_ throws(StoreError) in
      var columns: [String] = []
      for value in projected {
        guard case .sql(let sql, _, _)? = try self_.side(value.value) else { return nil }
        columns.append(sql)
      }
      return columns.isEmpty ? "1" : columns.joined(separator: ", ")
    }
  }
}

extension ServerType {
  var isPlainInteger: Bool { self == .smallint || self == .integer || self == .bigint }

  /// Whether the server has `min` and `max` for the type.
  var hasExtremes: Bool {
    switch self {
    case .smallint, .integer, .bigint, .text, .numeric, .timestamp: true
    // The extreme of 0 and -0 depends on the order of the rows.
    case .double, .boolean, .bytes, .uuid: false
    }
  }
}

extension ComparisonOperator {
  /// The operator for exchanged sides; nil for one that has none.
  fileprivate var mirrored: ComparisonOperator? {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    case .contains, .hasPrefix, .hasSuffix, .like, .matches, .matching: nil
    }
  }
}

extension String {
  /// The smallest text after all texts with this prefix; nil if there is none.
  fileprivate var endOfPrefix: String? {
    var scalars = Array(unicodeScalars)
    while let last = scalars.popLast() {
      // Surrogates are no scalars.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      guard let next = Unicode.Scalar(next) else { continue }
      var text = ""
      text.unicodeScalars.append(contentsOf: scalars)
      text.unicodeScalars.append(next)
      return text
    }
    return nil
  }

  /// The mask of `like` as the server's pattern.
  fileprivate var likePattern: String {
    var pattern = ""
    var scalars = unicodeScalars.makeIterator()
    while let scalar = scalars.next() {
      switch scalar {
      case "*": pattern += "%"
      case "?": pattern += "_"
      // A backslash at the very end is literal.
      case "\\": pattern.appendLiteral(scalars.next() ?? scalar)
      default: pattern.appendLiteral(scalar)
      }
    }
    return pattern
  }

  private mutating func appendLiteral(_ scalar: Unicode.Scalar) {
    if scalar == "%" || scalar == "_" || scalar == "\\" { unicodeScalars.append("\\") }
    unicodeScalars.append(scalar)
  }
}
