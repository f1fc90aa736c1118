import TrellisSchema

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
