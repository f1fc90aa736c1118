import Foundation
public import TrellisModel

/// A predicate prepared for evaluation on many objects: paths are unrolled, constants folded, lists hashed.
///
/// ```swift
/// let evaluator = try PredicateEvaluator(predicate)
/// let found = try objects.filter { try evaluator.matches($0) }
/// ```
public struct PredicateEvaluator: Sendable {
  @usableFromInline let root: EvaluationNode

  /// - Throws: ``EvaluationError`` if the predicate is nested too deep, or uses a variable that no quantifier binds.
  /// - Complexity: linear in the number of nodes and values.
  public init(_ predicate: QueryPredicate) throws(EvaluationError) {
    try predicate.checkDepth()
    var preparation = PredicatePreparation()
    root = try preparation.node(predicate)
  }

  /// Whether the predicate holds for an object.
  ///
  /// - Throws: errors of the object's methods.
  @inlinable public func matches<Object: QueryObject>(_ object: Object) throws -> Bool {
    var scope = EvaluationScope(object)
    return try root.holds(in: &scope)
  }
}

extension StoreError {
  /// Runs `body` and converts an error of a predicate's evaluation to a store error.
  package static func evaluating<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as EvaluationError {
      throw StoreError(.limit, "The store cannot evaluate the request.", remedy: error.description)
    }
  }
}

// MARK: - Query object

/// An object that predicates and sort keys can be evaluated on: a managed object, or a row of a store in memory.
///
/// Properties are numbered as in ``Entity/properties``. If managed objects are classes with subclasses, a struct that
/// wraps the object conforms.
public protocol QueryObject {
  /// The object's key.
  var queryKey: Int64 { get }
  /// The name of the object's own entity.
  var queryEntityName: String { get }
  /// The value of an attribute. For a to-one, the partner's key or null; for a to-many, the number of members.
  func queryValue(_ property: Int) throws -> StoredValue
  /// The object that a to-one relationship references, wherever the reference is stored; nil if there is none.
  func queryPartner(_ property: Int) throws -> Self?
  /// The members of a to-many relationship, in any order.
  func queryMembers(_ property: Int) throws -> [Self]
  /// The members of an ordered to-many relationship, in order. The default implementation returns ``queryMembers(_:)``.
  func queryOrderedMembers(_ property: Int) throws -> [Self]
  /// The number of members of a to-many relationship. The default implementation counts ``queryMembers(_:)``.
  func queryMemberCount(_ property: Int) throws -> Int
}

extension QueryObject {
  public func queryOrderedMembers(_ property: Int) throws -> [Self] { try queryMembers(property) }
  public func queryMemberCount(_ property: Int) throws -> Int { try queryMembers(property).count }
}

extension QueryObject {
  /// The value at the end of a path from this object: an attribute, the key of a to-one or, without steps, the object's
  /// own key. Null if a to-one relationship on the way is nil.
  ///
  /// - Throws: errors of the object's methods.
  public func value(at path: PropertyPath) throws -> StoredValue {
    if let only = path.onlyStep { return try queryValue(only) }
    var steps = path.steps
    guard let last = steps.popLast() else { return .integer(queryKey) }
    var object = self
    for step in steps {
      guard let next = try object.queryPartner(step) else { return .null }
      object = next
    }
    return try object.queryValue(last)
  }
}

// MARK: - Query clock

/// The time that ``Operand/now`` evaluates to.
public enum QueryClock {
  /// The current time in microseconds since 1970-01-01T00:00:00Z.
  public static var now: Int64 { Int64((Date().timeIntervalSince1970 * 1_000_000).rounded()) }
}

// MARK: - Evaluation node

/// The prepared form of a ``QueryPredicate`` tree.
///
/// Payloads are references and each case has its own function, so that a nesting level takes little stack.
@usableFromInline indirect enum EvaluationNode: Sendable {
  case constant(Bool)
  case not(EvaluationNode)
  case and([EvaluationNode])
  case or([EvaluationNode])
  case comparison(PreparedComparison)
  case isIn(PreparedList)
  case quantified(PreparedQuantifier)

  @inlinable func holds<Object: QueryObject>(in scope: inout EvaluationScope<Object>) throws -> Bool {
    switch self {
    case .constant(let value): return value
    case .not(let inner): return try !inner.holds(in: &scope)
    case .and(let terms): return try Self.all(of: terms, in: &scope)
    case .or(let terms): return try Self.any(of: terms, in: &scope)
    case .comparison(let comparison): return try comparison.holds(in: scope)
    case .isIn(let list): return try list.holds(in: scope)
    case .quantified(let quantifier): return try quantifier.holds(in: &scope)
    }
  }

  @inlinable static func all<Object: QueryObject>(
    of terms: [EvaluationNode], in scope: inout EvaluationScope<Object>
  ) throws -> Bool {
    for term in terms where try !term.holds(in: &scope) { return false }
    return true
  }

  @inlinable static func any<Object: QueryObject>(
    of terms: [EvaluationNode], in scope: inout EvaluationScope<Object>
  ) throws -> Bool {
    for term in terms where try term.holds(in: &scope) { return true }
    return false
  }
}

/// An operand and the list of values that it is tested against.
@usableFromInline final class PreparedList: Sendable {
  @usableFromInline let operand: PreparedOperand
  @usableFromInline let values: Set<StoredValue>
  @usableFromInline let kind: ValueKind

  init(_ operand: PreparedOperand, _ values: [StoredValue], _ kind: ValueKind) {
    self.operand = operand
    self.values = Set(values.map { ValueOrder.normalized($0, kind: kind) })
    self.kind = kind
  }

  @inlinable func holds<Object: QueryObject>(in scope: EvaluationScope<Object>) throws -> Bool {
    let value = try operand.value(in: scope)
    // Data in a file equals the same bytes in a list, but hash values do not reflect that.
    if case .file = value { return values.contains { ValueOrder.areEqual(value, $0, kind: kind) } }
    return values.contains(ValueOrder.normalized(value, kind: kind))
  }
}

/// A condition on the members of a to-many relationship.
@usableFromInline final class PreparedQuantifier: Sendable {
  @usableFromInline let quantifier: Quantifier
  @usableFromInline let path: PreparedPath
  @usableFromInline let variable: Int
  @usableFromInline let condition: EvaluationNode

  init(_ quantifier: Quantifier, _ path: PreparedPath, variable: Int, _ condition: EvaluationNode) {
    self.quantifier = quantifier
    self.path = path
    self.variable = variable
    self.condition = condition
  }

  @inlinable func holds<Object: QueryObject>(in scope: inout EvaluationScope<Object>) throws -> Bool {
    let members = try path.owner(in: scope)?.queryMembers(path.last) ?? []
    // One member decides: a match for `any` and `none`, a mismatch for `all`.
    let decisive = quantifier != .all
    for member in members {
      scope.members.append((variable, member))
      defer { scope.members.removeLast() }
      if try condition.holds(in: &scope) == decisive { return quantifier == .any }
    }
    return quantifier != .any
  }
}

// MARK: - Operand evaluator

/// An operand prepared for evaluation on many objects.
public struct OperandEvaluator: Sendable {
  let operand: PreparedOperand

  /// - Throws: ``EvaluationError`` if the operand uses a variable other than 0, or contains a parameter.
  /// - Complexity: linear in the number of nodes and values.
  public init(_ operand: Operand) throws(EvaluationError) {
    try QueryPredicate.comparison(Comparison(operand, .equal, operand, kind: .integer)).checkDepth()
    var preparation = PredicatePreparation()
    self.operand = try preparation.operand(operand)
  }

  /// - Throws: errors of the object's methods.
  public func value<Object: QueryObject>(of object: Object) throws -> StoredValue {
    try operand.value(in: EvaluationScope(object))
  }
}

// MARK: - Predicate preparation

/// Builds an ``EvaluationNode`` from a predicate that passed the depth check.
struct PredicatePreparation {
  /// The variables that enclosing quantifiers bind. Variable 0 is always bound.
  private var bound: [Int] = [0]

  /// Passes each case on without unpacking it: a stack frame with the payloads of all cases would repeat at every
  /// level.
  mutating func node(_ predicate: QueryPredicate) throws(EvaluationError) -> EvaluationNode {
    switch predicate {
    case .constant(let value): .constant(value)
    case .not(let inner): .not(try node(inner))
    case .and(let terms): .and(try nodes(terms))
    case .or(let terms): .or(try nodes(terms))
    case .comparison, .isIn: try leaf(predicate)
    case .quantified: try quantified(predicate)
    }
  }

  private mutating func leaf(_ predicate: QueryPredicate) throws(EvaluationError) -> EvaluationNode {
    switch predicate {
    case .comparison(let comparison):
      if comparison.hasUnkeptDate { throw .unkeptDate }
      return .comparison(
        PreparedComparison(comparison, left: try operand(comparison.left), right: try operand(comparison.right)))
    case .isIn(let tested, let values, let kind):
      if QueryPredicate.haveUnkeptDate(values, kind) { throw .unkeptDate }
      return .isIn(PreparedList(try operand(tested), values, kind))
    default: return .constant(false)
    }
  }

  private mutating func nodes(_ terms: [QueryPredicate]) throws(EvaluationError) -> [EvaluationNode] {
    var nodes: [EvaluationNode] = []
    nodes.reserveCapacity(terms.count)
    for term in terms { nodes.append(try node(term)) }
    return nodes
  }

  private mutating func quantified(_ predicate: QueryPredicate) throws(EvaluationError) -> EvaluationNode {
    guard case .quantified(let quantifier, let path, let variable, let condition) = predicate else {
      return .constant(false)
    }
    let members = try prepared(path, "A quantifier")
    bound.append(variable)
    let prepared = try node(condition)
    bound.removeLast()
    return .quantified(PreparedQuantifier(quantifier, members, variable: variable, prepared))
  }

  mutating func operand(_ operand: Operand) throws(EvaluationError) -> PreparedOperand {
    switch operand {
    case .value(let value): return .value(value)
    case .path(let path):
      try checkVariable(path)
      return PreparedPath(path).map { .property($0) } ?? .key(variable: Int(path.variable))
    case .count(let path): return .count(try prepared(path, "A count"))
    case .entity(let path):
      try checkVariable(path)
      return .entity(PreparedWalk(path))
    case .now: return .value(.integer(QueryClock.now))
    case .computed(.stored(_, let inner)): return try self.operand(inner)
    case .computed(let computation): return .computed(PreparedComputation(try prepared(computation)))
    case .parameter: throw EvaluationError("The predicate has a place for a value, and none is there.")
    }
  }

  private mutating func prepared(_ computation: Computation) throws(EvaluationError) -> PreparedComputation.Content {
    switch computation {
    case .arithmetic(let sign, let left, let right): return .arithmetic(sign, try operand(left), try operand(right))
    case .function(let function, let inner): return .function(function, try operand(inner))
    case .date(let function, let inner):
      return .date(PreparedDateFunction(.of(try function.settled())), try operand(inner))
    case .aggregate(let function, let path, let variable, let inner, let kind):
      let members = try prepared(path, "An aggregate")
      bound.append(variable)
      let value = try operand(inner)
      bound.removeLast()
      return .aggregate(function, members, variable: variable, value, kind)
    case .countWhere(let path, let variable, let condition):
      let members = try prepared(path, "A count")
      bound.append(variable)
      let prepared = try node(condition)
      bound.removeLast()
      return .countWhere(members, variable: variable, prepared)
    case .member(let place, let path, let variable, let inner):
      let members = try prepared(path, "A place")
      bound.append(variable)
      let value = try operand(inner)
      bound.removeLast()
      return .member(place, members, variable: variable, value)
    case .conditional(let condition, let first, let second):
      return .conditional(try node(condition), try operand(first), try operand(second))
    case .list(let function, let operands, let kind):
      var values: [PreparedOperand] = []
      for inner in operands { values.append(try operand(inner)) }
      return .list(function, values, kind)
    case .stored(_, let inner): return .conditional(.constant(true), try operand(inner), .value(.null))
    }
  }

  private func prepared(_ path: PropertyPath, _ place: String) throws(EvaluationError) -> PreparedPath {
    try checkVariable(path)
    guard let path = PreparedPath(path) else { throw EvaluationError("\(place) needs a path to a to-many.") }
    return path
  }

  private func checkVariable(_ path: PropertyPath) throws(EvaluationError) {
    guard bound.contains(Int(path.variable)) else {
      throw EvaluationError("The predicate uses variable \(path.variable), which no quantifier around it binds.")
    }
  }
}

// MARK: - Sort order

/// Sort keys prepared for ordering many objects, in the same way as every store does.
///
/// nil sorts first in ascending order. Ties are broken by the objects' keys, in the direction of the last sort key.
/// Without sort keys, objects sort by their keys in ascending order.
public struct SortOrder: Sendable {
  @usableFromInline let keys: [SortKey]
  @usableFromInline let operands: [PreparedOperand]
  /// The order of each sort key's language; nil for keys that sort by bytes or numbers.
  private let languages: [LanguageOrder?]
  /// The search query of each sort key; nil for keys that sort by values.
  @usableFromInline let queries: [SearchQuery?]

  /// - Throws: ``EvaluationError`` if a value starts at a variable other than 0, or is nested too deep.
  public init(_ keys: [SortKey]) throws(EvaluationError) {
    self.keys = keys
    var operands: [PreparedOperand] = []
    for key in keys { operands.append(try OperandEvaluator(key.value).operand) }
    self.operands = operands
    languages = keys.map { key in key.language.map { LanguageOrder($0) } }
    queries = keys.map { key in key.query.map { SearchQuery($0) } }
  }

  @usableFromInline static func rank(_ value: StoredValue, _ query: SearchQuery) -> StoredValue {
    if case .text(let text) = value { .real(query.rank(of: text)) } else { .null }
  }

  /// Negative if `left` sorts first, positive if `right` does, zero only for the same key.
  ///
  /// - Throws: errors of the objects' methods.
  @inlinable public func compare<Object: QueryObject>(_ left: Object, _ right: Object) throws -> Int {
    compare(try sortValues(of: left), left.queryKey, try sortValues(of: right), right.queryKey)
  }

  /// The objects, sorted.
  ///
  /// - Throws: errors of the objects' methods.
  /// - Complexity: O(*n* log *n*) comparisons; the values of each object are read once.
  @inlinable public func sorted<Object: QueryObject>(_ objects: [Object]) throws -> [Object] {
    var entries: [SortEntry] = []
    entries.reserveCapacity(objects.count)
    for (place, object) in objects.enumerated() {
      entries.append(SortEntry(place: place, key: object.queryKey, values: try sortValues(of: object)))
    }
    entries.sort { compare($0.values, $0.key, $1.values, $1.key) < 0 }
    return entries.map { objects[$0.place] }
  }

  /// The sort values of an object, folded if a key's options require it.
  @inlinable func sortValues<Object: QueryObject>(of object: Object) throws -> [StoredValue] {
    let scope = EvaluationScope(object)
    var values: [StoredValue] = []
    values.reserveCapacity(keys.count)
    for (key, operand) in zip(keys, operands) {
      let value = try operand.value(in: scope)
      if let query = queries[values.count] {
        values.append(Self.rank(value, query))
        continue
      }
      values.append(key.kind == .text && key.language == nil ? PreparedComparison.fold(value, key.options) : value)
    }
    return values
  }

  @usableFromInline func compare(_ a: [StoredValue], _ aKey: Int64, _ b: [StoredValue], _ bKey: Int64) -> Int {
    for (place, (key, values)) in zip(keys, zip(a, b)).enumerated() {
      let order =
        if let language = languages[place], case (.text(let left), .text(let right)) = values {
          language.compare(left, right)
        } else {
          ValueOrder.compare(values.0, values.1, kind: key.kind)
        }
      if order != 0 { return key.isDescending ? -order : order }
    }
    let order = aKey < bKey ? -1 : aKey > bKey ? 1 : 0
    return keys.last?.isDescending == true ? -order : order
  }
}

/// The index of an object before sorting, with its sort values.
@usableFromInline struct SortEntry {
  @usableFromInline let place: Int
  @usableFromInline let key: Int64
  @usableFromInline let values: [StoredValue]

  @usableFromInline init(place: Int, key: Int64, values: [StoredValue]) {
    self.place = place
    self.key = key
    self.values = values
  }
}

extension SortOrder {
  /// The sort values of an object, one per sort key, to be stored and compared later.
  ///
  /// - Throws: errors of the object's methods.
  package func values<Object: QueryObject>(of object: Object) throws -> [StoredValue] { try sortValues(of: object) }

  /// Negative if the entry with the first values and key sorts before the other.
  package func order(_ a: [StoredValue], _ aKey: Int64, _ b: [StoredValue], _ bKey: Int64) -> Int {
    compare(a, aKey, b, bKey)
  }
}
