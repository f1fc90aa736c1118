import TrellisSchema

/// Resolves names to the numbers of a model, and checks that compared types are compatible.
struct FormatChecker {
  let text: String
  let model: Model
  /// The objects that a path can start from: the object of the predicate, and the members bound around it.
  var scopes: [Scope]
  /// The number of the next variable. The depth limit is reached long before it overflows.
  var nextVariable: Int
  let bindings: [String: FormatArgument]
  var variables: [FormatVariable] = []
  /// The entities of members that paths lead to without naming a variable.
  var memberEntities: [Int: Entity] = [:]

  struct Scope {
    /// The name; nil for the object of the predicate.
    let name: String?
    let variable: Int
    let entity: Entity
  }

  /// Whether to replace arguments with slots where possible.
  var makesTemplate = false
  var slots: [FormatTemplate.Slot] = []
  /// Whether the values of arguments affected the predicate beyond their own slots.
  var dependsOnValues = false
  /// The argument numbers of bound variables.
  var bindingNumbers: [String: Int] = [:]

  init(_ text: String, _ model: Model, _ entity: Entity, variable: Int, bindings: [String: FormatArgument]) {
    self.text = text
    self.model = model
    self.bindings = bindings
    scopes = [Scope(name: nil, variable: variable, entity: entity)]
    nextVariable = variable + 1
  }

  func error(
    _ code: PredicateFormatError.Code, _ message: String, at offset: Int, suggestion: String? = nil
  ) -> PredicateFormatError {
    PredicateFormatError(code, message, in: text, at: offset, suggestion: suggestion)
  }

  // MARK: Conditions

  /// Passes each case on without unpacking it, so that a nesting level takes little stack.
  mutating func condition(_ node: FormatNode) throws(PredicateFormatError) -> QueryPredicate {
    switch node.content {
    case .constant(let value): .constant(value)
    case .not(let inner): .not(try condition(inner))
    case .and(let terms): .and(try conditions(terms))
    case .or(let terms): .or(try conditions(terms))
    case .comparison(let comparison): try self.comparison(comparison, at: node.start)
    case .quantified: try quantified(node)
    default: try alone(node)
    }
  }

  private mutating func conditions(_ terms: [FormatNode]) throws(PredicateFormatError) -> [QueryPredicate] {
    var conditions: [QueryPredicate] = []
    for term in terms { conditions.append(try condition(term)) }
    return conditions
  }

  /// Checks a value without a comparison: a Bool attribute is compared with true.
  private mutating func alone(_ node: FormatNode) throws(PredicateFormatError) -> QueryPredicate {
    switch try side(node) {
    case .typed(let operand, .bool):
      return .comparison(Comparison(operand, .equal, .value(.integer(1)), kind: .integer))
    case .bool(let value): return .constant(value)
    default:
      throw error(
        .notACondition, "This is a value; a condition is needed here, such as a comparison.", at: node.start)
    }
  }

  private mutating func quantified(_ node: FormatNode) throws(PredicateFormatError) -> QueryPredicate {
    guard case .quantified(let quantifier, let members, let name, let condition) = node.content else {
      return .constant(false)
    }
    let (path, variable, inner) = try within(members, name, condition)
    return .quantified(quantifier, path, variable: variable, inner)
  }

  /// Checks a condition on the members that a path leads to.
  mutating func within(
    _ members: FormatNode, _ name: String, _ condition: FormatNode
  ) throws(PredicateFormatError) -> (PropertyPath, variable: Int, QueryPredicate) {
    try within(members, name) { checker, path, variable throws(PredicateFormatError) in
      (path, variable, try checker.condition(condition))
    }
  }

  /// Binds a variable to the members that a path leads to, for the duration of `body`.
  mutating func within<Result>(
    _ members: FormatNode, _ name: String,
    _ body: (inout FormatChecker, PropertyPath, Int) throws(PredicateFormatError) -> Result
  ) throws(PredicateFormatError) -> Result {
    let (path, destination) = try self.members(members)
    guard !scopes.contains(where: { $0.name == name }) else {
      throw error(.unexpected, "The variable $\(name) has a meaning here already; use another name.", at: members.start)
    }
    let variable = nextVariable
    nextVariable += 1
    scopes.append(Scope(name: name, variable: variable, entity: destination))
    let result = try body(&self, path, variable)
    scopes.removeLast()
    nextVariable -= 1
    return result
  }

  /// Resolves a path to a to-many relationship.
  private mutating func members(_ node: FormatNode) throws(PredicateFormatError) -> (PropertyPath, Entity) {
    guard case .path(let path) = node.content else {
      throw error(.notMany, "A path to a to-many relationship is needed here.", at: node.start)
    }
    let resolved = try resolve(path, at: node.start)
    guard let last = resolved.crossings.first, resolved.crossings.count == 1, resolved.isWhole else {
      throw error(.notMany, "This path does not end at one to-many relationship.", at: node.start)
    }
    return (last.path, last.entity)
  }
}
