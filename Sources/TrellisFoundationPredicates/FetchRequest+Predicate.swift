public import Foundation
import TrellisModel
@_spi(Generated) public import TrellisRuntime

extension FetchRequest {
  /// The request with an additional Foundation predicate, combined by "and".
  ///
  /// ```swift
  /// let keyword = "커피"
  /// let request = try EmotionDiary.all.where(#Predicate { $0.content.contains(keyword) && $0.images.count > 1 })
  /// ```
  /// The model must set `"foundationPredicates": true`, so that its classes have key paths for their properties. The
  /// predicate is not evaluated: it is translated to the same tree as every other predicate, and the store evaluates
  /// that. So texts are compared by their bytes, and `!` returns nil instead of trapping; see `Docs/Predicates.md`.
  ///
  /// - Throws: ``PredicateImportError`` for an expression without counterpart, such as a property that the model does
  ///   not have.
  /// - Complexity: linear in the number of the predicate's expressions; a few microseconds for a few terms.
  public func `where`(_ predicate: Predicate<Columns.Object>) throws(PredicateImportError) -> FetchRequest {
    let condition = try QueryCondition(predicate)
    return self.where { _ in condition }
  }

  /// The request with an additional Foundation predicate, combined by "or".
  ///
  /// - Throws: ``PredicateImportError`` for an expression without counterpart, such as a property that the model does
  ///   not have.
  public func or(_ predicate: Predicate<Columns.Object>) throws(PredicateImportError) -> FetchRequest {
    let condition = try QueryCondition(predicate)
    return self.or { _ in condition }
  }
}

extension QueryCondition {
  /// The condition of a Foundation predicate on objects of a class.
  ///
  /// - Throws: ``PredicateImportError`` for an expression without counterpart.
  init<Object: ManagedObject>(_ predicate: Predicate<Object>) throws(PredicateImportError) {
    var reading = PredicateReading()
    reading.variables[predicate.variable.key] = .object(PropertyPath(variable: 0))
    self.init(try reading.condition(predicate.expression))
  }
}

// MARK: - Predicate import error

/// The reason why a Foundation predicate cannot be used with a store, and a remedy. It contains no value from the
/// predicate.
///
/// ```
/// EmotionDiary has no property at a key path of this predicate that leads to a 'String'. Ask about the properties
/// from which it is computed. [unknown-property]
/// ```
public struct PredicateImportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of mistake. The set may grow.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The model does not set `foundationPredicates`, so its classes have no key paths.
    public static let noKeyPaths = Code(rawValue: "no-key-paths")
    /// A key path leads to a property that the model does not have.
    public static let unknownProperty = Code(rawValue: "unknown-property")
    /// An expression has no counterpart in store predicates.
    public static let unsupported = Code(rawValue: "unsupported")
    /// The predicate has too many branches.
    public static let tooManyBranches = Code(rawValue: "too-many-branches")
  }

  /// The kind of the mistake.
  public let code: Code
  /// The mistake and a remedy, as sentences.
  public let message: String

  package init(code: Code, message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { "\(message) [\(code.rawValue)]" }
}

extension PredicateImportError: LocalizedError {
  public var errorDescription: String? { description }
}

extension PredicateImportError {
  static func unsupported(_ what: String, _ remedy: String) -> PredicateImportError {
    PredicateImportError(code: .unsupported, message: "\(what) cannot be asked of a store. \(remedy)")
  }

  /// An error that names an expression's type, without the types of its parts.
  static func unsupported(_ type: Any.Type) -> PredicateImportError {
    let name = "\(type)".prefix { $0 != "<" }
    return unsupported("'\(name)'", "Write this part as a typed condition or in a format string.")
  }
}

// MARK: - Predicate reading

/// A Foundation expression with a counterpart in store predicates.
protocol ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm
}

/// Translates the expressions of a predicate.
struct PredicateReading {
  /// The terms for the variables.
  var variables: [PredicateExpressions.VariableID: ImportedTerm] = [:]
  /// The number of the innermost variable for members.
  private var depth = 0

  /// The first number that no variable around the current expression has.
  var nextVariable: Int { depth + 1 }

  mutating func term(_ expression: some PredicateExpression) throws(PredicateImportError) -> ImportedTerm {
    guard let importable = expression as? any ImportableExpression else {
      throw .unsupported(type(of: expression))
    }
    return try importable.term(&self)
  }

  mutating func condition(_ expression: some PredicateExpression) throws(PredicateImportError) -> QueryPredicate {
    try term(expression).condition
  }

  mutating func value(_ expression: some PredicateExpression) throws(PredicateImportError) -> ImportedValue {
    try term(expression).value
  }

  mutating func text(_ expression: some PredicateExpression) throws(PredicateImportError) -> ImportedValue {
    let value = try value(expression)
    guard value.kind == .text else { throw .unsupported("A search in anything but text", "Use contains(where:).") }
    return value
  }

  /// Reads a condition on the members of a to-many.
  mutating func condition<Element>(
    _ test: some PredicateExpression, on variable: PredicateExpressions.Variable<Element>
  ) throws(PredicateImportError) -> (condition: QueryPredicate, variable: Int) {
    depth += 1
    defer { depth -= 1 }
    variables[variable.key] = .object(PropertyPath(variable: depth))
    return (try condition(test), depth)
  }
}
