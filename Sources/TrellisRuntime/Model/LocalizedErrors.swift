public import Foundation

// What `localizedDescription` shows of the runtime's errors: what `description` says.

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
