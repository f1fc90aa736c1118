public import TrellisSchema

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
