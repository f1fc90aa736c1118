public import TrellisSchema

/// A format that was read and checked against a model: the predicate, and the variables that had no value.
public struct CheckedFormat: Sendable {
  /// Complete when ``variables`` is empty; otherwise they stand in it as nil.
  public let predicate: QueryPredicate
  /// In the order of their first use.
  public let variables: [FormatVariable]

  /// Reads and checks a format.
  ///
  /// ```swift
  /// let checked = try CheckedFormat("emotion == $emotion", of: diary, in: model)
  /// checked.variables.map(\.name)   // ["emotion"]
  /// ```
  /// - Parameters:
  ///   - entity: the number of the entity whose objects are asked about.
  ///   - arguments: the values of `%@` and its like, in order.
  ///   - interpolated: values whose `%@` lies at a known offset, in bytes of UTF-8; they are no part of `arguments`.
  ///   - bindings: the values of `$variables` by their names. Those that have none are collected.
  ///   - variable: which variable of a predicate around stands for the object; 0 is the one that is fetched.
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
