import Foundation
import Testing

@Suite("trellis rehearse") struct RehearseTests {
  private static func model(_ attributes: String, _ head: String = "", top: String = "") -> String {
    #"{ "model": "M", \#(top)"entities": { "A": { \#(head)"attributes": { \#(attributes) } } } }"#
  }

  /// A folder with a model whose first texts are released.
  private func folder(_ texts: String...) throws -> ToolFolder {
    let folder = try ToolFolder()
    for text in texts.dropLast() {
      try folder.write(text, to: "M.model.json")
      #expect(try folder.run("release", "M.model.json").status == 0)
    }
    try folder.write(texts[texts.count - 1], to: "M.model.json")
    return folder
  }

  private struct Report: Decodable {
    struct Run: Decodable {
      let version: Int?
      let store: String
      let objects: Int
      let objectsAfter: Int?
      let steps: Int?
      let outcome: String
    }
    struct Finding: Decodable {
      let code: String
      let subject: String
      let advice: String
      let versions: [Int]
      let count: Int
    }
    struct Omission: Decodable {
      let version: Int?
      let subject: String
      let reason: String
    }

    let runs: [Run]
    let findings: [Finding]
    let announced: [Finding]
    let omissions: [Omission]
  }

  private func report(_ outcome: ToolFolder.Outcome) throws -> Report {
    try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
  }

  @Test("the exit code is 0 if all is well, also with announced losses, and 1 for these with --strict")
  func announced() throws {
    let folder = try folder(
      Self.model(#""a": "string", "b": "int64""#), Self.model(#""a": "string", "b": "int64", "c": "string?""#),
      Self.model(#""a": "string", "c": "string?""#, #""removed": ["b"], "#))
    let outcome = try folder.run("rehearse", "M.model.json", "--json", "--objects", "7", "--seed", "9")
    let report = try report(outcome)
    #expect(outcome.status == 0 && outcome.errors == "" && report.findings.isEmpty && report.omissions.isEmpty)
    #expect(report.runs.map(\.version) == [1, 2] && report.runs.map(\.steps) == [2, nil])
    #expect(report.runs.allSatisfy { $0.store == "seed 9" && $0.objects == 7 && $0.objectsAfter == 7 })
    #expect(report.announced.map(\.subject) == ["A.b"] && report.announced[0].count == 14)
    #expect(try folder.run("rehearse", "M.model.json", "--strict").status == 1)
    #expect(try folder.names() == ["M.history", "M.model.json"])
  }

  @Test("the exit code is 1 for findings, each with what to do")
  func findings() throws {
    let folder = try folder(Self.model(#""a": "string""#), Self.model(#""b": "string?""#))
    let outcome = try folder.run("rehearse", "M.model.json", "--json", "--seeds", "3")
    let report = try report(outcome)
    #expect(outcome.status == 1 && report.runs.count == 3 && report.findings.count == 1)
    #expect(report.findings[0].subject == "A.a" && report.findings[0].advice.contains(#""renamedFrom": "a""#))
    let text = try folder.run("rehearse", "M.model.json", "--seeds", "3").output
    #expect(text.hasPrefix("M.model.json: 3 stores, 3 migrations, 1 finding\n") && text.contains("  3 seeds  "))
  }

  @Test("the exit code is 2 if something was left out: for time, or because steps in Swift are needed")
  func omissions() throws {
    let old = Self.model(#""a": "string""#)
    let late = try folder(old, Self.model(#""a": "string", "b": "string?""#))
    let outcome = try late.run("rehearse", "M.model.json", "--time", "0")
    #expect(outcome.status == 2 && outcome.output.contains("version 1, seed 1: The time was over."))
    let stepped = try folder(
      old, Self.model(#""a": "string", "b": "string?""#),
      Self.model(#""a": "string", "c": "string?""#, #""removed": ["b"], "#, top: #""migrates": [1], "#))
    let partly = try stepped.run("rehearse", "M.model.json", "--json")
    let report = try report(partly)
    #expect(partly.status == 2 && report.runs.map(\.version) == [2] && report.omissions.map(\.version) == [1])
    #expect(report.omissions.allSatisfy { $0.reason.contains("`MigrationRehearsal`") })
  }

  @Test("stores in a folder are rehearsed, documents as well, and what is no store is named")
  func stores() throws {
    let folder = try folder(Self.model(#""a": "string""#), Self.model(#""a": "string", "b": "string?""#))
    try folder.write("text", to: "Stores/notes.txt")
    for name in ["a.json", "b.sqlite"] {
      #expect(try folder.run("seed", "M.history/0001.json", "Stores/\(name)", "4").status == 0)
    }
    let before = try folder.bytes(of: "Stores/b.sqlite")
    let outcome = try folder.run("rehearse", "M.model.json", "--json", "--stores", "Stores", "--seeds", "0")
    let report = try report(outcome)
    #expect(outcome.status == 2 && report.findings.isEmpty && report.omissions.map(\.subject) == ["notes.txt"])
    #expect(report.runs.map(\.store) == ["a.json", "b.sqlite"] && report.runs.allSatisfy { $0.version == 1 })
    #expect(try folder.names(in: "Stores") == ["a.json", "b.sqlite", "notes.txt"])
    #expect(try folder.bytes(of: "Stores/b.sqlite") == before)
  }

  @Test("a model without a history, an edited version and wrong options are refused")
  func refused() throws {
    let folder = try folder(Self.model(#""a": "string""#), Self.model(#""a": "string", "b": "string?""#))
    for (option, value) in [("--objects", "-1"), ("--seeds", "x"), ("--time", "1.5"), ("--seed", "-1")] {
      #expect(try folder.run("rehearse", "M.model.json", "\(option)=\(value)").status == 64, "\(option)")
    }
    #expect(try folder.run("rehearse", "M.model.json", "--stores", "Nowhere").status == 66)
    try folder.write(Self.model(#""a": "string""#), to: "N.model.json")
    let outcome = try folder.run("rehearse", "N.model.json")
    #expect(outcome.status == 66 && outcome.errors.contains("`trellis release N.model.json`"))
    #expect(try folder.run("rehearse", "N.model.json", "--history", "M.history").status == 0)
    let text = try folder.text(of: "M.history/0001.json")
    try folder.write(text.replacing("string", with: "int64"), to: "M.history/0001.json")
    let edited = try folder.run("rehearse", "M.model.json")
    #expect(edited.status == 1 && edited.errors.contains("[history-edited]"))
  }
}
