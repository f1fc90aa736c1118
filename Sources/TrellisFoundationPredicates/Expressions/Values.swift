import Foundation
import TrellisQuery
import TrellisRuntime
import TrellisSchema
import TrellisStorage

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
