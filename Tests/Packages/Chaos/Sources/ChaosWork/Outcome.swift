import Foundation
import Trellis

/// What a call has told its caller.
public enum Outcome: Sendable {
  case acknowledged
  /// The object to work on is not there.
  case missing
  /// Nothing was saved.
  case refused(code: String, message: String)
  /// The save may be there or not.
  case doubtful(code: String, message: String)
  /// The error is none of those that Trellis documents.
  case failed(message: String)

  init(_ error: any Error) {
    switch error {
    case let error as StoreError:
      let isDoubtful = error.code == .inDoubt
      self =
        isDoubtful
        ? .doubtful(code: error.code.rawValue, message: "\(error)")
        : .refused(code: error.code.rawValue, message: "\(error)")
    case is SaveConflict: self = .refused(code: "conflict", message: "\(error)")
    case let error as ValidationError:
      self = .refused(code: "invalid-\(error.failures.first.map { $0.rule.rawValue } ?? "")", message: "\(error)")
    case let error as ContextError:
      if let cause = error.cause as? StoreError {
        self = .refused(code: cause.code.rawValue, message: "\(error)")
      } else {
        self = .failed(message: "\(error)")
      }
    default: self = .failed(message: "\(type(of: error)): \(error)")
    }
  }

  var words: (kind: String, code: String, message: String) {
    switch self {
    case .acknowledged: ("acknowledged", "", "")
    case .missing: ("missing", "", "")
    case .refused(let code, let message): ("refused", code, message)
    case .doubtful(let code, let message): ("doubtful", code, message)
    case .failed(let message): ("failed", "", message)
    }
  }
}
