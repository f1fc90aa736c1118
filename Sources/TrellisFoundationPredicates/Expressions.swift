public import Foundation
import TrellisModel
@_spi(Generated) import TrellisRuntime
@_spi(Generated) import TrellisStorage

extension PredicateExpressions.KeyPath: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    switch try reading.term(root) {
    case .object(let path): return try property(path, reading)
    case .composite(let composite): return try field(of: composite)
    case .members(let members): return try aspect(of: members)
    case .value(let text) where text.kind == .text: return try aspect(of: text)
    case .scalars(let text) where keyPath == \String.UnicodeScalarView.count:
      return .value(try text.map(.integer) { .computed(.function(.length, $0)) })
    default: throw unknown(Root.Output.self)
    }
  }

  /// The term for a property of an object.
  private func property(
    _ path: PropertyPath, _ reading: PredicateReading
  ) throws(PredicateImportError) -> ImportedTerm {
    guard let object = type(of: keyPath).rootType as? ManagedObject.Type else { throw unknown(Root.Output.self) }
    let table = object._keyPaths
    guard !table.isEmpty else {
      throw PredicateImportError(
        code: .noKeyPaths,
        message: "\(object) does not know its key paths. Put \"foundationPredicates\": true into its model file.")
    }
    if let derivation = table.derivation(of: keyPath), let kind = ImportedKind(Output.self) {
      let operand = derivation.rooted(at: path, firstVariable: reading.nextVariable)
      return .value(ImportedValue(operand, kind.kind))
    }
    guard let number = table.number(of: keyPath) else { throw unknown(object) }
    if number == KeyPathTable.identity { return .value(ImportedValue(.path(path), .integer)) }
    let end = path.appending(number)
    if let composite = ImportedComposite(Output.self, path, number) { return .composite(composite) }
    if Output.self is any ToManyView.Type { return .members(ImportedMembers(path: end)) }
    if Output.self is any ObjectReference.Type { return .object(end) }
    guard let kind = ImportedKind(Output.self) else { throw unknown(object) }
    return .value(ImportedValue(.path(end), kind.kind))
  }

  /// The term for a field of a composite.
  private func field(of composite: ImportedComposite) throws(PredicateImportError) -> ImportedTerm {
    guard let place = composite.type._keyPaths.number(of: keyPath) else { throw unknown(composite.type) }
    let number = composite.first + place
    if let inner = ImportedComposite(Output.self, composite.path, number) { return .composite(inner) }
    guard let kind = ImportedKind(Output.self) else { throw unknown(composite.type) }
    return .value(ImportedValue(.path(composite.path.appending(number)), kind.kind))
  }

  private func aspect(of members: ImportedMembers) throws(PredicateImportError) -> ImportedTerm {
    let paths = Root.Output.self as? any CountedCollection.Type
    if let paths, paths.countPath == keyPath { return .value(members.count) }
    if let paths, paths.isEmptyPath == keyPath { return .condition(members.isEmpty) }
    throw .unsupported("This about a to-many's members", "There are count, isEmpty, contains, allSatisfy and filter.")
  }

  private func aspect(of text: ImportedValue) throws(PredicateImportError) -> ImportedTerm {
    switch keyPath as AnyKeyPath {
    case \String.isEmpty: return .condition(text.compared(.equal, ImportedValue(.value(.text("")), .text)))
    case \String.unicodeScalars: return .scalars(text)
    case \String.count:
      throw .unsupported(
        "The number of a text's characters", "Ask for its unicodeScalars.count, as lengths count those.")
    default: throw unknown(String.self)
    }
  }

  private func unknown(_ type: Any.Type) -> PredicateImportError {
    PredicateImportError(
      code: .unknownProperty,
      message: "\(type) has no property of the model at a key path of this predicate, which leads to '\(Output.self)'. "
        + "Ask about the stored properties from which it is made.")
  }
}

extension ImportedComposite {
  /// Returns nil if the type is no composite.
  ///
  /// - Parameter number: The number of the first attribute.
  fileprivate init?(_ type: Any.Type, _ path: PropertyPath, _ number: Int) {
    if let type = type as? any CompositeValue.Type {
      self.init(path: path, presence: nil, first: number, type: type)
    } else if let type = (type as? any OptionalComposite.Type)?.wrapped {
      self.init(path: path, presence: number, first: number + 1, type: type)
    } else {
      return nil
    }
  }
}

/// A composite, or nil.
private protocol OptionalComposite {
  static var wrapped: any CompositeValue.Type { get }
}

extension Optional: OptionalComposite where Wrapped: CompositeValue {
  fileprivate static var wrapped: any CompositeValue.Type { Wrapped.self }
}

/// A reference to an object, or nil.
private protocol ObjectReference {}

extension Optional: ObjectReference where Wrapped: ManagedObject {}

/// A collection of members, with the key paths to its own properties, such as `count`.
private protocol CountedCollection {
  static var countPath: AnyKeyPath { get }
  static var isEmptyPath: AnyKeyPath { get }
}

extension ToMany: CountedCollection {
  fileprivate static var countPath: AnyKeyPath { \ToMany<Member>.count }
  fileprivate static var isEmptyPath: AnyKeyPath { \ToMany<Member>.isEmpty }
}

extension OrderedToMany: CountedCollection {
  fileprivate static var countPath: AnyKeyPath { \OrderedToMany<Member>.count }
  fileprivate static var isEmptyPath: AnyKeyPath { \OrderedToMany<Member>.isEmpty }
}

extension Array: CountedCollection where Element: ManagedObject {
  fileprivate static var countPath: AnyKeyPath { \[Element].count }
  fileprivate static var isEmptyPath: AnyKeyPath { \[Element].isEmpty }
}

// MARK: - Members

extension PredicateExpressions.SequenceContainsWhere: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let members = try reading.members(sequence)
    let (condition, number) = try reading.condition(test, on: variable)
    return .condition(members.any(condition, number))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let members = try reading.members(sequence)
    let (condition, number) = try reading.condition(test, on: variable)
    let isOutside = members.filter.map { QueryPredicate.negated($0.condition) } ?? .constant(false)
    return .condition(
      .quantified(.all, members.path, variable: number, .one([isOutside, condition])))
  }
}

extension PredicateExpressions.Filter: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    var members = try reading.members(sequence)
    // The variable of an inner filter has the same number, because both have the same enclosing variables.
    let (condition, number) = try reading.condition(filter, on: variable)
    members.filter = (.all([members.filter?.condition ?? .constant(true), condition]), number)
    return .members(members)
  }
}

extension PredicateExpressions.SequenceContains: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    switch try reading.term(sequence) {
    case .list(let values, let kind):
      return .condition(try reading.value(element).holds { .isIn($0, values, kind) })
    case .range(let range):
      let element = try reading.value(element)
      return .condition(
        .all([
          element.compared(.greaterOrEqual, range.lower),
          element.compared(range.isClosed ? .lessOrEqual : .less, range.upper),
        ]))
    default: throw .unsupported("contains(_:) on this", "Use contains(where:), or a list of values.")
    }
  }
}

extension ImportedMembers {
  func any(_ condition: QueryPredicate, _ variable: Int) -> QueryPredicate {
    .quantified(.any, path, variable: variable, .all([filter?.condition ?? .constant(true), condition]))
  }

  var count: ImportedValue {
    guard let filter else { return ImportedValue(.count(path), .integer) }
    return ImportedValue(
      .computed(.countWhere(path, variable: filter.variable, filter.condition)), .integer)
  }

  var isEmpty: QueryPredicate {
    guard let filter else { return count.compared(.equal, ImportedValue(.value(.integer(0)), .integer)) }
    return .quantified(.none, path, variable: filter.variable, filter.condition)
  }
}

extension PredicateReading {
  fileprivate mutating func members(
    _ expression: some PredicateExpression
  ) throws(PredicateImportError) -> ImportedMembers {
    guard case .members(let members) = try term(expression) else {
      throw .unsupported(
        "A condition on the elements of this", "Only members of to-many relationships have conditions.")
    }
    return members
  }
}

// MARK: - Values

extension PredicateExpressions.Variable: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    guard let term = reading.variables[key] else {
      throw .unsupported("A variable of another predicate", "Use the closure's own parameter.")
    }
    return term
  }
}

extension PredicateExpressions.Value: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    if let range = value as? any CapturedRange { return try range.term }
    if let kind = ImportedKind(Output.self) { return .value(ImportedValue(.value(kind.stored(value)), kind.kind)) }
    if let list = value as? any Sequence, let term = Self.list(list) { return term }
    throw .unsupported("A value of the type '\(Output.self)'", "Compare with values of types that a model can have.")
  }

  private static func list<List: Sequence>(_ list: List) -> ImportedTerm? {
    guard let kind = ImportedKind(List.Element.self) else { return nil }
    return .list(list.map { kind.stored($0) }, kind.kind)
  }
}

extension PredicateExpressions.NilLiteral: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .value(ImportedValue(.value(.null), nil))
  }
}

/// The storage and comparison kind of a type's values.
struct ImportedKind {
  let kind: ValueKind
  let stored: (Any) -> StoredValue

  /// Nil for types that no attribute can have. `Int` is the type of counts here.
  init?(_ type: Any.Type) {
    if type is Int.Type || type is Int?.Type {
      self.init(kind: .integer) { ($0 as? Int).map { .integer(Int64($0)) } ?? .null }
    } else if !(type is any CapturedList.Type), let type = type as? any AttributeValue.Type {
      self.init(attribute: type)
    } else {
      return nil
    }
  }

  private init(kind: ValueKind, stored: @escaping (Any) -> StoredValue) {
    self.kind = kind
    self.stored = stored
  }

  private init<Value: AttributeValue>(attribute type: Value.Type) {
    self.init(kind: type.valueKind) { ($0 as? Value)?.storedValue ?? .null }
  }
}

/// A captured list. Lists are attribute values, too, but in a predicate they are used for `contains`.
private protocol CapturedList {}

extension Array: CapturedList {}

/// A captured range.
private protocol CapturedRange {
  var term: ImportedTerm { get throws(PredicateImportError) }
}

extension ClosedRange: CapturedRange {
  fileprivate var term: ImportedTerm {
    get throws(PredicateImportError) { try range(lowerBound, upperBound, isClosed: true) }
  }
}

extension Range: CapturedRange {
  fileprivate var term: ImportedTerm {
    get throws(PredicateImportError) { try range(lowerBound, upperBound, isClosed: false) }
  }
}

private func range<Bound>(
  _ lower: Bound, _ upper: Bound, isClosed: Bool
) throws(PredicateImportError) -> ImportedTerm {
  guard let kind = ImportedKind(Bound.self) else {
    throw .unsupported("A range of '\(Bound.self)'", "Compare with values of types that a model can have.")
  }
  let bounds = [lower, upper].map { ImportedValue(.value(kind.stored($0)), kind.kind) }
  return .range(ImportedRange(lower: bounds[0], upper: bounds[1], isClosed: isClosed))
}

// MARK: - Optionals

extension PredicateExpressions.OptionalFlatMap: ImportableExpression {
  /// `$0.parent?.name`, and `$0.mood.flatMap { … }`.
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let wrapped = try reading.term(wrapped)
    let isPresent = try wrapped.value.isPresent
    reading.variables[variable.key] = wrapped
    switch try reading.term(transform) {
    case .condition(let condition): return .optionalCondition(condition, isPresent: isPresent)
    case .optionalCondition(let condition, let isPresentToo):
      return .optionalCondition(condition, isPresent: .all([isPresent, isPresentToo]))
    case .object(let path): return .object(path)
    case .composite(let composite): return .composite(composite)
    case .value(let value):
      // A path through nil is nil anyway, and an index can serve it.
      if try value.isNil(with: wrapped.value) { return .value(value) }
      return .value(try ImportedValue(isPresent, value, ImportedValue(.value(.null), value.kind)))
    default: throw .unsupported("A collection behind '?'", "Ask about its members behind the '?'.")
    }
  }
}

extension PredicateExpressions.NilCoalesce: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    try reading.term(lhs).otherwise(try reading.term(rhs))
  }
}

extension PredicateExpressions.ForcedUnwrap: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    switch try reading.term(inner) {
    case .optionalCondition(let condition, let isPresent): .condition(.all([isPresent, condition]))
    case let term: term
    }
  }
}

extension ImportedValue {
  /// Whether the value is nil whenever the other value is nil.
  fileprivate func isNil(with other: ImportedValue) -> Bool {
    guard alternatives.count == 1, other.alternatives.count == 1 else { return false }
    return alternatives[0].operand.isNil(with: other.alternatives[0].operand)
  }
}

extension Operand {
  fileprivate func isNil(with other: Operand) -> Bool {
    if self == other { return true }
    switch (self, other) {
    case (.path(let path), .path(let start)):
      return path.variable == start.variable && path.steps.starts(with: start.steps)
    case (.computed(.arithmetic(_, let left, let right)), _): return left.isNil(with: other) || right.isNil(with: other)
    case (.computed(.function(_, let operand)), _), (.computed(.date(_, let operand)), _):
      return operand.isNil(with: other)
    default: return false
    }
  }
}

// MARK: - Logic

extension PredicateExpressions.Conjunction: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .condition(.all([try reading.condition(lhs), try reading.condition(rhs)]))
  }
}

extension PredicateExpressions.Disjunction: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .condition(.one([try reading.condition(lhs), try reading.condition(rhs)]))
  }
}

extension PredicateExpressions.Negation: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .condition(.negated(try reading.condition(wrapped)))
  }
}

extension PredicateExpressions.Conditional: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let test = try reading.condition(test)
    let (first, second) = (try reading.term(trueBranch), try reading.term(falseBranch))
    if case .value(let first) = first, case .value(let second) = second {
      return .value(try ImportedValue(test, first, second))
    }
    return .condition(
      .one([.all([test, try first.condition]), .all([.negated(test), try second.condition])]))
  }
}

// MARK: - Comparisons

extension PredicateExpressions.Equal: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .condition(try reading.term(lhs).equals(try reading.term(rhs)))
  }
}

extension PredicateExpressions.NotEqual: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .condition(.negated(try reading.term(lhs).equals(try reading.term(rhs))))
  }
}

extension PredicateExpressions.Comparison: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let relation: ComparisonOperator =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default: throw .unsupported("This comparison", "Use '<', '<=', '>' or '>='.")
      }
    return .condition(try reading.value(lhs).compared(relation, try reading.value(rhs)))
  }
}

extension PredicateExpressions.Range: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .range(ImportedRange(lower: try reading.value(lower), upper: try reading.value(upper), isClosed: false))
  }
}

extension PredicateExpressions.ClosedRange: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .range(ImportedRange(lower: try reading.value(lower), upper: try reading.value(upper), isClosed: true))
  }
}

extension PredicateExpressions.RangeExpressionContains: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    guard case .range(let range) = try reading.term(range) else { throw .unsupported(RangeExpression.self) }
    let element = try reading.value(element)
    return .condition(
      .all([
        element.compared(.greaterOrEqual, range.lower),
        element.compared(range.isClosed ? .lessOrEqual : .less, range.upper),
      ]))
  }
}

// MARK: - Arithmetic

extension PredicateExpressions.Arithmetic: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let sign: ArithmeticOperator =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw .unsupported("This arithmetic", "Use '+', '-', '*' or '/'.")
      }
    return try reading.arithmetic(sign, lhs, rhs)
  }
}

extension PredicateExpressions.FloatDivision: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    try reading.arithmetic(.divide, lhs, rhs)
  }
}

extension PredicateExpressions.IntDivision: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    try reading.arithmetic(.divide, lhs, rhs)
  }
}

extension PredicateExpressions.IntRemainder: ImportableExpression {
  /// The remainder of the division.
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let (dividend, divisor) = (try reading.value(lhs), try reading.value(rhs))
    return .value(
      try dividend.combined(divisor) { dividend, divisor in
        let quotient = Operand.computed(.arithmetic(.divide, dividend, divisor))
        return .computed(.arithmetic(.subtract, dividend, .computed(.arithmetic(.multiply, quotient, divisor))))
      })
  }
}

extension PredicateExpressions.UnaryMinus: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let value = try reading.value(wrapped)
    return .value(try value.map(value.kind) { .computed(.function(.negative, $0)) })
  }
}

extension PredicateReading {
  fileprivate mutating func arithmetic(
    _ sign: ArithmeticOperator, _ left: some PredicateExpression, _ right: some PredicateExpression
  ) throws(PredicateImportError) -> ImportedTerm {
    let (left, right) = (try value(left), try value(right))
    return .value(try left.combined(right) { .computed(.arithmetic(sign, $0, $1)) })
  }
}

// MARK: - Texts

extension PredicateExpressions.CollectionContainsCollection: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    try reading.search(base, .contains, other)
  }
}

extension PredicateExpressions.SequenceStartsWith: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    try reading.search(base, .hasPrefix, prefix)
  }
}

extension PredicateReading {
  fileprivate mutating func search(
    _ base: some PredicateExpression, _ relation: ComparisonOperator, _ part: some PredicateExpression,
    _ options: TextOptions = []
  ) throws(PredicateImportError) -> ImportedTerm {
    let (base, part) = (try text(base), try text(part))
    return .condition(
      base.holds { text in
        part.holds { part in
          .comparison(Comparison(text, relation, part, kind: .text, options: options))
        }
      })
  }
}

// Declares the expression that Foundation has on Apple platforms only, so that `localizedStandardContains` in a
// predicate compiles, evaluates and works in stores on all platforms.

#if canImport(Darwin)
  extension PredicateExpressions.StringLocalizedStandardContains: ImportableExpression {
    func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
      try reading.search(root, .contains, other, [.caseInsensitive, .diacriticInsensitive])
    }
  }
#else
  extension PredicateExpressions {
    /// Whether a text contains another, ignoring case and diacritics.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
      PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
      /// Whether the text contains the other one.
      public typealias Output = Bool
      /// The searched text.
      public let root: Root
      /// The text to find.
      public let other: Other

      /// Creates the expression from the searched text and the text to find.
      public init(root: Root, other: Other) {
        self.root = root
        self.other = other
      }

      /// Evaluates the expression in memory, as Foundation does.
      public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        try root.evaluate(bindings).localizedStandardContains(try other.evaluate(bindings))
      }
    }

    /// The macro `#Predicate` calls this for `$0.title.localizedStandardContains(keyword)`.
    public static func build_localizedStandardContains<Root, Other>(
      _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> {
      StringLocalizedStandardContains(root: root, other: other)
    }
  }

  extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
  extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
  extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
  where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}

  extension PredicateExpressions.StringLocalizedStandardContains: ImportableExpression {
    func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
      try reading.search(root, .contains, other, [.caseInsensitive, .diacriticInsensitive])
    }
  }
#endif
