public import TrellisSchema

/// A prepared path: to-one relationships to an object, and a property of that object.
@usableFromInline struct PreparedPath: Sendable {
  @usableFromInline let variable: Int
  @usableFromInline let partners: [Int]
  @usableFromInline let last: Int

  /// Returns nil for a path without steps.
  init?(_ path: PropertyPath) {
    var steps = path.steps
    guard let last = steps.popLast() else { return nil }
    self.last = last
    variable = Int(path.variable)
    partners = steps
  }

  /// The object that has the last property; nil if a to-one relationship on the way is nil.
  @inlinable func owner<Object: QueryObject>(in scope: EvaluationScope<Object>) throws -> Object? {
    guard var object = scope.object(variable) else { return nil }
    for step in partners {
      guard let next = try object.queryPartner(step) else { return nil }
      object = next
    }
    return object
  }
}

/// A prepared path of to-one relationships to an object.
@usableFromInline struct PreparedWalk: Sendable {
  @usableFromInline let variable: Int
  @usableFromInline let partners: [Int]

  init(_ path: PropertyPath) {
    variable = Int(path.variable)
    partners = path.steps
  }

  /// The object at the end of the path; nil if a to-one relationship on the way is nil.
  @inlinable func end<Object: QueryObject>(in scope: EvaluationScope<Object>) throws -> Object? {
    var object = scope.object(variable)
    for step in partners { object = try object?.queryPartner(step) }
    return object
  }
}

/// One side of a comparison, with constant parts computed in advance.
@usableFromInline enum PreparedOperand: Sendable {
  case value(StoredValue)
  case key(variable: Int)
  case property(PreparedPath)
  case count(PreparedPath)
  case entity(PreparedWalk)
  case computed(PreparedComputation)

  @inlinable func value<Object: QueryObject>(in scope: EvaluationScope<Object>) throws -> StoredValue {
    switch self {
    case .value(let value): return value
    case .key(let variable): return scope.object(variable).map { .integer($0.queryKey) } ?? .null
    case .property(let path):
      guard let owner = try path.owner(in: scope) else { return .null }
      return try owner.queryValue(path.last)
    case .count(let path):
      guard let owner = try path.owner(in: scope) else { return .integer(0) }
      return .integer(Int64(try owner.queryMemberCount(path.last)))
    case .entity(let walk): return try walk.end(in: scope).map { .text($0.queryEntityName) } ?? .null
    case .computed(let computation): return try computation.value(in: scope)
    }
  }

  /// Whether the value is constant, in which case it is already folded with the comparison's options.
  @usableFromInline var isConstant: Bool {
    if case .value = self { true } else { false }
  }
}

/// The objects bound to variables: the evaluated object, and the members bound by enclosing quantifiers.
@usableFromInline struct EvaluationScope<Object: QueryObject> {
  @usableFromInline let root: Object
  @usableFromInline var members: [(variable: Int, object: Object)] = []

  @inlinable init(_ root: Object) { self.root = root }

  @inlinable func object(_ variable: Int) -> Object? {
    if variable == 0 { return root }
    return members.last { $0.variable == variable }?.object
  }
}
