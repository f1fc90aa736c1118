import TrellisModel

/// Answers the messages of a client of the Model Context Protocol. It knows nothing of streams.
final class ProtocolServer: Sendable {
  private let tools: [StoreTool]
  private let store: ServedStore
  /// The version of the handshake; nil before it.
  private let negotiated = Locked<ProtocolVersion?>(nil)

  /// The greatest number of messages in one line.
  private static let mostInBatch = 100
  /// The greatest number of bytes of a result.
  private static let mostBytes = 400_000

  init(_ store: ServedStore) {
    self.store = store
    tools = StoreTool.all(of: store)
  }

  // MARK: Messages

  /// The answer to a request, on one line; nil for a notification.
  func answer(_ message: ClientMessage) -> String? {
    guard let id = message.id else { return nil }
    do throws(ProtocolError) {
      return Self.line([("id", id.text), ("result", try result(of: message))])
    } catch {
      return Self.line(error, id)
    }
  }

  /// The answers to several messages in one line; nil if none of them is a request.
  func answer(_ batch: [Result<ClientMessage, ClientMessage.Refusal>]) -> String? {
    guard negotiated.withLock({ $0 }) == .batches else {
      return Self.line(
        .invalidRequest("Send each message on a line of its own: this version of the protocol has no lists."))
    }
    guard !batch.isEmpty, batch.count <= Self.mostInBatch else {
      return Self.line(.invalidRequest("A list has 1 to \(Self.mostInBatch) messages, and this has \(batch.count)."))
    }
    let answers = batch.compactMap { message -> String? in
      switch message {
      case .success(let message): answer(message)
      case .failure(let refusal): Self.line(refusal)
      }
    }
    return answers.isEmpty ? nil : JSONText.list(answers)
  }

  /// The answer to a message that cannot be dealt with; nil for one that is not answered.
  static func line(_ refusal: ClientMessage.Refusal) -> String? { refusal.error.map { line($0, refusal.id) } }

  static func line(_ error: ProtocolError, _ id: RequestID? = nil) -> String {
    var members = [("code", "\(error.code)"), ("message", JSONText.quoted(error.message.hidingPasswords))]
    if let data = error.data { members.append(("data", data)) }
    return line([("id", id?.text ?? "null"), ("error", JSONText.object(members))])
  }

  /// Line breaks stand only between the tokens of a result, because texts have them as escapes.
  private static func line(_ members: [(key: String, value: String)]) -> String {
    let text = JSONText.object([("jsonrpc", "\"2.0\"")] + members)
    return text.utf8.contains(0x0A) ? String(text.map { $0 == "\n" ? " " : $0 }) : text
  }

  // MARK: Versions

  /// The version that a request is of: the one that it names, or that of the handshake.
  func version(of message: ClientMessage) throws(ProtocolError) -> ProtocolVersion {
    let prefix = "io.modelcontextprotocol/"
    if let meta = message.parameters["_meta"], let named = meta[prefix + "protocolVersion"] {
      guard let text = named.string else {
        throw .invalidParameters("The version of the protocol is a text, such as \"2026-07-28\".")
      }
      guard let version = ProtocolVersion(rawValue: text), !version.hasHandshake else {
        throw .unsupportedVersion(text)
      }
      guard meta[prefix + "clientCapabilities"]?.isObject == true else {
        throw .invalidParameters("The request lacks \"\(prefix)clientCapabilities\", an object, in its _meta.")
      }
      return version
    }
    if let version = negotiated.withLock({ $0 }) { return version }
    throw .invalidParameters(
      "Begin with \"initialize\", or name the version of the protocol in each request as \"\(prefix)protocolVersion\".")
  }

  private func handshake(_ message: ClientMessage) throws(ProtocolError) -> String {
    guard let requested = message.parameters["protocolVersion"]?.string else {
      throw .invalidParameters("\"initialize\" names a \"protocolVersion\", such as \"2025-11-25\".")
    }
    let known = ProtocolVersion(rawValue: requested)
    let version = known.flatMap { $0.hasHandshake ? $0 : nil } ?? .proposed
    let isFirst = negotiated.withLock { negotiated in
      guard negotiated == nil else { return false }
      negotiated = version
      return true
    }
    guard isFirst else { throw .invalidRequest("The handshake was made already.") }
    return JSONText.object([
      ("protocolVersion", JSONText.quoted(version.rawValue)), ("capabilities", Self.capabilities),
      ("serverInfo", Self.information), ("instructions", JSONText.quoted(store.instructions)),
    ])
  }

  private static let capabilities = JSONText.object([("tools", "{}"), ("resources", "{}")])
  private static let information = JSONText.object([
    ("name", JSONText.quoted("trellis")), ("title", JSONText.quoted("Trellis")),
    ("version", JSONText.quoted("pre-1.0")),
  ])

  // MARK: Methods

  private func result(of message: ClientMessage) throws(ProtocolError) -> String {
    let parameters = message.parameters
    switch message.method {
    case "initialize": return try handshake(message)
    // May come before the handshake.
    case "ping" where parameters["_meta"]?["io.modelcontextprotocol/protocolVersion"] == nil: return "{}"
    default: break
    }
    let version = try version(of: message)
    switch message.method {
    case "server/discover":
      let versions = ProtocolVersion.allCases.reversed().map { JSONText.quoted($0.rawValue) }
      return Self.complete(
        [
          ("supportedVersions", JSONText.list(versions)), ("capabilities", Self.capabilities),
          ("instructions", JSONText.quoted(store.instructions)),
        ], version, milliseconds: 0)
    case "tools/list":
      try Self.refuseCursor(parameters)
      let listed = JSONText.list(tools.map(\.json))
      // The tools stay the same as long as the process runs.
      return Self.complete([("tools", listed)], version, milliseconds: 3_600_000)
    case "tools/call": return Self.complete(try call(parameters, version), version)
    case "resources/list":
      try Self.refuseCursor(parameters)
      return Self.complete([("resources", try resources { ModelResources($0).list })], version, milliseconds: 0)
    case "resources/templates/list":
      try Self.refuseCursor(parameters)
      return Self.complete([("resourceTemplates", ModelResources.templates)], version, milliseconds: 0)
    case "resources/read":
      guard let address = parameters["uri"]?.string else { throw .invalidParameters("The \"uri\" is missing, a text.") }
      let content = try resources { ModelResources($0).content(of: address) }
      guard let content else { throw .noResource(address, version) }
      return Self.complete([("contents", content)], version, milliseconds: 0)
    default: throw .unknownMethod(message.method)
    }
  }

  /// A result with what the version adds to each.
  ///
  /// - Parameter milliseconds: How long a client may keep the result; nil for one that it may not keep.
  private static func complete(
    _ members: [(key: String, value: String)], _ version: ProtocolVersion, milliseconds: Int? = nil
  ) -> String {
    if version.hasHandshake { return JSONText.object(members) }
    var all = [("resultType", JSONText.quoted("complete"))] + members
    if let milliseconds {
      all += [("ttlMs", "\(milliseconds)"), ("cacheScope", JSONText.quoted("private"))]
    }
    return JSONText.object(all + [("_meta", JSONText.object([("io.modelcontextprotocol/serverInfo", information)]))])
  }

  /// All lists have one page.
  private static func refuseCursor(_ parameters: JSONValue) throws(ProtocolError) {
    guard let cursor = parameters["cursor"], !cursor.isNull else { return }
    throw .invalidParameters("This list has one page, so no \"cursor\" leads further.")
  }

  private func resources<Result>(_ body: (Model) -> Result) throws(ProtocolError) -> Result {
    do throws(ToolFailure) { return body(try StoreOperand(store.path).model) } catch {
      throw .failure(Self.sentence(error))
    }
  }

  // MARK: Tools

  private func call(
    _ parameters: JSONValue, _ version: ProtocolVersion
  ) throws(ProtocolError) -> [(key: String, value: String)] {
    guard let name = parameters["name"]?.string else {
      throw .invalidParameters("The \"name\" of a tool is missing, a text.")
    }
    guard let tool = tools.first(where: { $0.name == name }) else { throw unknown(name) }
    let given = parameters["arguments"] ?? .object([])
    guard case .object(let members) = given.isNull ? .object([]) : given else {
      throw .invalidParameters("The \"arguments\" of a tool are an object, and not \(given.kind).")
    }
    do {
      let json = try tool.run(ToolArguments(members, of: tool), store)
      guard json.utf8.count <= Self.mostBytes else {
        throw ToolFailure(
          .failure, "error: The answer would have \(json.utf8.count) bytes, more than \(Self.mostBytes). Ask for less.")
      }
      return Self.content(json) + (version.hasStructuredResults ? [("structuredContent", json)] : [])
        + [("isError", "false")]
    } catch {
      let failure = ToolFailure(objects: CallLimit.current?.reason ?? error, store.path)
      return Self.content(Self.sentence(failure)) + [("isError", "true")]
    }
  }

  private static func content(_ text: String) -> [(key: String, value: String)] {
    [("content", JSONText.list([JSONText.object([("type", "\"text\""), ("text", JSONText.quoted(text))])]))]
  }

  private func unknown(_ name: String) -> ProtocolError {
    if !store.isWritable, StoreTool.all(of: store.writable).contains(where: { $0.name == name }) {
      return .invalidParameters("The tool \(name.inMessage) changes the store, which is served without --write.")
    }
    return .invalidParameters(
      "There is no tool \(name.inMessage)\(ToolFailure.suggestion(for: name, among: tools.map(\.name)))")
  }

  /// The lines of a failure without their mark.
  private static func sentence(_ failure: ToolFailure) -> String {
    failure.text.hidingPasswords.split(separator: "\n")
      .map { $0.hasPrefix("error: ") ? $0.dropFirst("error: ".count) : $0 }.joined(separator: "\n")
  }
}
