import Foundation
import Synchronization
import Testing
import TrellisJSON
import TrellisStorage
import TrellisTestSupport

@testable import TrellisTool

@Suite("The server of the Model Context Protocol") struct ProtocolTests {
  private static let model = """
    {
      "model": "Shelf", "history": "values",
      "enums": { "Genre": { "type": "string", "cases": ["novel", { "name": "poems", "value": "P" }] } },
      "entities": {
        "Book": {
          "attributes": {
            "title": { "type": "string", "minLength": 1 }, "pages": { "type": "int32", "default": 0, "min": 0 },
            "genre": { "type": "Genre", "optional": true }, "price": { "type": "decimal", "optional": true },
            "bought": { "type": "date", "optional": true }, "words": { "type": "[string]", "default": [] },
            "code": { "type": "uuid", "optional": true }, "cover": { "type": "data", "optional": true },
            "weight": { "type": "double", "optional": true }, "isRead": { "type": "bool", "default": false }
          },
          "relationships": {
            "shelf": { "destination": "Shelf", "inverse": "books", "optional": true },
            "tags": { "destination": "Tag", "inverse": "books", "toMany": true }
          }
        },
        "Shelf": {
          "attributes": { "name": "string" },
          "relationships": { "books": { "destination": "Book", "inverse": "shelf", "toMany": true, "ordered": true, "deleteRule": "deny" } },
          "unique": ["name"]
        },
        "Tag": {
          "attributes": { "name": "string" },
          "relationships": { "books": { "destination": "Book", "inverse": "tags", "toMany": true } }
        }
      }
    }
    """

  private let folder: ToolFolder
  private let path: String

  init() throws {
    folder = try ToolFolder()
    try folder.write(Self.model, to: "Shelf.model.json")
    #expect(try folder.run("seed", "Shelf.model.json", "s.sqlite", "8", "--seed", "7").status == 0)
    path = folder.folder.path("s.sqlite")
  }

  private func server(isWritable: Bool = false, modelFile: String? = nil) -> ProtocolServer {
    ProtocolServer(ServedStore(path: path, isWritable: isWritable, author: "test", modelFile: modelFile))
  }

  /// The answer to a line; nil if there is none.
  private func answer(_ server: ProtocolServer, _ line: [UInt8]) throws -> JSONValue? {
    let text: String? =
      switch ClientMessage.read(line) {
      case .single(.success(let message)): server.answer(message)
      case .single(.failure(let refusal)): ProtocolServer.line(refusal)
      case .batch(let messages): server.answer(messages)
      }
    guard let text else { return nil }
    #expect(!text.utf8.contains(0x0A), "an answer is one line: \(text)")
    return try JSONValue(Array(text.utf8))
  }

  private func answer(_ server: ProtocolServer, _ line: String) throws -> JSONValue? {
    try answer(server, Array(line.utf8))
  }

  private func ask(_ server: ProtocolServer, _ method: String, _ parameters: String = "{}") throws -> JSONValue? {
    try answer(server, #"{"jsonrpc": "2.0", "id": 1, "method": "\#(method)", "params": \#(parameters)}"#)
  }

  private func begun(_ server: ProtocolServer, _ version: ProtocolVersion = .structured) throws -> ProtocolServer {
    let answer = try ask(server, "initialize", #"{"protocolVersion": "\#(version.rawValue)"}"#)
    #expect(answer?["result"]?["protocolVersion"]?.string == version.rawValue)
    return server
  }

  /// The result of a tool, or the text of its error.
  private func call(_ server: ProtocolServer, _ name: String, _ arguments: String = "{}") throws -> (JSONValue?, String)
  {
    let result = try ask(server, "tools/call", #"{"name": "\#(name)", "arguments": \#(arguments)}"#)?["result"]
    let text = result?["content"]?.list?.first?["text"]?.string ?? ""
    if case .bool(true)? = result?["isError"] { return (nil, text) }
    let json = try JSONValue(Array(text.utf8))
    #expect(json.text == result?["structuredContent"]?.text)
    return (json, "")
  }

  private func code(_ answer: JSONValue?) -> Int? { answer?["error"]?["code"]?.integer }

  // MARK: Protocol

  @Test("a handshake takes the version of the client, and proposes one for others")
  func versions() throws {
    for version in ProtocolVersion.allCases where version.hasHandshake { _ = try begun(server(), version) }
    for unknown in ["2026-07-28", "1999-01-01", ""] {
      let answer = try ask(server(), "initialize", #"{"protocolVersion": "\#(unknown)"}"#)
      #expect(answer?["result"]?["protocolVersion"]?.string == ProtocolVersion.proposed.rawValue)
    }
    #expect(code(try ask(server(), "initialize")) == -32602)
    #expect(code(try ask(begun(server()), "initialize", #"{"protocolVersion": "2025-06-18"}"#)) == -32600)
  }

  @Test("a request before the handshake is refused, unless it names its version")
  func stateless() throws {
    let server = server()
    #expect(code(try ask(server, "tools/list")) == -32602)
    #expect(try ask(server, "ping")?["result"] != nil)
    let prefix = "io.modelcontextprotocol/"
    func meta(_ version: String, _ more: String = "") -> String {
      #"{"_meta": {"\#(prefix)protocolVersion": "\#(version)"\#(more)}}"#
    }
    let capable = #", "\#(prefix)clientCapabilities": {}"#
    let found = try ask(server, "server/discover", meta("2026-07-28", capable))?["result"]
    #expect(found?["resultType"]?.string == "complete" && found?["supportedVersions"]?.list?.count == 5)
    #expect(found?["_meta"]?[prefix + "serverInfo"]?["name"]?.string == "trellis")
    #expect(code(try ask(server, "tools/list", meta("2026-07-28"))) == -32602)
    #expect(code(try ask(server, "tools/list", meta("2025-06-18", capable))) == -32022)
    #expect(code(try ask(server, "ping", meta("2026-07-28", capable))) == -32601)
  }

  @Test(
    "a message that is none has the error of JSON-RPC, and the id as far as it has one",
    arguments: [
      ("{", -32700, "null"), ("\u{FEFF}{}", -32700, "null"), (#"{"id": 1, "id": 1}"#, -32700, "null"),
      ("true", -32600, "null"),
      (#"{"jsonrpc": "2.0", "id": 1.0, "method": "ping"}"#, -32600, "null"),
      (#"{"id": "a", "method": "ping"}"#, -32600, "\"a\""),
      (#"{"jsonrpc": "2.0", "id": -7, "method": 1}"#, -32600, "-7"), (#"{"jsonrpc": "2.0", "id": 3}"#, -32600, "3"),
      (#"{"jsonrpc": "2.0", "id": 3, "method": "ping", "params": [1]}"#, -32602, "3"),
      (#"{"jsonrpc": "2.0", "id": 3, "method": "tools/call"}"#, -32602, "3"), ("[]", -32600, "null"),
    ])
  func refused(_ line: String, _ expected: Int, _ id: String) throws {
    let found = try answer(server(), line)
    #expect(code(found) == expected && found?["id"]?.text == id)
  }

  @Test("notifications and answers are not answered")
  func silent() throws {
    for line in [
      #"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#, #"{"jsonrpc": "2.0", "method": "tools/call"}"#,
      #"{"jsonrpc": "2.0", "id": 1, "result": {}}"#, #"{"jsonrpc": "2.0", "id": 1, "error": {}}"#,
      #"{"jsonrpc": "2.0", "method": "x", "params": 7}"#,
    ] { #expect(try answer(server(), line) == nil) }
  }

  @Test("several messages on a line are for the one version that has them")
  func batches() throws {
    let batch = #"[{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "method": "x"}, 7]"#
    let answers = try answer(begun(server(), .batches), batch)?.list
    #expect(answers?.count == 2 && code(answers?.last) == -32600)
    #expect(code(try answer(begun(server(), .structured), batch)) == -32600)
    let many = "[" + Array(repeating: "7", count: 101).joined(separator: ",") + "]"
    #expect(code(try answer(begun(server(), .batches), many)) == -32600)
  }

  @Test("each result is of its tool's schema: what is required is there")
  func schemas() throws {
    let server = try begun(server(isWritable: true))
    let tools = try ask(server, "tools/list")?["result"]?["tools"]?.list ?? []
    #expect(
      tools.count == StoreTool.all(of: ServedStore(path: path, isWritable: true, author: "", modelFile: nil)).count)
    let arguments = [
      "query": #"{"entity": "Book"}"#, "explain": #"{"entity": "Book"}"#, "show": #"{"object": "Book#9"}"#,
      "get": #"{"object": "Book#9", "property": "title"}"#,
      "preview": #"{"changes": [{"insert": "Tag", "values": {"name": "a"}}]}"#,
      "change": #"{"changes": [{"insert": "Tag", "values": {"name": "a"}}]}"#,
      "diff": "{\"model\": \(JSONText.quoted(Self.model))}",
    ]
    var save = ""
    for tool in tools {
      let name = tool["name"]?.string ?? ""
      let book =
        try call(server, "query", #"{"entity": "Book", "limit": 1}"#).0?["objects"]?.list?.first?["_object"]?.string
        ?? ""
      let given = name == "undo" ? "{\"saves\": [\(save)]}" : arguments[name] ?? "{}"
      let (result, error) = try call(server, name, given.replacing("Book#9", with: book))
      #expect(error.isEmpty, "\(name)")
      if name == "change" { save = result?["save"]?.text ?? "" }
      for required in tool["outputSchema"]?["required"]?.list ?? [] {
        #expect(result?[required.string ?? ""] != nil, "\(name) lacks \(required.text)")
      }
    }
  }

  // MARK: Tools

  @Test("without --write no tool changes the store, and no byte of it changes")
  func readOnly() throws {
    let before = try folder.bytes(of: "s.sqlite")
    let server = try begun(server())
    let names = try ask(server, "tools/list")?["result"]?["tools"]?.list?.compactMap { $0["name"]?.string } ?? []
    #expect(names.contains("preview") && !names.contains("change"))
    let refused = try ask(server, "tools/call", #"{"name": "change", "arguments": {}}"#)
    #expect(code(refused) == -32602 && refused?["error"]?["message"]?.string?.contains("--write") == true)
    let tried = try call(server, "preview", #"{"changes": [{"insert": "Tag", "values": {"name": "new"}}]}"#).0
    #expect(tried?["changes"]?.list?.count == 1)
    #expect(
      try call(server, "count", #"{"entity": "Tag", "where": "name == %@", "arguments": ["new"]}"#).0?["count"]?.integer
        == 0)
    #expect(try folder.bytes(of: "s.sqlite") == before)
  }

  @Test("a value in a predicate is a value, whatever it says")
  func injection() throws {
    let server = try begun(server(isWritable: true))
    var hostile = HostileText(seed: TestSettings.seed())
    for text in (0..<40).map({ _ in hostile.next() }) + [
      "nil", "\\nil", "true", "Book#1", "2026-01-01T00:00:00Z", "' OR 1 == 1", "%@", "TRUEPREDICATE",
    ] {
      let title = JSONText.quoted(text)
      let done = try call(
        server, "change", #"{"changes": [{"insert": "Book", "values": {"title": \#(title), "words": [\#(title)]}}]}"#)
      guard case .object(let versions)? = done.0?["versions"], let book = versions.first?.key else {
        #expect(text.isEmpty, "\(done)")
        continue
      }
      for format in ["title == %@", "title IN {%@}"] {
        let found = try call(server, "query", #"{"entity": "Book", "where": "\#(format)", "arguments": [\#(title)]}"#)
        #expect(
          found.0?["objects"]?.list?.compactMap { $0["_object"]?.string }.contains(book) == true,
          "\(format) \(title) \(found)")
      }
      let found = try call(server, "query", #"{"entity": "Book", "where": "title == %@", "arguments": [\#(title)]}"#).0
      // A long text is cut.
      let shown = found?["objects"]?.list?.map { $0["_cut"] == nil ? $0["title"]?.string == text : text.count > 1_000 }
      #expect(shown?.allSatisfy(\.self) == true, "\(title)")
    }
  }

  @Test(
    "a value has the JSON of its type, or the change is refused",
    arguments: [
      ("pages", "7", true), ("pages", "7.0", false), ("pages", "\"7\"", false), ("pages", "true", false),
      ("pages", "null", false),
      ("pages", "1e400", false), ("genre", "\"poems\"", true), ("genre", "\"P\"", true), ("genre", "\"x\"", false),
      ("genre", "null", true), ("genre", "\"nil\"", false), ("price", "9.50", true), ("price", "\"9.50\"", true),
      ("price", "\"\"", false), ("bought", "\"now\"", true), ("bought", "\"nil\"", false), ("bought", "\"\"", false),
      ("bought", "7", false),
      ("words", "[\"nil\", \"\"]", true), ("words", "[1]", false), ("words", "\"x\"", false), ("code", "\"new\"", true),
      ("code", "\"\"", false),
      ("code", "\"x\"", false), ("cover", "\"aGk=\"", true), ("cover", "\"?\"", false), ("cover", "\"\"", true),
      ("weight", "1e3", true),
      ("weight", "\"Infinity\"", true), ("weight", "\"NaN\"", false), ("isRead", "true", true),
      ("isRead", "\"true\"", false),
      ("isRead", "1", false), ("title", "7", false), ("tags", "[]", true), ("tags", "[\"Tag#x\"]", false),
      ("tags", "{\"add\": []}", true),
      ("tags", "{\"ad\": []}", false), ("tags", "null", false), ("shelf", "null", true), ("shelf", "[]", false),
      ("shelf", "\"nil\"", false),
      ("shelf", "\"Book#1,Book#2\"", false), ("nothing", "1", false),
    ])
  func values(_ property: String, _ value: String, _ isValid: Bool) throws {
    let values = property == "title" ? "\"title\": \(value)" : "\"title\": \"a\", \"\(property)\": \(value)"
    let (result, error) = try call(
      begun(server()), "preview", #"{"changes": [{"insert": "Book", "values": {\#(values)}}]}"#)
    #expect((result != nil) == isValid, "\(result?.text ?? error)")
    #expect(isValid || error.contains("Book.\(property) must be ") || error.contains("'\(property)'"), "\(error)")
  }

  @Test("a change of an object that was changed since is refused, and says by whom")
  func conflict() throws {
    let server = try begun(server(isWritable: true))
    let book = try call(server, "query", #"{"entity": "Book", "limit": 1}"#).0?["objects"]?.list?.first
    let (name, version) = (book?["_object"]?.string ?? "", book?["_version"]?.text ?? "")
    func set(_ title: String, _ version: String) throws -> (JSONValue?, String) {
      try call(
        server, "change",
        #"{"changes": [{"set": "\#(name)", "version": \#(version), "values": {"title": "\#(title)"}}]}"#)
    }
    let first = try set("one", version)
    #expect(first.0?["versions"]?[name] != nil, "\(first)")
    let second = try set("two", version)
    #expect(second.1.contains("[conflict]") && second.1.contains("updated \(name): title by test"), "\(second)")
    #expect(
      try call(server, "preview", #"{"changes": [{"delete": "\#(name)", "version": \#(version)}]}"#).1.contains(
        "[conflict]"))
    #expect(try set("two", first.0?["versions"]?[name]?.text ?? "").0 != nil)
    let saves = try call(server, "history", #"{"object": "\#(name)", "limit": 5}"#).0?["saves"]?.list
    // The oldest save is the one that filled the store.
    #expect(saves?.count == 3 && saves?.first?["author"]?.string == "test")
    #expect(saves?.dropFirst().first?["token"]?.text == first.0?["save"]?.text)
  }

  @Test("a word stands for a new object in all later changes of the list, and for nothing before")
  func words() throws {
    let server = try begun(server(isWritable: true))
    func change(_ changes: String, _ tool: String = "change") throws -> (JSONValue?, String) {
      try call(server, tool, "{\"changes\": [\(changes)]}")
    }
    let insert = #"{"insert": "Book", "as": "@n", "values": {"title": "x"}}"#
    for version in ["", #""version": 1, "#] {
      let set = try change(#"\#(insert), {"set": "@n", \#(version)"values": {"title": "y", "pages": 3}}"#)
      let properties = set.0?["changes"]?.list?.first?["properties"]
      #expect(properties?["title"]?.string == "y" && properties?["pages"]?.string == "3", "\(set)")
    }
    let deleted = try change(#"\#(insert), {"delete": "@n"}"#)
    #expect(deleted.0?["written"]?.text == "false", "\(deleted)")
    #expect(
      try change(#"\#(insert), {"delete": "@n"}, {"set": "@n", "values": {}}"#).1
        == "'@n' is deleted by a change before.")
    let unknown = "'@n' is no new object: no insert before this change has it as its 'as'."
    #expect(try change(#"{"set": "@n", "values": {"title": "y"}}, \#(insert)"#).1 == unknown)
    #expect(try change(#"{"delete": "@n"}"#).1 == unknown)
    #expect(
      try change(#"{"insert": "Shelf", "values": {"name": "s", "books": ["@n"]}}, \#(insert)"#, "preview").1
        == "Shelf.books: " + unknown)
    let book =
      try call(server, "query", #"{"entity": "Book", "limit": 1}"#).0?["objects"]?.list?.first?["_object"]?.string ?? ""
    #expect(try change(#"{"set": "\#(book)", "values": {}}"#).1 == "changes[0] needs 'version'.")
    #expect(try change(#"{"delete": "\#(book)"}"#).1 == "changes[0] needs 'version'.")
  }

  @Test("a broken rule of a new object names no key, which another object will have")
  func newObjects() throws {
    let server = try begun(server(isWritable: true))
    let changes = """
      {"changes": [{"insert": "Book", "values": {"title": "", "pages": -1}}, {"insert": "Shelf", "values": {"name": "a"}},
        {"insert": "Shelf", "values": {"name": "a"}}]}
      """
    let broken = try call(server, "preview", changes).0?["brokenRules"]?.list?.compactMap(\.string) ?? []
    #expect(
      broken.prefix(2) == [
        "title of an object of Book must not be empty [minimumLength]",
        "pages of an object of Book must be at least 0 [minimum]",
      ])
    let written = try call(server, "change", changes).1
    #expect(written.hasPrefix("title of an object of Book must not be empty"), "\(written)")
    let twice =
      try call(
        server, "preview",
        #"{"changes": [{"insert": "Shelf", "values": {"name": "a"}}, {"insert": "Shelf", "values": {"name": "a"}}]}"#
      ).0?["brokenRules"]?.list?.compactMap(\.string) ?? []
    #expect(!twice.isEmpty && twice.allSatisfy { $0.hasPrefix("name of an object of Shelf \"a\" ") }, "\(twice)")
    let outcome = try folder.run("insert", "s.sqlite", "Book", "title=", "pages=-1")
    #expect(
      outcome.errors.hasPrefix("error: title of an object of Book must not be empty [minimumLength]\n"), "\(outcome)")
  }

  @Test(
    "a list of texts with something else names the element",
    arguments: [
      ("undo", #"{"saves": [1]}"#, "'saves' must be a list of texts, and its element 0 is 1."),
      ("undo", #"{"saves": ["a", null]}"#, "'saves' must be a list of texts, and its element 1 is null."),
      ("undo", #"{"saves": 1}"#, "'saves' must be a list of texts, and not 1."),
      (
        "query", #"{"entity": "Book", "sort": [["title"]]}"#,
        "'sort' must be a list of texts, and its element 0 is a list."
      ),
    ])
  func texts(_ tool: String, _ arguments: String, _ message: String) throws {
    #expect(try call(begun(server(isWritable: true)), tool, arguments).1 == message)
  }

  @Test("every number that a type has is an argument, and what is none is named with its place")
  func numbers() throws {
    let server = try begun(server())
    func count(_ arguments: String, _ format: String = "weight < %@") throws -> (JSONValue?, String) {
      try call(server, "count", #"{"entity": "Book", "where": "\#(format)", "arguments": [\#(arguments)]}"#)
    }
    for number in ["1e300", "-1e300", "1E-300", "123456789012345678901234567890123456789012345.5", "1", "-0.5"] {
      #expect(try count(number).0?["count"] != nil, "\(number)")
    }
    #expect(try count("[1e300, 2]", "weight IN %@").0?["count"] != nil)
    #expect(try count("1e400").1 == "arguments[0] is 1e400, which is beyond all types of numbers.")
    #expect(
      try count("[1, -1e999]", "weight IN %@").1 == "arguments[0][1] is -1e999, which is beyond all types of numbers.")
    #expect(try count("[[1]]", "weight IN %@").1.hasPrefix("arguments[0][0] is a list in a list."))
    #expect(try count("{}").1.hasPrefix("arguments[0] is an object. Arguments are "))
    #expect(try count("[{}]", "weight IN %@").1.hasPrefix("arguments[0][0] is an object. "))
    for text in ["nan", "inf", "1e400", "0x10", "e"] {
      #expect(try folder.run("query", "s.sqlite", "Book", "title == %@", text).status == 0, "\(text)")
    }
    #expect(try folder.run("query", "s.sqlite", "Book", "weight < %@", "1e300").status == 0)
  }

  @Test("a model is compared with the store, and a file with the released versions beside it as well")
  func diff() throws {
    #expect(try folder.run("release", "Shelf.model.json").status == 0)
    try folder.write(Self.model.replacing("\"weight\"", with: "\"mass\""), to: "Shelf.model.json")
    let server = try begun(server(modelFile: folder.folder.path("Shelf.model.json")))
    let all = try call(server, "diff").0
    #expect(all?["outcome"]?.string == "asks" && all?["plans"]?.list?.count == 2)
    let same = try call(server, "diff", "{\"model\": \(JSONText.quoted(Self.model))}").0
    #expect(same?["outcome"]?.string == "safe" && same?["plans"]?.list?.count == 1)
  }

  @Test("a rehearsal migrates stores of the released versions to the model file, and is offered only if there is one")
  func rehearsal() throws {
    #expect(try folder.run("release", "Shelf.model.json").status == 0)
    try folder.write(Self.model.replacing("\"weight\"", with: "\"mass\""), to: "Shelf.model.json")
    let server = try begun(server(modelFile: folder.folder.path("Shelf.model.json")))
    let report = try call(server, "rehearse", #"{"objects": 3, "seed": 5}"#).0
    let finding = report?["findings"]?.list?.first
    #expect(finding?["code"]?.string == "refused", "\(report?.text ?? "")")
    #expect(finding?["advice"]?.string?.isEmpty == false)
    let renamed = Self.model.replacing(
      #""weight": { "type": "double","#, with: #""mass": { "type": "double", "renamedFrom": "weight","#)
    try folder.write(renamed, to: "Shelf.model.json")
    let well = try call(server, "rehearse", #"{"objects": 3}"#).0
    #expect(well?["findings"]?.list?.isEmpty == true && well?["runs"]?.list?.count == 1, "\(well?.text ?? "")")
    let plain = StoreTool.all(of: ServedStore(path: path, isWritable: true, author: "", modelFile: nil))
    #expect(!plain.contains { $0.name == "rehearse" })
  }

  // MARK: Sessions

  /// What a session has written.
  private final class Written: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }

  @Test(
    "an id is free again when its request is answered, and a second request with it meanwhile is refused without the id"
  )
  func sameID() throws {
    let written = Written()
    let session = ProtocolSession(try begun(server()), seconds: 30) { written.add($0) }
    let line = Array(#"{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "doctor"}}"#.utf8)
    session.receive(line)
    session.receive(line)
    session.finish()
    session.receive(line)
    session.finish()
    let answers = try written.all.map { try JSONValue(Array($0.utf8)) }
    #expect(answers.count == 3 && answers.filter { $0["id"]?.string == "a" && $0["result"] != nil }.count == 2)
    #expect(answers.first { $0["error"] != nil }?["error"]?["data"]?["id"]?.string == "a")
  }

  @Test("a cancelled request is not answered, and the next one is")
  func cancelled() throws {
    let written = Written()
    let session = ProtocolSession(try begun(server()), seconds: 30) { written.add($0) }
    for id in 0..<20 {
      session.receive(
        Array(#"{"jsonrpc": "2.0", "id": \#(id), "method": "tools/call", "params": {"name": "doctor"}}"#.utf8))
    }
    for id in 1..<20 {
      session.receive(
        Array(#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": \#(id)}}"#.utf8))
    }
    session.receive(Array(#"{"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {"name": "count"}}"#.utf8))
    session.finish()
    let ids = try written.all.compactMap { try JSONValue(Array($0.utf8))["id"]?.integer }
    #expect(ids.last == 99 && ids.count < 20, "\(ids)")
  }

  // MARK: Random messages

  @Test("every message that was changed at random has an answer of the protocol or none, and the store stays whole")
  func fuzz() throws {
    let seed = TestSettings.seed("TRELLIS_MCP_SEED")
    var random = SeededGenerator(seed: seed)
    let server = try begun(server(isWritable: true), .batches)
    let books = try call(begun(self.server()), "query", #"{"entity": "Book"}"#).0?["objects"]?.list ?? []
    let seeds = try Self.messages(books).map { try JSONValue(Array($0.utf8)) }
    for round in 0..<TestSettings.number("TRELLIS_MCP_MESSAGES", or: 400) {
      var value = seeds[random.below(seeds.count)]
      for _ in 0...random.below(3) { value = Mutation.changed(value, seeds, &random) }
      var line = Array(value.text.utf8)
      if random.below(4) == 0 { Mutation.change(&line, &random) }
      let found = try answer(server, line)
      for one in found?.list ?? [found].compactMap(\.self) {
        let isAnswer =
          one["jsonrpc"]?.string == "2.0" && (one["result"] == nil) != (one["error"] == nil) && one["id"] != nil
        #expect(isAnswer, "seed \(seed), round \(round): \(String(decoding: line, as: UTF8.self))")
      }
    }
    let report = try folder.run("doctor", "s.sqlite")
    #expect(report.status == 0, "seed \(seed): \(report)")
  }

  private static func messages(_ books: [JSONValue]) -> [String] {
    func call(_ name: String, _ arguments: String) -> String {
      #"{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "\#(name)", "arguments": \#(arguments)}}"#
    }
    let named = books.map { (name: $0["_object"]?.text ?? "", version: $0["_version"]?.text ?? "") }
    return [
      #"{"jsonrpc": "2.0", "id": "x", "method": "initialize", "params": {"protocolVersion": "2025-03-26", "capabilities": {}}}"#,
      #"{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {"progressToken": 1}}}"#,
      #"{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}}"#,
      #"{"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": {"uri": "trellis://model/Book"}}"#,
      #"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}"#,
      call("describe", #"{"entity": "Book"}"#), call("count", "{}"), call("history", #"{"limit": 3, "cursor": "4"}"#),
      call("doctor", "{}"),
      call(
        "query",
        #"{"entity": "Book", "where": "title CONTAINS[cd] %@ AND pages > %@ AND shelf == nil", "arguments": ["a", 1], "sort": ["-title"], "columns": ["title", "tags"], "limit": 3}"#
      ),
      call("explain", #"{"entity": "Tag", "where": "ANY books.title IN %@", "arguments": [["a", "b"]]}"#),
      call("diff", #"{"model": "{\"model\": \"Shelf\"}"}"#),
      call(
        "change",
        #"{"changes": [{"insert": "Shelf", "as": "@s", "values": {"name": "new"}}, {"insert": "Book", "values": {"title": "t", "shelf": "@s", "genre": "poems", "price": 1.5, "bought": "now", "words": ["a"]}}]}"#
      ),
    ]
      + named.flatMap { name, version in
        [
          call("show", "{\"object\": \(name)}"),
          call("get", "{\"object\": \(name), \"property\": \"title\", \"cursor\": \"0\"}"),
          call(
            "change",
            "{\"changes\": [{\"set\": \(name), \"version\": \(version), \"values\": {\"pages\": 3, \"tags\": {\"add\": [\"Tag#20\"]}}}]}"
          ),
          call("preview", "{\"changes\": [{\"delete\": \(name), \"version\": \(version)}]}"),
        ]
      }
  }
}

/// Changes messages at random.
private enum Mutation {
  /// The value with one part exchanged, left out or doubled.
  static func changed(_ value: JSONValue, _ others: [JSONValue], _ random: inout SeededGenerator) -> JSONValue {
    if random.below(5) > 0 {
      switch value {
      case .list(var list) where !list.isEmpty:
        let place = random.below(list.count)
        switch random.below(6) {
        case 0: list.remove(at: place)
        case 1: list.insert(list[random.below(list.count)], at: place)
        default: list[place] = changed(list[place], others, &random)
        }
        return .list(list)
      case .object(var members) where !members.isEmpty:
        let place = random.below(members.count)
        switch random.below(8) {
        case 0: members.remove(at: place)
        case 1: members[place].key = word(&random)
        default: members[place].value = changed(members[place].value, others, &random)
        }
        return .object(members)
      default: break
      }
    }
    return hostile(others, &random)
  }

  private static func hostile(_ others: [JSONValue], _ random: inout SeededGenerator) -> JSONValue {
    switch random.below(10) {
    case 0: .null
    case 1: .bool(random.below(2) == 0)
    case 2:
      .number(
        [
          "0", "-1", "1e400", "-0.0", "9223372036854775807", "9223372036854775808", "0.1",
          String(repeating: "9", count: 200),
        ][random.below(8)])
    case 3: .list(Array(repeating: .number("1"), count: random.below(300)))
    case 4: (0..<random.below(200)).reduce(.null) { inner, _ in .list([inner]) }
    case 5: others[random.below(others.count)]
    default: .string(word(&random))
    }
  }

  private static func word(_ random: inout SeededGenerator) -> String {
    let words = [
      "", "insert", "set", "delete", "version", "values", "as", "@s", "changes", "entity", "where", "arguments", "Book",
      "Tag", "Tag#20", "Book#1",
      "Book#9223372036854775807", "Book#-1", "title == %@", "title LIKE '*a*'",
      "SUBQUERY(tags, $x, $x.name == 'a').@count > 1", "%K == %@",
      "((((", "title MATCHES '('", "pages BETWEEN {1, 2}", "@count", "-title", "nil", "\u{0}", "é", "🙂",
      "trellis://model/", "2025-06-18",
      String(repeating: "(", count: 3_000), String(repeating: "NOT ", count: 3_000) + "TRUEPREDICATE",
      String(repeating: "long ", count: 2_000),
    ]
    return words[random.below(words.count)]
  }

  /// Changes some bytes.
  static func change(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    for _ in 0...random.below(4) where !bytes.isEmpty {
      let place = random.below(bytes.count)
      switch random.below(4) {
      case 0: bytes[place] = UInt8(random.below(256))
      case 1: bytes.remove(at: place)
      case 2: bytes.removeSubrange(place..<min(bytes.count, place + random.below(30)))
      default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + random.below(30))], at: place)
      }
    }
  }
}
