/// A parsed format: its predicate, with slots for the arguments that affect only their own value.
struct FormatTemplate: Sendable {
  /// A slot for an argument.
  struct Slot: Hashable, Sendable {
    /// The argument's number.
    let argument: Int
    /// The type of the side that the argument is compared with.
    let type: FormatType
    let isList: Bool
    /// The offset in the format.
    let start: Int
  }

  let entity: Entity
  let text: String
  let predicate: QueryPredicate
  let slots: [Slot]

  /// The predicate with the values of other arguments of the same types.
  ///
  /// - Throws: ``PredicateFormatError`` if a value is invalid for the compared type, such as an unknown text for an
  ///   enum.
  /// - Complexity: linear in the predicate and the values.
  func predicate(_ arguments: [FormatArgument], in model: Model) throws(PredicateFormatError) -> QueryPredicate {
    guard !slots.isEmpty else { return predicate }
    return try filled(predicate, arguments, model)
  }

  private func filled(
    _ predicate: QueryPredicate, _ arguments: [FormatArgument], _ model: Model
  ) throws(PredicateFormatError) -> QueryPredicate {
    switch predicate {
    case .constant: return predicate
    case .isIn(let operand, let values, let kind): return .isIn(try filled(operand, arguments, model), values, kind)
    case .not(let inner): return .not(try filled(inner, arguments, model))
    case .and(let terms): return .and(try filled(terms, arguments, model))
    case .or(let terms): return .or(try filled(terms, arguments, model))
    case .quantified(let quantifier, let path, let variable, let inner):
      return .quantified(quantifier, path, variable: variable, try filled(inner, arguments, model))
    case .comparison(var comparison):
      if case .parameter(let number) = comparison.left {
        comparison.left = .value(try value(slots[number], arguments, model))
      }
      comparison.left = try filled(comparison.left, arguments, model)
      comparison.right = try filled(comparison.right, arguments, model)
      guard case .parameter(let number) = comparison.right else { return .comparison(comparison) }
      let slot = slots[number]
      if slot.isList { return .isIn(comparison.left, try values(slot, arguments, model), comparison.kind) }
      comparison.right = .value(try value(slot, arguments, model))
      return .comparison(comparison)
    }
  }

  /// An operand with the slots of its conditions filled.
  private func filled(
    _ operand: Operand, _ arguments: [FormatArgument], _ model: Model
  ) throws(PredicateFormatError) -> Operand {
    guard case .computed(let computation) = operand else { return operand }
    switch computation {
    case .arithmetic(let sign, let left, let right):
      return .computed(.arithmetic(sign, try filled(left, arguments, model), try filled(right, arguments, model)))
    case .function(let function, let inner): return .computed(.function(function, try filled(inner, arguments, model)))
    case .date(let function, let inner): return .computed(.date(function, try filled(inner, arguments, model)))
    case .aggregate(let function, let path, let variable, let inner, let kind):
      return .computed(.aggregate(function, path, variable: variable, try filled(inner, arguments, model), kind))
    case .countWhere(let path, let variable, let condition):
      return .computed(.countWhere(path, variable: variable, try filled(condition, arguments, model)))
    case .member(let place, let path, let variable, let inner):
      return .computed(.member(place, path, variable: variable, try filled(inner, arguments, model)))
    case .conditional(let condition, let first, let second):
      return .computed(
        .conditional(
          try filled(condition, arguments, model), try filled(first, arguments, model),
          try filled(second, arguments, model)))
    case .list(let function, let operands, let kind):
      var values: [Operand] = []
      for inner in operands { values.append(try filled(inner, arguments, model)) }
      return .computed(.list(function, values, kind))
    // The expression of an attribute has no arguments.
    case .stored: return operand
    }
  }

  private func filled(
    _ terms: [QueryPredicate], _ arguments: [FormatArgument], _ model: Model
  ) throws(PredicateFormatError) -> [QueryPredicate] {
    var result: [QueryPredicate] = []
    result.reserveCapacity(terms.count)
    for term in terms { result.append(try filled(term, arguments, model)) }
    return result
  }

  private func value(
    _ slot: Slot, _ arguments: [FormatArgument], _ model: Model
  ) throws(PredicateFormatError) -> StoredValue {
    try value(of: arguments[slot.argument], slot, model)
  }

  private func values(
    _ slot: Slot, _ arguments: [FormatArgument], _ model: Model
  ) throws(PredicateFormatError) -> [StoredValue] {
    guard case .list(let list) = arguments[slot.argument] else { return [] }
    var values: [StoredValue] = []
    values.reserveCapacity(list.count)
    for element in list { values.append(try value(of: element, slot, model)) }
    return values
  }

  private func value(
    of argument: FormatArgument, _ slot: Slot, _ model: Model
  ) throws(PredicateFormatError) -> StoredValue {
    guard case .value(let value, let given) = argument else { return .null }
    switch (given, slot.type) {
    // The argument types, which are part of the shape, already show that these are compatible.
    case (.object, .object), (.enumeration, .enumeration): return value
    default: if given == slot.type { return value }
    }
    if slot.type == .real, case .integer(let integer) = value {
      return Double(exactly: integer).map { .real($0) } ?? value
    }
    let checker = FormatChecker(text, model, entity, variable: 0, bindings: [:])
    return try checker.constant(.argument(argument), slot.type, at: slot.start)
  }
}

/// Arguments that affect only their own value get a slot in a template.
extension FormatChecker {
  /// A side of a comparison, with the number of its argument if it is one.
  mutating func placed(_ node: FormatNode) throws(PredicateFormatError) -> (FormatSide, argument: Int?) {
    guard makesTemplate else { return (try side(node), nil) }
    switch node.content {
    case .argument(let argument, let number): return (Self.side(argument), number)
    case .path(let path) where path.steps.isEmpty:
      guard let name = path.variable, let bound = bindings[name], !scopes.contains(where: { $0.name == name }) else {
        break
      }
      return (Self.side(bound), bindingNumbers[name])
    default: break
    }
    return (try side(node), nil)
  }

  /// The condition with a slot for its argument, if the argument's value affects nothing else.
  mutating func withSlot(
    _ condition: QueryPredicate, _ left: (FormatSide, argument: Int?), _ right: (FormatSide, argument: Int?),
    at starts: (Int, Int)
  ) -> QueryPredicate {
    switch (left.argument, right.argument) {
    case (nil, nil): return condition
    case (nil, let number?):
      if let slotted = slotted(condition, left.0, right.0, number, isLeft: false, at: starts.1) { return slotted }
    case (let number?, nil):
      if let slotted = slotted(condition, right.0, left.0, number, isLeft: true, at: starts.0) { return slotted }
    default: break
    }
    // Whether an argument is nil follows from the argument types alone.
    if left.argument == nil || left.0.isNull, right.argument == nil || right.0.isNull { return condition }
    dependsOnValues = true
    return condition
  }

  private mutating func slotted(
    _ condition: QueryPredicate, _ typed: FormatSide, _ side: FormatSide, _ number: Int, isLeft: Bool, at start: Int
  ) -> QueryPredicate? {
    guard case .typed(_, let type) = typed, case .argument(let argument) = side else { return nil }
    switch (condition, argument) {
    case (.comparison(var comparison), .value(_, let given)):
      guard comparison.relation != .matches, fits(given, type, comparison.relation) else { return nil }
      // A search compares texts, including the stored values of enums.
      let type = comparison.relation.isSearch ? given : type
      let slot = slot(FormatTemplate.Slot(argument: number, type: type, isList: false, start: start))
      if isLeft { comparison.left = slot } else { comparison.right = slot }
      return .comparison(comparison)
    case (.isIn(let operand, let values, let kind), .list(let list)):
      guard !isLeft, values.count == list.count, let given = Self.elementType(list), fits(given, type, .equal) else {
        return nil
      }
      let slot = slot(FormatTemplate.Slot(argument: number, type: type, isList: true, start: start))
      return .comparison(Comparison(operand, .equal, slot, kind: kind))
    default: return nil
    }
  }

  private mutating func slot(_ slot: FormatTemplate.Slot) -> Operand {
    slots.append(slot)
    return .parameter(slots.count - 1)
  }

  /// The common type of a list's elements; nil for an empty list or mixed types.
  static func elementType(_ list: [FormatArgument]) -> FormatType? {
    guard case .value(_, let type)? = list.first else { return nil }
    let isUniform = list.allSatisfy { if case .value(_, type) = $0 { true } else { false } }
    return isUniform ? type : nil
  }

  /// Whether any value of one type keeps its type when compared with another type.
  private func fits(_ given: FormatType, _ type: FormatType, _ relation: ComparisonOperator) -> Bool {
    if given == type { return true }
    if relation.isSearch { return given == .text }
    if given.isNumber || type.isNumber { return given == .integer && type == .real }
    return true
  }
}

extension FormatSide {
  var isNull: Bool { if case .null = self { true } else { false } }
}

// MARK: - Format argument

/// A value bound to a placeholder of a format.
public indirect enum FormatArgument: Hashable, Sendable {
  /// No value.
  case null
  /// A value with its type.
  case value(StoredValue, FormatType)
  /// A list of values.
  case list([FormatArgument])
  /// A range from the first value to the second, which is included if `isClosed`.
  case range(StoredValue, StoredValue, FormatType, isClosed: Bool)
}

/// The type of a value in a predicate.
public enum FormatType: Hashable, Sendable {
  /// An integer.
  case integer
  /// A floating-point number.
  case real
  /// A decimal number.
  case decimal
  /// A text.
  case text
  /// True or false.
  case bool
  /// A date.
  case date
  /// Bytes.
  case data
  /// A UUID.
  case uuid
  /// A URL, as its text.
  case url
  /// A case of one of the model's enums, by the enum's name; nil if the value does not determine it.
  indirect case enumeration(String?)
  /// The name of an entity.
  case entity
  /// An object, by the number of its entity; nil if the value does not determine it.
  case object(Int?)
  /// A list or a `Codable` struct, which is stored as a JSON text.
  case json(String)

  /// The type's name in messages.
  package var name: String {
    switch self {
    case .integer: "a whole number"
    case .real: "a real number"
    case .decimal: "a decimal"
    case .text: "a text"
    case .bool: "a Bool"
    case .date: "a date"
    case .data: "data"
    case .uuid: "a UUID"
    case .url: "a URL"
    case .enumeration(let name): name.map { "the enum \($0)" } ?? "a case of an enum"
    case .entity: "an entity"
    case .object: "an object"
    case .json(let spelling): "\(spelling), which predicates cannot look into"
    }
  }

  var isNumber: Bool { self == .integer || self == .real || self == .decimal }
}

/// A variable of a format, with its type and shape.
public struct FormatVariable: Hashable, Sendable {
  /// What a variable takes.
  public enum Shape: Hashable, Sendable {
    /// One value.
    case one
    /// A list, for IN.
    case list
    /// A range with a lower and an upper bound, for BETWEEN.
    case range
  }

  /// The name after the `$`.
  public let name: String
  /// The type of the value that the variable is compared with.
  public let type: FormatType
  /// The type of the attributes that the variable is compared with, if they all have the same type.
  public internal(set) var attribute: AttributeType?
  /// What the variable takes.
  public let shape: Shape
  /// The offset of the first use, in bytes of UTF-8.
  public let offset: Int

  /// Whether the variable stands for a list of values.
  public var isList: Bool { shape == .list }
}

// MARK: - Format arguments

/// The values for the placeholders of a format. Interpolated values have known offsets, the others are used in order.
struct FormatArguments {
  /// The interpolated values, by the offset of their `%@`.
  var interpolated: [Int: FormatArgument] = [:]
  /// The values passed separately from the format.
  var given: [FormatArgument] = []
  private var used = 0
  /// The offsets of the interpolated values, in order. They number first, the values passed separately follow.
  private let offsets: [Int]

  init(interpolated: [Int: FormatArgument] = [:], offsets: [Int] = [], given: [FormatArgument] = []) {
    self.interpolated = interpolated
    self.offsets = offsets
    self.given = given
  }

  mutating func next(
    _ directive: String, at offset: Int, _ lexer: FormatLexer
  ) throws(PredicateFormatError) -> (FormatArgument, Int) {
    if let value = interpolated.removeValue(forKey: offset) {
      return (value, offsets.firstIndex(of: offset) ?? 0)
    }
    guard used < given.count else {
      throw lexer.error(
        .missingArgument, "There is no argument for '%\(directive)': the format needs more than \(given.count).",
        at: offset)
    }
    let value = given[used]
    used += 1
    guard Self.fits(value, directive) else {
      throw lexer.error(
        .wrongArgument, "The argument for '%\(directive)' must be \(directive == "K" ? "a key path" : "a number").",
        at: offset)
    }
    return (value, offsets.count + used - 1)
  }

  private static func fits(_ value: FormatArgument, _ directive: String) -> Bool {
    guard directive != "@" else { return true }
    guard case .value(_, let type) = value else { return false }
    if directive == "K" { return type == .text }
    return type.isNumber || type == .bool
  }

  /// Throws unless all values were used.
  func finish(_ lexer: FormatLexer) throws(PredicateFormatError) {
    if let offset = interpolated.keys.min() {
      throw lexer.error(
        .argumentInQuotes, "An interpolation inside quotes binds nothing; leave the quotes out.", at: offset)
    }
    guard used == given.count else {
      throw lexer.error(
        .surplusArgument, "\(given.count) arguments were given, but the format has places for \(used).",
        at: lexer.bytes.count)
    }
  }
}

// MARK: - Checked format

/// A format that was parsed and checked against a model: the predicate, and the variables without a value.
public struct CheckedFormat: Sendable {
  /// The predicate. It is complete if ``variables`` is empty; otherwise it contains an ``Operand/parameter(_:)`` with
  /// the number of the variable in place of each missing value. A list is represented as one value compared for
  /// equality, a range as a lower and an upper bound.
  public let predicate: QueryPredicate
  /// The variables without a value, in the order of first use.
  public let variables: [FormatVariable]

  /// Parses and checks a format.
  ///
  /// ```swift
  /// let checked = try CheckedFormat("emotion == $emotion", of: diary, in: model)
  /// checked.variables.map(\.name)   // ["emotion"]
  /// ```
  /// - Parameters:
  ///   - entity: the number of the entity that the predicate is for.
  ///   - arguments: the values of `%@` and similar directives, in order.
  ///   - interpolated: values by the offset of their `%@` in bytes of UTF-8. They are not part of `arguments`.
  ///   - bindings: the values of `$variables` by name. Variables without a value are collected.
  ///   - variable: the variable of the enclosing predicate that stands for the object; 0 is the fetched object.
  ///   - text: The format.
  ///   - model: The model of the entity.
  /// - Throws: ``PredicateFormatError``.
  /// - Complexity: linear in the format and the values.
  public init(
    _ text: String, of entity: Int, in model: Model, arguments: [FormatArgument] = [],
    interpolated: [Int: FormatArgument] = [:], bindings: [String: FormatArgument] = [:], variable: Int = 0
  ) throws(PredicateFormatError) {
    guard model.entities.indices.contains(entity) else {
      throw PredicateFormatError(.unknownProperty, "The model has no entity of this number.", in: text, at: 0)
    }
    var parser = FormatParser(text, FormatArguments(interpolated: interpolated, given: arguments))
    let node = try parser.parse()
    var checker = FormatChecker(text, model, model.entities[entity], variable: variable, bindings: bindings)
    predicate = try checker.condition(node)
    variables = checker.variables
    do {
      try predicate.checkDepth()
    } catch {
      throw PredicateFormatError(.tooDeep, error.description, in: text, at: 0)
    }
  }
}

extension CheckedFormat {
  /// Checks that a text is a value of the format language, as far as that can be told without a model: its names may
  /// be those of any entity.
  ///
  /// - Returns: the names in it that stand for properties of the object itself.
  /// - Throws: ``PredicateFormatError``.
  /// - Complexity: linear in the text.
  @discardableResult
  package static func checkSyntax(ofValue text: String) throws(PredicateFormatError) -> [OwnName] {
    var parser = FormatParser(text, FormatArguments())
    let node = try parser.parse()
    guard node.isCondition else {
      var names: [OwnName] = []
      node.collectOwnNames(into: &names)
      return names
    }
    throw parser.error(
      .notAValue, "This is a condition; a value is needed here, such as TERNARY(stars > 3, YES, NO).", at: node.start)
  }
}

// MARK: - Checked value

/// A value of the format language, resolved for the objects of an entity.
package struct CheckedValue: Sendable {
  package fileprivate(set) var operand: Operand
  package let type: FormatType

  /// Parses and checks the text of a value, such as `firstName + ' ' + lastName`.
  ///
  /// - Parameters:
  ///   - entity: the number of the entity.
  ///   - text: The text.
  ///   - model: The model of the entity.
  /// - Throws: ``PredicateFormatError``.
  /// - Complexity: linear in the text.
  package init(_ text: String, of entity: Int, in model: Model) throws(PredicateFormatError) {
    guard model.entities.indices.contains(entity) else {
      throw PredicateFormatError(.unknownProperty, "The model has no entity of this number.", in: text, at: 0)
    }
    try CheckedFormat.checkSyntax(ofValue: text)
    var parser = FormatParser(text, FormatArguments())
    let node = try parser.parse()
    var checker = FormatChecker(text, model, model.entities[entity], variable: 0, bindings: [:])
    let side = try checker.side(node)
    (operand, type) = try checker.typed(side, at: node.start)
    do {
      try QueryPredicate.comparison(Comparison(operand, .equal, operand, kind: .integer)).checkDepth()
    } catch {
      throw PredicateFormatError(.tooDeep, error.description, in: text, at: 0)
    }
  }

  /// The value as that of a stored derived attribute of the object.
  func stored(in attribute: Attribute) -> CheckedValue {
    var value = self
    value.operand = .computed(.stored(PropertyPath(variable: 0).appending(attribute.index), operand))
    return value
  }
}

extension CheckedFormat {
  /// A name in a format that stands for a property of the object itself.
  package struct OwnName: Hashable, Sendable {
    package let name: String
    /// The offset in the format, in bytes of UTF-8.
    package let offset: Int
  }
}

extension FormatNode {
  /// The first names of the paths that begin at the object itself.
  fileprivate func collectOwnNames(into names: inout [CheckedFormat.OwnName]) {
    switch content {
    case .path(let path):
      guard path.variable == nil, let first = path.steps.first, !first.isOperator, first.place == nil else { return }
      if !["objectID", "self", "entity"].contains(first.name) {
        names.append(.init(name: first.name, offset: first.start))
      }
    case .not(let inner), .negative(let inner): inner.collectOwnNames(into: &names)
    case .and(let parts), .or(let parts), .list(let parts), .call(_, let parts):
      for part in parts { part.collectOwnNames(into: &names) }
    case .comparison(let comparison):
      comparison.left.collectOwnNames(into: &names)
      comparison.right.collectOwnNames(into: &names)
    case .arithmetic(_, let left, let right), .quantified(_, let left, variable: _, let right),
      .subquery(let left, variable: _, let right):
      left.collectOwnNames(into: &names)
      right.collectOwnNames(into: &names)
    case .constant, .null, .bool, .number, .text, .argument: break
    }
  }

  fileprivate var isCondition: Bool {
    switch content {
    case .constant, .not, .and, .or, .comparison, .quantified: true
    default: false
    }
  }
}
