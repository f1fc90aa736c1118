import Foundation
import Testing
import TrellisTestSupport

@Suite("trellis sync, answer and replicas") struct SyncCommandTests {
  private static let model = """
    {
      "model": "Lists", "history": "values",
      "entities": { "List": { "attributes": { "name": "string", "total": { "type": "int64", "default": 0 } } } }
    }
    """

  /// A folder with stores, and a server that answers until this is released.
  private final class Office {
    let folder: ToolFolder
    private let server = Process()

    init(_ stores: String...) throws {
      folder = try ToolFolder()
      try folder.write(SyncCommandTests.model, to: "Lists.model.json")
      for name in stores + ["office"] {
        #expect(try folder.run("seed", "Lists.model.json", "\(name).sqlite", "0").status == 0)
      }
      try FileManager.default.createDirectory(at: folder.folder.file("shared"), withIntermediateDirectories: true)
      guard let url = BuiltProgram.url(of: "trellis") else { throw ToolFolder.NotBuilt() }
      server.executableURL = url
      server.arguments = ["answer", "office.sqlite", "shared"]
      server.currentDirectoryURL = folder.folder.url
      server.standardInput = FileHandle.nullDevice
      try server.run()
    }

    deinit {
      // The program inherits the signals that the threads of tests block, and so may not hear of a milder one.
      kill(server.processIdentifier, SIGKILL)
      server.waitUntilExit()
    }

    func sync(_ name: String, _ options: String...) throws -> ToolFolder.Outcome {
      try folder.run(["sync", "\(name).sqlite", "shared", "--timeout", "600"] + options)
    }
  }

  @Test("what one store has saved, the others have after their exchanges, and the server lists them")
  func exchange() throws {
    let office = try Office("phone", "tablet")
    #expect(try office.folder.run("replicas", "office.sqlite").output == "no replicas\n")
    #expect(try office.folder.run("insert", "phone.sqlite", "List", "name=food", "--write").status == 0)
    let first = try office.sync("phone")
    #expect(first.output == "sent 1 save, received 1 object\n" && first.status == 0, "\(first)")
    #expect(try office.sync("tablet").status == 0)
    #expect(try office.folder.run("list", "tablet.sqlite", "List", "--columns", "name").output.contains("food"))
    let lines = try office.folder.run("replicas", "office.sqlite").output.split(separator: "\n").map(String.init)
    #expect(lines.count == 3 && lines[0] == "replica  saves  last save", "\(lines)")
    #expect(lines[1].hasPrefix("      2      1  2") && lines[2] == "      3      0  -", "\(lines)")
    let json = try office.folder.run("replicas", "--json", "office.sqlite").output
    #expect(json.contains(#"{ "replica": 3, "saves": 0, "lastSave": null }"#), "\(json)")
    #expect(try office.folder.names(in: "shared") == [])
  }

  @Test("conflicts are listed as long as the store keeps them, and the exit code is 2") func conflict() throws {
    let office = try Office("phone", "tablet")
    #expect(try office.folder.run("insert", "phone.sqlite", "List", "name=food", "--write").status == 0)
    for name in ["phone", "tablet"] { #expect(try office.sync(name).status == 0) }
    let listed = try office.folder.run("list", "--json", "tablet.sqlite", "List", "--columns", "name").output
    let key = try #require(listed.firstMatch(of: /\d{10,}/).map { String($0.output) }, "\(listed)")
    #expect(try office.folder.run("delete", "phone.sqlite", "List#\(key)", "--write").status == 0)
    #expect(try office.sync("phone").status == 0)
    #expect(try office.folder.run("set", "tablet.sqlite", "List#\(key)", "name=drinks", "--write").status == 0)
    let outcome = try office.sync("tablet")
    #expect(outcome.status == 2 && outcome.output.contains("conflict: save 1 of 1 objects was refused [deleted]"))
    let json = try office.sync("tablet", "--json")
    #expect(json.status == 2 && json.output.contains(#""save": 1, "reason": "deleted""#), "\(json)")
  }

  @Test("without an answer the exit code is 69, and what was saved is still there") func unreachable() throws {
    let folder = try ToolFolder()
    try folder.write(Self.model, to: "Lists.model.json")
    #expect(try folder.run("seed", "Lists.model.json", "phone.sqlite", "3").status == 0)
    try FileManager.default.createDirectory(at: folder.folder.file("shared"), withIntermediateDirectories: true)
    for server in ["shared", "http://127.0.0.1:1/sync"] {
      let outcome = try folder.run("sync", "phone.sqlite", server, "--timeout", "1")
      #expect(outcome.status == 69 && outcome.errors.contains("[unreachable]"), "\(outcome)")
    }
    #expect(try folder.run("list", "phone.sqlite").output.contains("3"))
  }

  @Test("a place that is none, and options that are none, are refused before the store is touched")
  func refusals() throws {
    let folder = try ToolFolder()
    try folder.write(Self.model.replacing(#""history": "values","#, with: ""), to: "Lists.model.json")
    #expect(try folder.run("seed", "Lists.model.json", "phone.sqlite", "0").status == 0)
    #expect(try folder.run("sync", "phone.sqlite", "nowhere").status == 66)
    #expect(try folder.run("answer", "phone.sqlite", "nowhere").status == 66)
    for options in [["--timeout", "0"], ["--timeout", "x"], ["--header", "x"], ["--header", "a: b\nc: d"]] {
      #expect(try folder.run(["sync", "phone.sqlite", "http://127.0.0.1:1/"] + options).status == 64, "\(options)")
    }
    #expect(try folder.run("sync", "phone.sqlite", "https://").status == 64)
    let outcome = try folder.run("sync", "phone.sqlite", ".")
    #expect(outcome.status == 1 && outcome.errors.contains("[no-history]"))
  }

  @Test("answer --once answers what lies there, and ends") func once() throws {
    let folder = try ToolFolder()
    try folder.write(Self.model, to: "Lists.model.json")
    for name in ["phone", "office"] {
      #expect(try folder.run("seed", "Lists.model.json", "\(name).sqlite", "0").status == 0)
    }
    try FileManager.default.createDirectory(at: folder.folder.file("shared"), withIntermediateDirectories: true)
    #expect(try folder.run("answer", "--once", "office.sqlite", "shared").output == "0 answers\n")
    // Two messages: the number, and what is there.
    for _ in 0..<2 {
      #expect(try folder.run("sync", "phone.sqlite", "shared", "--timeout", "1").status == 69)
      #expect(try folder.run("answer", "--once", "office.sqlite", "shared").output == "1 answers\n")
    }
    #expect(try folder.run("sync", "phone.sqlite", "shared", "--timeout", "1").status == 0)
  }
}
