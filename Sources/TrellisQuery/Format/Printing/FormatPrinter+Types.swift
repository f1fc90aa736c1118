import TrellisSchema

/// The types of operands, so that constants on the other side are printed accordingly.
extension FormatPrinter {
  func property(_ number: Int, of entity: Int?) -> Property? {
    guard let entity, model.entities.indices.contains(entity) else { return nil }
    let properties = model.entities[entity].properties
    return properties.indices.contains(number) ? properties[number] : nil
  }

  func relationship(_ path: PropertyPath) -> Relationship? { last(path)?.relationship }

  func last(_ path: PropertyPath) -> Property? {
    var entity = scopes.last { $0.variable == Int(path.variable) }?.entity
    var last: Property?
    for step in path.steps {
      last = property(step, of: entity)
      entity = last?.relationship?.destination
    }
    return last
  }

  /// The type of an operand; nil for a constant.
  func type(_ operand: Operand) -> FormatType? {
    switch operand {
    case .value, .parameter: nil
    case .count: .integer
    case .entity: .entity
    case .now: .date
    case .path(let path): last(path)?.attribute.map { FormatType($0) } ?? .object(nil)
    case .computed(.countWhere): .integer
    case .computed(.aggregate(let function, let path, let variable, let operand, let kind)):
      function == .average && kind == .integer ? .real : type(operand, of: variable, path) ?? FormatType(kind)
    case .computed(.function(let function, let operand)): type(function, operand)
    case .computed(.member(_, let path, let variable, let operand)): type(operand, of: variable, path)
    case .computed(.conditional(_, let first, let second)): type(ofEither: [first, second])
    case .computed(.list(let function, let operands, let kind)):
      function == .average && kind == .integer
        ? .real : operands.lazy.compactMap { type($0) }.first { $0.kind == kind } ?? FormatType(kind)
    case .computed(.arithmetic(_, let left, let right)): type(left, right)
    }
  }

  /// The type of an operand in which a variable stands for the members of a to-many relationship.
  func type(_ operand: Operand, of variable: Int, _ path: PropertyPath) -> FormatType? {
    var inside = self
    inside.scopes.append((variable, relationship(path)?.destination ?? -1, ""))
    return inside.type(operand)
  }

  func type(_ function: ValueFunction, _ operand: Operand) -> FormatType? {
    switch function {
    case .lowercase, .uppercase: .text
    case .length: .integer
    case .decimal: .decimal
    case .real, .squareRoot, .naturalLogarithm, .logarithm, .exponential, .seconds: .real
    case .complement: .integer
    case .text: .text
    case .absolute, .negative, .ceiling, .floor, .truncated, .rounded, .microseconds: constantType(operand)
    }
  }

  func type(_ left: Operand, _ right: Operand) -> FormatType? {
    // Seconds are added to dates only, including constant dates.
    if case .computed(.function(.microseconds, _)) = right { return .date }
    let types = [constantType(left), constantType(right)]
    return [.date, .real, .decimal].first { types.contains($0) } ?? .integer
  }

  /// The common type of alternatives; nil if all are constants.
  private func type(ofEither operands: [Operand]) -> FormatType? {
    let known = operands.compactMap { type($0) }
    guard let first = known.first, first.isNumber else { return known.first }
    let types = known + operands.map { if case .value(.real) = $0 { .real } else { first } }
    return [.real, .decimal].first { types.contains($0) } ?? first
  }

  /// The type of an operand. For a constant it follows from the value, with a text as a decimal.
  private func constantType(_ operand: Operand) -> FormatType? {
    guard case .value(let value) = operand else { return type(operand) }
    return switch value {
    case .real: .real
    case .text: .decimal
    default: .integer
    }
  }
}
