public import Foundation

// The `localizedDescription` of the runtime's errors is their `description`.

extension ContextError: LocalizedError {
  public var errorDescription: String? { description }
}

extension ValidationError: LocalizedError {
  public var errorDescription: String? { description }
}

extension ValidationFailure: LocalizedError {
  public var errorDescription: String? { description }
}

extension ModelMismatch: LocalizedError {
  var errorDescription: String? { description }
}
