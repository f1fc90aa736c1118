public import Foundation
import Trellis

/// An error of Trellis as the response of a web service that tells a client of it. It needs no web framework.
public struct HTTPFailure: Error, Hashable, Sendable {
  /// What the client gets as JSON. It contains no user data.
  public struct Document: Codable, Hashable, Sendable {
    public struct BrokenRule: Codable, Hashable, Sendable {
      public let entity: String
      public let property: String
      public let rule: String
      public let message: String
    }

    public let code: String
    public var rules: [BrokenRule]?
  }

  /// The status of HTTP.
  public let statusCode: Int
  public let document: Document
  /// The number of seconds after which the request may succeed; nil if it would fail again.
  public let retryAfter: Int?

  public init(
    _ statusCode: Int, _ code: String, rules: [Document.BrokenRule]? = nil, retryAfter: Int? = nil
  ) {
    self.statusCode = statusCode
    document = Document(code: code, rules: rules)
    self.retryAfter = retryAfter
  }

  public static let notFound = HTTPFailure(404, "not-found")
  /// The object has changed since the client read it.
  public static let conflict = HTTPFailure(409, "conflict")
  public static let badToken = HTTPFailure(400, "bad-token")

  /// The response to an error.
  public init(_ error: any Error) {
    switch error {
    case let error as HTTPFailure: self = error
    case let error as ValidationError:
      self.init(
        422, "invalid",
        rules: error.failures.map {
          Document.BrokenRule(entity: $0.entity, property: $0.property, rule: $0.rule.rawValue, message: $0.message)
        })
    case is SaveConflict: self = .conflict
    case let error as StoreError: self.init(error)
    // A relationship could not be loaded when it was used.
    case let error as ContextError:
      if let cause = error.cause { self.init(cause) } else { self.init(500, error.code.rawValue) }
    default: self.init(500, "internal-error")
    }
  }

  private init(_ error: StoreError) {
    switch error.code {
    case .busy, .contended, .timedOut: self.init(503, error.code.rawValue, retryAfter: 1)
    // The database restarts, another server takes over, or this instance is replaced by one with the new model.
    case .cannotOpen, .inputOutput, .readOnly, .migratedByOthers, .closed:
      self.init(503, error.code.rawValue, retryAfter: 5)
    // The client looks whether it is saved before it tries again.
    case .inDoubt: self.init(504, error.code.rawValue)
    case .notUnique, .danglingReference: self = .conflict
    case .unstorableValue, .limit, .refusedByServer: self.init(422, error.code.rawValue)
    case .historyExpired, .otherHistory: self.init(410, error.code.rawValue)
    default: self.init(500, error.code.rawValue)
    }
  }

  /// The document as the body of a response.
  ///
  /// - Throws: the errors of the encoder.
  public func body() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return try encoder.encode(document)
  }
}
