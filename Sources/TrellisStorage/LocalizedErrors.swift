public import Foundation
public import TrellisQuery
public import TrellisSchema

// What `localizedDescription` shows of the errors of this module and of those below: what `description` says.

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
