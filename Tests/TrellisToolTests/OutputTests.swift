import Foundation
import Testing

@Suite("Outputs of the tool") struct OutputTests {
  private static let model = """
    { "model": "M", "history": "values", "entities": { "T": { "json": { "key": "id" },
      "attributes": { "id": "int64", "note": "string?" }, "unique": ["id"] } } }
    """

  /// Commands that print, with their own exit codes.
  private static let commands: [([String], Int32)] = [
    (["query", "a.store", "T", "TRUEPREDICATE"], 0), (["list", "a.store", "T"], 0),
    (["get", "a.store", "T#1", "note"], 0),
    (["history", "a.store"], 0), (["doctor", "a.store"], 0), (["describe", "a.store"], 0),
    (["types", "a.store", "--language", "kotlin"], 0), (["diagram", "a.store"], 0),
    (["check", "--json", "M.model.json"], 0),
    (["dump", "a.store"], 0), (["export-csv", "a.store", "T"], 0), (["export-json", "a.store", "T"], 0),
    (["diff", "M.model.json", "M.model.json"], 0), (["help"], 0),
    (["set", "a.store", "T#1", "note=x"], 0), (["completion", "bash"], 0),
    (["import-csv", "a.store", "T", "t.csv"], 0), (["migrate", "a.store", "M.model.json", "--plan"], 0),
  ]

  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(Self.model, to: "M.model.json")
    try folder.write("id,note\n" + (1...200).map { "\($0),x\n" }.joined(), to: "t.csv")
    #expect(try folder.run("import-csv", "a.store", "T", "t.csv", "--model", "M.model.json", "--write").status == 0)
  }

  @Test(
    "an output that cannot be written is exit code 74 with the reason, and what the command was otherwise",
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func full() throws {
    for (arguments, code) in Self.commands {
      let file = try #require(FileHandle(forWritingAtPath: "/dev/full"))
      let outcome = try folder.run(arguments, output: file)
      let errors = outcome.errors.split(separator: "\n").filter { $0.hasPrefix("error: ") }
      #expect(outcome.status == 74, "\(arguments) \(outcome)")
      #expect(
        errors.count == 1 && errors[0].hasPrefix("error: The output cannot be written: "), "\(arguments) \(outcome)")
      let isWhole = ["dump", "export-csv", "export-json"].contains(arguments[0])
      #expect(isWhole != outcome.errors.contains("ended with exit code \(code)."), "\(arguments) \(outcome)")
    }
    // The change itself is made.
    let file = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let outcome = try folder.run(["set", "a.store", "T#1", "note=changed", "--write"], output: file)
    #expect(outcome.status == 74 && outcome.errors.contains("ended with exit code 0."))
    #expect(try folder.run("get", "a.store", "T#1", "note").output == "changed\n")
  }

  @Test("a command whose reader has gone away says nothing")
  func closed() throws {
    for (arguments, code) in Self.commands {
      let pipe = Pipe()
      try pipe.fileHandleForReading.close()
      let outcome = try folder.run(arguments, output: pipe.fileHandleForWriting)
      // The signal ends a process that does not ignore it.
      #expect([code, -SIGPIPE].contains(outcome.status), "\(arguments) \(outcome)")
      #expect(!outcome.errors.contains("error"), "\(arguments) \(outcome)")
    }
  }

  @Test("an output that exists stays as it is, and the way out is one that the command has")
  func present() throws {
    for arguments in [
      ["dump", "a.store", "--output", "M.model.json"], ["export-csv", "a.store", "T", "M.model.json"],
      ["export-json", "a.store", "T", "--output", "M.model.json"],
    ] {
      let outcome = try folder.run(arguments)
      #expect(
        outcome.errors
          == "error: M.model.json exists already, and a new file is written. Choose another name, or remove the file.\n",
        "\(arguments)")
      #expect(outcome.status == 1 && outcome.output == "")
      let missing = try folder.run(arguments.map { $0 == "M.model.json" ? "no/file" : $0 })
      #expect(missing.status == 74 && missing.errors.hasPrefix("no/file: error: The file cannot be written: "))
    }
    #expect(try folder.text(of: "M.model.json") == Self.model)
    #expect(try folder.names() == ["M.model.json", "a.store", "t.csv"])
    #expect(try folder.run("dump", "a.store", "--output", "d.json").status == 0)
    #expect(try folder.run("list", "d.json", "T", "--limit", "1").output.contains("T#1"))
  }
}
