public import TrellisSchema

/// A path as evaluation walks it: through to-ones to an object, and there to a property.
@usableFromInline struct PreparedPath: Sendable {
  @usableFromInline let variable: Int
  @usableFromInline let partners: [Int]
  @usableFromInline let last: Int

  /// Nil for a path without steps.
  init?(_ path: PropertyPath) {
    var steps = path.steps
    guard let last = steps.popLast() else { return nil }
    self.last = last
    variable = Int(path.variable)
    partners = steps
  }

  /// The object that has the last property; nil when a to-one on the way is.
  @inlinable func owner<Object: QueryObject>(in scope: EvaluationScope<Object>) throws -> Object? {
    guard var object = scope.object(variable) else { return nil }
    for step in partners {
      guard let next = try object.queryPartner(step) else { return nil }
      object = next
    }
    return object
  }
}

/// A path as evaluation walks it: through to-ones to an object.
@usableFromInline struct PreparedWalk: Sendable {
  @usableFromInline let variable: Int
  @usableFromInline let partners: [Int]

  init(_ path: PropertyPath) {
    variable = Int(path.variable)
    partners = path.steps
  }

  /// Nil when a to-one on the way is.
  @inlinable func end<Object: QueryObject>(in scope: EvaluationScope<Object>) throws -> Object? {
    var object = scope.object(variable)
    for step in partners { object = try object?.queryPartner(step) }
    return object
  }
}

/// One side of a comparison, with what can be done once done.
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

  /// Whether the value never changes, so that it was prepared with the comparison's options.
  @usableFromInline var isConstant: Bool {
    if case .value = self { true } else { false }
  }
}

/// The objects that variables stand for: the one asked about, and the members bound by quantifiers around.
@usableFromInline struct EvaluationScope<Object: QueryObject> {
  @usableFromInline let root: Object
  @usableFromInline var members: [(variable: Int, object: Object)] = []

  @inlinable init(_ root: Object) { self.root = root }

  @inlinable func object(_ variable: Int) -> Object? {
    if variable == 0 { return root }
    return members.last { $0.variable == variable }?.object
  }
}
