import Foundation
import Testing

@Suite("trellis check") struct CheckTests {
  @Test("a good model passes without a word")
  func good() throws {
    let folder = try ToolFolder()
    try folder.write(#"{ "model": "M", "entities": { "A": {} } }"#, to: "M.model.json")
    #expect(try folder.run("check", "M.model.json") == .init(status: 0))
    #expect(try folder.run("check", "--json", "M.model.json") == .init(status: 0, output: "[]\n"))
  }

  @Test("errors have their place and their code, for people and as JSON")
  func broken() throws {
    let folder = try ToolFolder()
    try folder.write(
      "{ \"model\": \"M\",\n  \"entities\": { \"A\": { \"parnt\": 1 }, \"A\": {} } }", to: "M.model.json")
    let outcome = try folder.run("check", "M.model.json")
    #expect(
      outcome
        == .init(
          status: 1,
          errors: """
            M.model.json:2:38: error: The key 'A' is already in this object; keep one of the two. [duplicate-key]
            M.model.json:2:17: note: the first 'A' is here

            """))
    let json = try folder.run("check", "M.model.json", "--json")
    #expect(
      json
        == .init(
          status: 1,
          output: """
            [
              { "path": "M.model.json", "line": 2, "column": 38, "severity": "error", "code": "duplicate-key", "message": \
            "The key 'A' is already in this object; keep one of the two.", "notes": [{ "line": 2, "column": 17, \
            "message": "the first 'A' is here" }] }
            ]

            """))
  }

  @Test("models that are given together need different names, which the later one is told")
  func neighbors() throws {
    let folder = try ToolFolder()
    try folder.write(#"{ "model": "M", "entities": { "A": {} } }"#, to: "M.model.json")
    try folder.write(#"{ "model": "N", "entities": { "A": {} } }"#, to: "N.model.json")
    #expect(try folder.run("check", "N.model.json").status == 0)
    let outcome = try folder.run("check", "M.model.json", "N.model.json")
    #expect(outcome.status == 1)
    #expect(
      outcome.errors.hasPrefix("N.model.json:1:31: error: Entity 'A' has the name of entity 'A' in 'M.model.json'"))
    #expect(outcome.errors.split(separator: "\n").count == 1)
  }

  @Test("a file that cannot be read is exit code 66, and the others are checked all the same")
  func unreadable() throws {
    let folder = try ToolFolder()
    try folder.write("{", to: "M.model.json")
    try folder.write("", to: "Folder/x")
    let outcome = try folder.run("check", "nothing.json", "Folder", "M.model.json")
    #expect(outcome.status == 66)
    #expect(
      outcome.errors.hasPrefix(
        "nothing.json: error: There is no such file.\nFolder: error: This is a folder.\nM.model.json:1:2: error: "))
    let json = try folder.run("check", "--json", "nothing.json")
    #expect(
      json
        == .init(
          status: 66,
          output: """
            [
              { "path": "nothing.json", "line": 1, "column": 1, "severity": "error", "code": "unreadable", "message": \
            "There is no such file.", "notes": [] }
            ]

            """))
  }

  @Test("the JSON of hostile names and texts is JSON")
  func hostileJSON() throws {
    let folder = try ToolFolder()
    let name = "a\"b\\c\u{1}d\u{202E}.model.json"
    try folder.write("{ \"model\": \"M\", \"\\u0001\\\"\": 1, \"entities\": { \"\\u0000\": {} } }", to: name)
    let outcome = try folder.run("check", "--json", name)
    #expect(outcome.status == 1)
    let records = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]]
    #expect(records?.isEmpty == false)
    #expect(records?.allSatisfy { $0["path"] as? String == name } == true)
  }
}
