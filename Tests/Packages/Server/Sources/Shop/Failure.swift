import Foundation
import Hummingbird
import Trellis

/// An error as the response that tells a client of it.
struct Failure: HTTPResponseError {
  struct Document: Codable, Equatable {
    struct BrokenRule: Codable, Equatable {
      let entity: String
      let property: String
      let rule: String
      let message: String
    }

    let code: String
    var rules: [BrokenRule]?
  }

  let status: HTTPResponse.Status
  let document: Document
  /// The number of seconds after which the request may succeed.
  var retryAfter: Int?

  private init(
    _ status: HTTPResponse.Status, _ code: String, rules: [Document.BrokenRule]? = nil, retryAfter: Int? = nil
  ) {
    self.status = status
    document = Document(code: code, rules: rules)
    self.retryAfter = retryAfter
  }

  static let notFound = Failure(.notFound, "not-found")
  /// The object has changed since the client read it.
  static let conflict = Failure(.conflict, "conflict")
  static let badToken = Failure(.badRequest, "bad-token")

  init(_ error: any Error) {
    switch error {
    case let error as Failure: self = error
    case let error as ValidationError:
      self.init(
        .unprocessableContent, "invalid",
        rules: error.failures.map {
          Document.BrokenRule(entity: $0.entity, property: $0.property, rule: $0.rule.rawValue, message: $0.message)
        })
    case is SaveConflict: self = .conflict
    case let error as StoreError: self.init(error)
    // A relationship could not be loaded when it was used.
    case let error as ContextError:
      if let cause = error.cause { self.init(cause) } else { self.init(.internalServerError, error.code.rawValue) }
    default: self.init(.internalServerError, "internal-error")
    }
  }

  private init(_ error: StoreError) {
    switch error.code {
    case .busy, .contended, .timedOut: self.init(.serviceUnavailable, error.code.rawValue, retryAfter: 1)
    // The database restarts, another server takes over, or this instance is replaced by one with the new model.
    case .cannotOpen, .inputOutput, .readOnly, .migratedByOthers, .closed:
      self.init(.serviceUnavailable, error.code.rawValue, retryAfter: 5)
    // The client looks whether it is saved before it tries again.
    case .inDoubt: self.init(.gatewayTimeout, error.code.rawValue)
    case .notUnique, .danglingReference: self = .conflict
    case .unstorableValue, .limit, .refusedByServer: self.init(.unprocessableContent, error.code.rawValue)
    case .historyExpired, .otherHistory: self.init(.gone, error.code.rawValue)
    default: self.init(.internalServerError, error.code.rawValue)
    }
  }

  func response(from request: Request, context: some RequestContext) throws -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    var headers: HTTPFields = [.contentType: "application/json; charset=utf-8"]
    if let retryAfter { headers[.retryAfter] = String(retryAfter) }
    return Response(
      status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(data: try encoder.encode(document))))
  }
}

/// Turns every error of a handler into a response.
struct FailureMiddleware<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as any HTTPResponseError {
      throw error
    } catch {
      let failure = Failure(error)
      // The messages of Trellis contain neither values nor passwords.
      switch failure.status.code {
      case 503: context.logger.warning("\(error)")
      case 500...: context.logger.error("\(error)")
      default: break
      }
      throw failure
    }
  }
}
