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

// MARK: - Format variables

/// Variables without a value take the type of the side that they are compared with.
extension FormatChecker {
  /// The parameter for a variable without a value.
  ///
  /// - Parameter operand: the other side of the comparison.
  mutating func parameter(
    _ name: String, _ type: FormatType, beside operand: Operand, _ shape: FormatVariable.Shape = .one, at start: Int
  ) throws(PredicateFormatError) -> Operand {
    // The type of a constant depends on how it is written, which a printed predicate does not show.
    guard !operand.isConstant, type != .object(nil), type != .enumeration(nil) else {
      throw error(.unboundVariable, "What $\(name) is cannot be told; compare it with a property.", at: start)
    }
    if shape == .range, type == .url || type == .bool {
      throw error(.typeMismatch, "There are no ranges of what is \(type.name); compare with two variables.", at: start)
    }
    let attribute = attribute(operand, type)
    guard let number = variables.firstIndex(where: { $0.name == name }) else {
      variables.append(FormatVariable(name: name, type: type, attribute: attribute, shape: shape, offset: start))
      return .parameter(variables.count - 1)
    }
    let known = variables[number]
    guard known.type == type, known.shape == shape else {
      throw error(
        .typeMismatch,
        "$\(name) is \(known.description(in: model)) where it comes first, and \(Self.description(type, shape, model)) here; "
          + "use two variables.", at: start)
    }
    if known.attribute != attribute { variables[number].attribute = nil }
    return .parameter(number)
  }

  static func description(_ type: FormatType, _ shape: FormatVariable.Shape, _ model: Model) -> String {
    var name = type.name
    if case .object(let entity?) = type { name = "an object of '\(model.entities[entity].name)'" }
    return switch shape {
    case .one: name
    case .list: "a list (each \(name))"
    case .range: "a range (each bound \(name))"
    }
  }

  /// The type of the attribute at the end of a path; nil for computed values, and if values are treated as another
  /// type, as the stored value of an enum is in a search.
  private func attribute(_ operand: Operand, _ type: FormatType) -> AttributeType? {
    guard case .path(let path) = operand else { return nil }
    let variable = Int(path.variable)
    var entity = scopes.last { $0.variable == variable }?.entity ?? memberEntities[variable]
    for step in path.steps {
      guard let property = entity?.properties[step] else { return nil }
      if case .attribute(let attribute) = property {
        return FormatType(attribute) == type ? attribute.type : nil
      }
      entity = property.relationship.map { model.entities[$0.destination] }
    }
    return nil
  }
}

extension FormatVariable {
  fileprivate func description(in model: Model) -> String { FormatChecker.description(type, shape, model) }
}

// MARK: - Format types

extension FormatType {
  init(_ attribute: Attribute) {
    self =
      switch attribute.type {
      case .string: .text
      case .bool: .bool
      case .integer: .integer
      case .float, .double: .real
      case .decimal: .decimal
      case .date: .date
      case .data: .data
      case .uuid: .uuid
      case .url: .url
      case .enumeration(let name): .enumeration(name)
      case .array, .codable: .json(attribute.type.spelling)
      }
  }

  /// The kind by which values of the type are compared.
  var kind: ValueKind {
    switch self {
    case .integer, .bool, .date, .object: .integer
    case .real: .real
    case .decimal: .decimal
    case .text, .url, .json, .enumeration, .entity: .text
    case .data, .uuid: .blob
    }
  }
}

// MARK: - Format choices

/// `TERNARY`, and aggregates of lists.
extension FormatChecker {
  /// `TERNARY(condition, value, value)`.
  mutating func ternary(_ arguments: [FormatNode], _ start: Int) throws(PredicateFormatError) -> FormatSide {
    guard arguments.count == 3 else {
      throw error(
        .wrongArgument, "TERNARY takes a condition and two values, as in TERNARY(stars > 3, 'good', 'bad').", at: start)
    }
    let condition = try self.condition(arguments[0])
    let sides = (try side(arguments[1]), try side(arguments[2]))
    let (first, second, type) = try unified(sides.0, sides.1, at: (arguments[1].start, arguments[2].start))
    // For data stored externally, an SQLite store only has the references.
    if type == .data { throw error(.unsupported, "TERNARY does not choose between data.", at: start) }
    return .typed(.computed(.conditional(condition, first, second)), type)
  }

  /// The maximum number of values of a function, because each becomes part of a store's statement.
  private static let listLimit = 100

  /// `max({stars, 3})` and similar calls.
  mutating func ofList(
    _ name: String, _ list: [PlacedSide], at start: Int
  ) throws(PredicateFormatError) -> FormatSide {
    guard let function = Self.aggregates[name] else { return .typed(.value(.integer(Int64(list.count))), .integer) }
    guard list.count <= Self.listLimit else {
      throw error(
        .tooLong, "The list has more than \(Self.listLimit) values; compute the result before, and bind it.", at: start)
    }
    var values: [(operand: Operand, type: FormatType, start: Int)] = []
    for element in list {
      if element.side.isNull { continue }
      let (operand, type) = try typed(element.side, at: element.start)
      values.append((operand, type, element.start))
    }
    let type = try common(values, function)
    let operands = values.map { value in
      switch (value.type, type) {
      case (.integer, .decimal): Self.converted(value.operand, .decimal)
      case (.decimal, .real): Self.converted(value.operand, .real)
      default: value.operand
      }
    }
    let isMean = function == .average && type == .integer
    return .typed(.computed(.list(function, operands, type.kind)), isMean ? .real : type)
  }

  private func common(
    _ values: [(operand: Operand, type: FormatType, start: Int)], _ function: AggregateFunction
  ) throws(PredicateFormatError) -> FormatType {
    var common = values.first?.type ?? .integer
    for (_, type, start) in values {
      if type.isNumber && common.isNumber {
        common = Self.wider(common, type)
      } else if type != common || (type != .text && type != .date) || function == .sum || function == .average {
        throw error(
          .typeMismatch, "This is \(type.name); the values of a list are numbers, or for min and max texts or dates.",
          at: start)
      }
    }
    return common
  }

  private static func converted(_ operand: Operand, _ function: ValueFunction) -> Operand {
    if case .value(let value) = operand { return .value(ValueArithmetic.apply(function, value)) }
    return .computed(.function(function, operand))
  }
}
