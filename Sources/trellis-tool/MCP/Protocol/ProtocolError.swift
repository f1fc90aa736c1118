/// An error of JSON-RPC: what is wrong with a message, and not with what it asks for.
struct ProtocolError: Error {
  let code: Int
  let message: String
  /// More about it, as JSON.
  var data: String?

  static func parse(_ message: String) -> ProtocolError { ProtocolError(code: -32700, message: message) }
  static func invalidRequest(_ message: String) -> ProtocolError { ProtocolError(code: -32600, message: message) }
  static func unknownMethod(_ name: String) -> ProtocolError {
    ProtocolError(code: -32601, message: "There is no method \(name.inMessage).")
  }
  static func invalidParameters(_ message: String) -> ProtocolError { ProtocolError(code: -32602, message: message) }
  static func failure(_ message: String) -> ProtocolError { ProtocolError(code: -32603, message: message) }

  /// The answer that names a resource that is not there.
  static func noResource(_ address: String, _ version: ProtocolVersion) -> ProtocolError {
    ProtocolError(
      code: version.hasHandshake ? -32002 : -32602, message: "There is no resource \(address.inMessage).",
      data: JSONText.object([("uri", JSONText.quoted(address))]))
  }

  static func unsupportedVersion(_ requested: String) -> ProtocolError {
    let supported = JSONText.list(ProtocolVersion.allCases.reversed().map { JSONText.quoted($0.rawValue) })
    return ProtocolError(
      code: -32022, message: "The server does not speak this version of the protocol.",
      data: JSONText.object([("supported", supported), ("requested", JSONText.quoted(requested))]))
  }
}
