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
package struct OperandEvaluator: Sendable {
  private let operand: PreparedOperand

  /// - Throws: ``EvaluationError`` if the operand uses a variable other than 0, or contains a parameter.
  package init(_ operand: Operand) throws(EvaluationError) {
    try QueryPredicate.comparison(Comparison(operand, .equal, operand, kind: .integer)).checkDepth()
    var preparation = PredicatePreparation()
    self.operand = try preparation.operand(operand)
  }

  /// - Throws: errors of the object's methods.
  package func value<Object: QueryObject>(of object: Object) throws -> StoredValue {
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
    case .computed(let computation): return .computed(PreparedComputation(try prepared(computation)))
    case .parameter: throw EvaluationError("The predicate has a place for a value, and none is there.")
    }
  }

  private mutating func prepared(_ computation: Computation) throws(EvaluationError) -> PreparedComputation.Content {
    switch computation {
    case .arithmetic(let sign, let left, let right): return .arithmetic(sign, try operand(left), try operand(right))
    case .function(let function, let inner): return .function(function, try operand(inner))
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
