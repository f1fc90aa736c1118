import Foundation
import Testing
import TrellisJSON
import TrellisModel
import TrellisModelFile
import TrellisStorage

@Suite("trellis diagram") struct DiagramTests {
  static let model = """
    { "model": "M", "entities": {
      "A": { "relationships": { "bs": { "destination": "B", "toMany": true, "inverse": "a" } } },
      "B": { "relationships": { "a": { "destination": "A", "inverse": "bs" } } },
      "C": {} } }
    """

  private func folder() throws -> ToolFolder {
    let folder = try ToolFolder()
    try folder.write(Self.model, to: "M.model.json")
    return folder
  }

  @Test("prints a picture, or writes it to a file")
  func output() throws {
    let folder = try folder()
    let printed = try folder.run("diagram", "M.model.json")
    #expect(printed.status == 0 && printed.errors == "" && printed.output.hasPrefix("<svg xmlns="))
    #expect(try folder.run("diagram", "--svg", "M.model.json") == printed)
    #expect(try folder.run("diagram", "M.model.json", "--output", "M.svg") == .init(status: 0))
    #expect(try folder.text(of: "M.svg") == printed.output)
    #expect(try folder.run("diagram", "M.model.json", "--dark", "--output=M.svg") == .init(status: 0))
    #expect(try folder.text(of: "M.svg") != printed.output)
    #expect(try folder.run("diagram", "M.model.json", "--output", "no/M.svg").status == 74)
  }

  @Test("writes Mermaid and DOT, of the asked entities only")
  func formats() throws {
    let folder = try folder()
    #expect(
      try folder.run("diagram", "--mermaid", "M.model.json")
        == .init(status: 0, output: "erDiagram\n  A\n  B\n  C\n  A ||--o{ B : \"bs / a\"\n"))
    #expect(
      try folder.run("diagram", "--mermaid", "--entities", "A, C", "M.model.json")
        == .init(status: 0, output: "erDiagram\n  A\n  C\n"))
    let dot = try folder.run("diagram", "--dot", "M.model.json")
    #expect(dot.status == 0 && dot.output.hasPrefix("digraph \"M\" {\n"))
  }

  @Test("shows where properties lie in JSON, if asked for")
  func mapping() throws {
    let folder = try ToolFolder()
    try folder.write(
      """
      { "model": "M", "entities": { "A": { "json": { "style": "snake_case" },
        "attributes": { "fullName": "string", "hp": { "type": "int16", "json": "stats[stat.name=hp].base_stat" },
          "own": { "type": "string?", "json": false } },
        "relationships": { "b": { "destination": "A", "inverse": "b", "optional": true, "json": "b.c" } } } } }
      """, to: "M.model.json")
    let text = try folder.run("diagram", "--mermaid", "--mapping", "M.model.json").output
    #expect(text.contains("string fullName \"full_name\"\n"))
    #expect(text.contains("int16 hp \"stats[stat.name=hp].base_stat\"\n"))
    #expect(text.contains("string own \"optional\"\n"))
    let picture = try folder.run("diagram", "--mapping", "M.model.json").output
    #expect(picture.contains(">stats[stat.name=hp].base_stat<") && picture.contains(">b.c<"))
    #expect(try !folder.run("diagram", "M.model.json").output.contains("base_stat"))
  }

  @Test("what cannot be meant is named")
  func refused() throws {
    let folder = try folder()
    for (arguments, message) in [
      (["--svg", "--dot"], "error: --svg and --dot exclude each other.\n"),
      (["--light", "--dark"], "error: --light and --dark exclude each other.\n"),
      (["--dot", "--dark"], "error: --dark is for --svg only.\n"),
      (["--entities", "A,Bb"], "error: The model has no entity 'Bb'; did you mean 'B'?\n"),
      (["--entities", ","], "error: --entities needs names of entities.\n"),
    ] {
      let outcome = try folder.run(["diagram", "M.model.json"] + arguments)
      #expect(outcome.status == 64 && outcome.output == "" && outcome.errors.hasPrefix(message), "\(outcome)")
    }
    try folder.write(#"{ "model": "M", "entities": { "a": 1 } }"#, to: "Bad.model.json")
    #expect(try folder.run("diagram", "Bad.model.json").status == 1)
    #expect(try folder.run("diagram", "nothing.model.json").status == 66)
  }

  @Test("draws a released version, and a model from a pipe")
  func versions() throws {
    let folder = try folder()
    let picture = try folder.run("diagram", "M.model.json")
    #expect(try folder.run("release", "M.model.json").status == 0)
    #expect(try folder.run("diagram", "M.history/0001.json") == picture)
    #expect(try folder.run("diagram", "/dev/null").status == 1)
  }
}

@Suite("Models of stores") struct StoreModelTests {
  /// A folder with a model, a SQLite file and a JSON document.
  private func folder() throws -> ToolFolder {
    let folder = try ToolFolder()
    try folder.write(DiagramTests.model, to: "M.model.json")
    let description = try #require(ModelFile.parse(Array(DiagramTests.model.utf8), path: "M").description)
    let model = try Model(description)
    try StoreConfiguration.sqlite(at: folder.folder.file("M.db")).open(model).close()
    try StoreConfiguration.json(at: folder.folder.file("M.json")).open(model).close()
    return folder
  }

  @Test("a store is described and drawn as its model is, and stays as it is")
  func same() throws {
    let folder = try folder()
    for arguments in [["diagram"], ["diagram", "--dot"], ["describe"], ["describe", "--json"]] {
      let expected = try folder.run(arguments + ["M.model.json"])
      #expect(expected.status == 0 && expected.errors == "")
      for store in ["M.db", "M.json"] {
        let before = try folder.bytes(of: store)
        #expect(try folder.run(arguments + [store]) == expected)
        #expect(try folder.bytes(of: store) == before)
      }
    }
    #expect(try folder.names() == ["M.db", "M.json", "M.model.json"])
  }

  @Test("a store that another program has open is described")
  func open() throws {
    let folder = try folder()
    let description = try #require(ModelFile.parse(Array(DiagramTests.model.utf8), path: "M").description)
    let store = try StoreConfiguration.sqlite(at: folder.folder.file("M.db")).open(Model(description))
    #expect(try folder.run("describe", "M.db").status == 0)
    store.close()
  }

  @Test("a damaged store, and a database of another program, are refused with the reason")
  func damaged() throws {
    let folder = try folder()
    let database = try folder.bytes(of: "M.db")
    try folder.write(Array(database.prefix(60)), to: "Short.db")
    try folder.write(Array("SQLite format 3\0".utf8) + Array(repeating: 0, count: 500), to: "Other.db")
    let document = try folder.text(of: "M.json")
    try folder.write(String(document.dropLast(20)), to: "Short.json")
    try folder.write(document.replacing("\"bs\"", with: "\"xs\""), to: "Edited.json")
    for name in ["Short.db", "Other.db", "Short.json", "Edited.json"] {
      for command in ["diagram", "describe"] {
        let outcome = try folder.run(command, name)
        #expect(outcome.status == 1 && outcome.output == "" && outcome.errors.hasPrefix("error: "), "\(outcome)")
      }
    }
  }
}
