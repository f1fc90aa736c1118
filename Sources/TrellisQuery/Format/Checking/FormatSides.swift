import TrellisSchema

/// A value in a format, as far as it is known without the other side of its comparison.
indirect enum FormatSide {
  case typed(Operand, FormatType)
  case null
  case bool(Bool)
  case number(String)
  case text(String)
  case argument(FormatArgument)
  case list([PlacedSide])
  /// A path through to-many relationships.
  case many(ResolvedPath)
  /// A variable without a value.
  case unbound(String)

  var type: FormatType? { if case .typed(_, let type) = self { type } else { nil } }
}

extension FormatChecker {
  mutating func side(_ node: FormatNode) throws(PredicateFormatError) -> FormatSide {
    switch node.content {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .number(let digits): return .number(digits)
    case .text(let text): return .text(text)
    case .argument(let argument, _):
      if argument != .null { dependsOnValues = true }
      return Self.side(argument)
    case .path(let path): return try side(path, at: node.start)
    case .list(let nodes): return .list(try sides(nodes))
    case .arithmetic, .negative: return try arithmetic(node)
    case .call(let name, let arguments): return try call(name, arguments, at: node.start)
    case .subquery(let members, let variable, let condition):
      let (path, number, inner) = try within(members, variable, condition)
      return .typed(.computed(.countWhere(path, variable: number, inner)), .integer)
    case .constant, .not, .and, .or, .comparison, .quantified:
      throw error(.notAValue, "This is a condition; a value is needed here.", at: node.start)
    }
  }

  mutating func sides(
    _ nodes: [FormatNode]
  ) throws(PredicateFormatError) -> [PlacedSide] {
    var sides: [PlacedSide] = []
    for node in nodes { sides.append(PlacedSide(side: try side(node), start: node.start)) }
    return sides
  }

  static func side(_ argument: FormatArgument) -> FormatSide {
    if case .null = argument { .null } else { .argument(argument) }
  }

  private mutating func side(_ path: FormatPath, at start: Int) throws(PredicateFormatError) -> FormatSide {
    if let name = path.variable, !scopes.contains(where: { $0.name == name }) {
      guard path.steps.isEmpty else {
        throw error(.unboundVariable, "Nothing around binds $\(name), so nothing can follow it.", at: start)
      }
      guard let bound = bindings[name] else { return .unbound(name) }
      if bound != .null { dependsOnValues = true }
      return Self.side(bound)
    }
    let resolved = try resolve(path, at: start)
    for crossing in resolved.crossings { memberEntities[crossing.variable] = crossing.entity }
    return resolved.crossings.isEmpty ? .typed(resolved.operand, resolved.type) : .many(resolved)
  }

  /// The operand and its type, if the type does not depend on the other side.
  func typed(_ side: FormatSide, at start: Int) throws(PredicateFormatError) -> (Operand, FormatType) {
    switch side {
    case .typed(let operand, let type): return (operand, type)
    case .null: throw error(.typeMismatch, "NIL has no type here.", at: start)
    case .bool(let value): return (.value(.integer(value ? 1 : 0)), .bool)
    case .number(let digits): return try number(digits, at: start)
    case .text(let text): return (.value(.text(text)), .text)
    case .argument(.value(let value, let type)): return (.value(value), type)
    case .argument, .list: throw error(.manyValues, "One value is needed here, not a list.", at: start)
    case .many(let path): throw many(path, at: start)
    case .unbound(let name):
      throw error(
        .unboundVariable, "$\(name) has no value, and what it is cannot be told; compare it with a property.", at: start
      )
    }
  }

  private func number(_ digits: String, at start: Int) throws(PredicateFormatError) -> (Operand, FormatType) {
    if let integer = Int64(digits) { return (.value(.integer(integer)), .integer) }
    guard let real = Double(digits) else { throw error(.invalidNumber, "This is no number.", at: start) }
    return (.value(.real(real)), .real)
  }

  func many(_ path: ResolvedPath, at start: Int) -> PredicateFormatError {
    let way =
      path.isWhole
      ? "'.@count', ANY, ALL, NONE or SUBQUERY" : "ANY, ALL or NONE before it, '@sum' and its like, or SUBQUERY"
    return error(.manyValues, "This leads to many values where one is needed; use \(way).", at: start)
  }
}

/// A side and its position.
struct PlacedSide {
  let side: FormatSide
  let start: Int
}
