public import Foundation
public import TrellisQuery
public import TrellisSchema

// `localizedDescription` of the errors of this module and of the modules below it is their `description`.

extension StoreError: LocalizedError {
  public var errorDescription: String? { description }
}

extension SaveConflict: LocalizedError {
  public var errorDescription: String? { description }
}

extension EvaluationError: LocalizedError {
  public var errorDescription: String? { description }
}

extension SchemaError: LocalizedError {
  public var errorDescription: String? { description }
}

extension PredicateFormatError: LocalizedError {
  public var errorDescription: String? { description }
}

extension PatternError: LocalizedError {
  public var errorDescription: String? { description }
}

extension StoreFinding: LocalizedError {
  public var errorDescription: String? { description }
}

extension ConstraintViolations: LocalizedError {
  public var errorDescription: String? { description }
}

extension RefusedRows: LocalizedError {
  public var errorDescription: String? { description }
}
