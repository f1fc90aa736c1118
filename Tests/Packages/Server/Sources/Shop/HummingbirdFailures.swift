import Hummingbird
import Trellis

// A file to copy, with HTTPFailure.swift, into a server of Hummingbird that uses Trellis.

extension HTTPFailure: HTTPResponseError {
  public var status: HTTPResponse.Status { HTTPResponse.Status(code: statusCode) }

  public func response(from request: Request, context: some RequestContext) throws -> Response {
    var headers: HTTPFields = [.contentType: "application/json; charset=utf-8"]
    if let retryAfter { headers[.retryAfter] = String(retryAfter) }
    return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(data: try body())))
  }
}

/// Turns every error of a handler into a response.
struct StoreFailureMiddleware<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as any HTTPResponseError {
      throw error
    } catch {
      let failure = HTTPFailure(error)
      // The messages of Trellis contain neither values nor passwords.
      switch failure.statusCode {
      case 503: context.logger.warning("\(error)")
      case 500...: context.logger.error("\(error)")
      default: break
      }
      throw failure
    }
  }
}
