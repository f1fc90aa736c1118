import TrellisJSON

/// The identifier of a request: a text or a whole number.
struct RequestID: Hashable, Sendable {
  /// The identifier as JSON.
  let text: String

  /// - Returns: nil for any other value.
  init?(_ value: JSONValue) {
    switch value {
    case .string: text = value.text
    case .number(let number):
      let digits = number.hasPrefix("-") ? number.dropFirst() : number[...]
      guard digits.utf8.count <= 19, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      text = number
    default: return nil
    }
  }
}

/// A message of a client: a request, or a notification, which is never answered.
struct ClientMessage {
  /// The identifier of a request; nil for a notification.
  let id: RequestID?
  let method: String
  /// An object.
  let parameters: JSONValue

  /// What a line of a client is.
  enum Line {
    case single(Result<ClientMessage, Refusal>)
    /// Several messages in one, which only one version of the protocol has.
    case batch([Result<ClientMessage, Refusal>])
  }

  /// Why a message cannot be dealt with.
  struct Refusal: Error {
    /// The identifier, as far as there is one.
    let id: RequestID?
    /// Nil for a message that is not answered: an answer, or a notification.
    let error: ProtocolError?
  }

  static func read(_ line: [UInt8]) -> Line {
    do {
      let value = try JSONValue(line)
      if let values = value.list { return .batch(values.map(read)) }
      return .single(read(value))
    } catch {
      let fault = error as? DocumentFault
      let place = fault.map { " at byte \($0.offset)" } ?? ""
      return .single(
        .failure(Refusal(id: nil, error: .parse("The line is no JSON\(place): \(fault?.what ?? "it cannot be read").")))
      )
    }
  }

  private static func read(_ value: JSONValue) -> Result<ClientMessage, Refusal> {
    guard value.isObject else {
      return .failure(Refusal(id: nil, error: .invalidRequest("A message is an object, and this is \(value.kind).")))
    }
    let given = value["id"]
    let id = given.flatMap(RequestID.init)
    func refuse(_ error: ProtocolError) -> Result<ClientMessage, Refusal> { .failure(Refusal(id: id, error: error)) }
    guard let method = value["method"] else {
      // The server asks nothing, so it waits for no answer.
      let isAnswer = value["result"] != nil || value["error"] != nil
      return isAnswer
        ? .failure(Refusal(id: nil, error: nil)) : refuse(.invalidRequest("The message has no \"method\"."))
    }
    guard value["jsonrpc"]?.string == "2.0" else {
      return refuse(.invalidRequest("The message does not say \"jsonrpc\": \"2.0\"."))
    }
    guard given == nil || id != nil else {
      return refuse(.invalidRequest("The \"id\" is a text or a whole number of at most 19 digits."))
    }
    guard let method = method.string else { return refuse(.invalidRequest("The \"method\" is a text.")) }
    let parameters = value["params"] ?? .object([])
    guard parameters.isObject else {
      return id == nil
        ? .failure(Refusal(id: nil, error: nil))
        : refuse(.invalidParameters("The \"params\" are an object, and not \(parameters.kind)."))
    }
    return .success(ClientMessage(id: id, method: method, parameters: parameters))
  }
}
