import TrellisQuery
import TrellisSchema

/// A predicate as the Swift expression that builds it. The compiler infers the types, so that no name in it can refer
/// to a type of the model.
///
/// The compile time of a literal grows faster than its number of elements, so the elements of a long list are appended
/// one by one, in statements before the expression.
final class PredicateCode {
  let parameters: [RequestPlan.Parameter]
  private(set) var statements: [Code] = []
  private var listCount = 0

  /// The maximum number of elements of a list that is written as a literal.
  private static let shortList = 16

  init(parameters: [RequestPlan.Parameter]) { self.parameters = parameters }

  // MARK: Conditions

  func code(_ predicate: QueryPredicate) -> Code {
    switch predicate {
    case .constant(let value): .plain(".constant(\(value))")
    case .not(let inner): .call(".not", [code(inner)])
    case .and(let terms): .call(".and", [list(terms)])
    case .or(let terms): .call(".or", [list(terms)])
    case .comparison(let comparison): code(comparison)
    case .isIn(let operand, let values, let kind):
      .call(".isIn", [code(operand), list(values), .plain(".\(kind)")])
    case .quantified(let quantifier, let path, let variable, let condition):
      .call(
        ".quantified",
        [.plain(".\(quantifier)"), .plain(self.path(path)), .plain("variable: \(variable)"), code(condition)])
    }
  }

  private func list(_ terms: [QueryPredicate]) -> Code {
    list(terms.map(code), of: TypeName.queryPredicate)
  }

  private func list(_ values: [StoredValue]) -> Code {
    list(values.map(Arguments.code), of: TypeName.storedValue)
  }

  private func list(_ elements: [Code], of type: String) -> Code {
    guard elements.count > Self.shortList else { return .list(elements) }
    // No name of a model begins with an underscore.
    let name = "_list\(listCount)"
    listCount += 1
    statements.append(.plain("var \(name): [\(type)] = []"))
    for element in elements { statements.append(.call("\(name).append", [element])) }
    return .plain(name)
  }

  /// Code of a comparison. If a list is a parameter, one comparison represents all of its values.
  private func code(_ comparison: Comparison) -> Code {
    guard case .parameter(let number) = comparison.right, parameters[number].shape == .list else {
      return .call(".comparison", [initialiser(comparison, right: right(of: comparison))])
    }
    let parameter = parameters[number]
    let values = "\(parameter.name.spelled).map { \(parameter.stored("$0")) }"
    return .call(
      ".isIn", [code(comparison.left), .plain(values), .plain(".\(comparison.kind)")] + options(comparison))
  }

  private func initialiser(_ comparison: Comparison, right: Code) -> Code {
    var arguments: [Code] = [
      code(comparison.left), .plain(".\(comparison.relation)"), right, .plain("kind: .\(comparison.kind)"),
    ]
    arguments += options(comparison)
    return .filledCall(".init", arguments)
  }

  private func options(_ comparison: Comparison) -> [Code] {
    let all = [
      (TextOptions.caseInsensitive, ".caseInsensitive"), (.diacriticInsensitive, ".diacriticInsensitive"),
      (.normalized, ".normalized"),
    ]
    let options = all.filter { comparison.options.contains($0.0) }.map(\.1)
    return options.isEmpty ? [] : [.plain("options: [\(options.joined(separator: ", "))]")]
  }

  /// The right side of a comparison; for a range, the bound that the relation compares with.
  private func right(of comparison: Comparison) -> Code {
    guard case .parameter(let number) = comparison.right, parameters[number].shape == .range else {
      return code(comparison.right)
    }
    let bound = comparison.relation == .lessOrEqual ? "upperBound" : "lowerBound"
    return .plain(".value(\(parameters[number].stored(parameters[number].name.spelled + "." + bound)))")
  }

  // MARK: Values

  private func code(_ operand: Operand) -> Code {
    switch operand {
    case .value(let value): .call(".value", [Arguments.code(of: value)])
    case .path(let path): .plain(".path(\(self.path(path)))")
    case .count(let path): .plain(".count(\(self.path(path)))")
    case .entity(let path): .plain(".entity(\(self.path(path)))")
    case .now: .plain(".now")
    case .parameter(let number): .plain(".value(\(parameters[number].stored(parameters[number].name.spelled)))")
    case .computed(let computation): .call(".computed", [code(computation)])
    }
  }

  private func code(_ computation: Computation) -> Code {
    switch computation {
    case .arithmetic(let sign, let left, let right):
      .call(".arithmetic", [.plain(".\(sign)"), code(left), code(right)])
    case .function(let function, let operand): .call(".function", [.plain(".\(function)"), code(operand)])
    case .aggregate(let function, let path, let variable, let operand, let kind):
      .call(
        ".aggregate",
        [
          .plain(".\(function)"), .plain(self.path(path)), .plain("variable: \(variable)"), code(operand),
          .plain(".\(kind)"),
        ])
    case .countWhere(let path, let variable, let condition):
      .call(".countWhere", [.plain(self.path(path)), .plain("variable: \(variable)"), code(condition)])
    case .member(let place, let path, let variable, let operand):
      .call(
        ".member",
        [.plain(".\(place)"), .plain(self.path(path)), .plain("variable: \(variable)"), code(operand)])
    case .conditional(let condition, let first, let second):
      .call(".conditional", [code(condition), code(first), code(second)])
    case .list(let function, let operands, let kind):
      .call(".list", [.plain(".\(function)"), .list(operands.map { code($0) }), .plain(".\(kind)")])
    }
  }

  func code(_ key: SortKey) -> Code {
    let path = Code.plain(path(key.path))
    let kind = Code.plain("kind: .\(key.kind)")
    return .call(".init", key.isDescending ? [path, .plain("descending: true"), kind] : [path, kind])
  }

  func path(_ path: PropertyPath, _ type: String = "") -> String {
    path.steps.reduce("\(type.isEmpty ? ".init" : type)(variable: \(path.variable))") { "\($0).appending(\($1))" }
  }
}

extension RequestPlan.Parameter {
  /// The code for a value of the parameter in its stored form.
  func stored(_ name: String) -> String { isObject ? ".integer(\(name).objectID.key)" : "\(name).storedValue" }
}
