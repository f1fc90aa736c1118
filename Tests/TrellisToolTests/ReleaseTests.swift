import Foundation
import Testing
import TrellisModelFile

@Suite("trellis release") struct ReleaseTests {
  private static func model(_ attribute: String) -> String {
    #"{ "model": "M", "entities": { "A": { "attributes": { "\#(attribute)": "string?" } } } }"#
  }

  private func released(_ attributes: String...) throws -> ToolFolder {
    let folder = try ToolFolder()
    for attribute in attributes {
      try folder.write(Self.model(attribute), to: "M.model.json")
      #expect(try folder.run("release", "M.model.json").status == 0)
    }
    return folder
  }

  @Test("the first release makes the folder, with the model in its canonical text")
  func first() throws {
    let folder = try ToolFolder()
    try folder.write(Self.model("a"), to: "M.model.json")
    #expect(
      try folder.run("release", "M.model.json") == .init(status: 0, output: "M.history/0001.json: version 1\n"))
    #expect(
      try folder.text(of: "M.history/0001.json") == """
        {
          "trellis-history": 1,
          "number": 1,
          "released": "2026-03-02",
          "checksum": "750db5d2c1cb74f3",
          "model": {
            "model": "M",
            "entities": {
              "A": {
                "attributes": {
                  "a": "string?"
                }
              }
            }
          }
        }

        """)
    #expect(try folder.names() == ["M.history", "M.model.json"])
    #expect(try folder.names(in: "M.history") == ["0001.json"])
  }

  @Test("a model that is the newest version already is not released again, whatever its layout is")
  func same() throws {
    let folder = try released("a", "b")
    try folder.write(Self.model("b").replacing(" ", with: "\n"), to: "M.model.json")
    #expect(
      try folder.run("release", "M.model.json")
        == .init(status: 0, output: "M.history/0002.json: version 2 of 2026-03-02 already is this model\n"))
    #expect(try folder.names(in: "M.history") == ["0001.json", "0002.json"])
  }

  @Test("a model that is a former version again is refused with the line that makes it a version of its own")
  func back() throws {
    let folder = try released("a", "b")
    try folder.write(Self.model("a"), to: "M.model.json")
    let error =
      "M.model.json:1:3: error: The model is exactly version 1 again, which version 2 has followed, so a store of version "
      + "2 takes a program with it for an old one; write \"version\": \"3\". [former-version]\n"
    #expect(try folder.run("release", "M.model.json") == .init(status: 1, errors: error))
    #expect(try folder.run("check", "M.model.json") == .init(status: 1, errors: error))
    try folder.write(
      Self.model("a").replacing("{ \"model\"", with: "{ \"version\": \"3\", \"model\""), to: "M.model.json")
    #expect(try folder.run("check", "M.model.json").status == 0)
    #expect(
      try folder.run("release", "M.model.json") == .init(status: 0, output: "M.history/0003.json: version 3\n"))
    #expect(try folder.names(in: "M.history") == ["0001.json", "0002.json", "0003.json"])
  }

  @Test("nothing is released after an edited version, after a gap, or from a model with errors")
  func refused() throws {
    let edited = try released("a", "b")
    let text = try edited.text(of: "M.history/0001.json")
    try edited.write(text.replacing("string?", with: "bool?"), to: "M.history/0001.json")
    try edited.write(Self.model("c"), to: "M.model.json")
    let outcome = try edited.run("release", "M.model.json")
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("M.history/0001.json:6:12: error: Version 1 was edited: "))

    let gap = try released("a", "b")
    try FileManager.default.removeItem(at: gap.folder.file("M.history/0001.json"))
    #expect(
      try gap.run("release", "M.model.json")
        == .init(
          status: 1,
          errors: "M.history/0002.json:1:1: error: Version 1 is missing before this one. Restore what was released. "
            + "[history-edited]\n"))

    let broken = try ToolFolder()
    try broken.write(#"{ "model": 1 }"#, to: "M.model.json")
    #expect(try broken.run("release", "M.model.json").status == 1)
    #expect(try broken.names() == ["M.model.json"])
  }

  @Test("the folder can be named, and has to be for a file with another ending")
  func folder() throws {
    let folder = try ToolFolder()
    try folder.write(Self.model("a"), to: "M.json")
    #expect(try folder.run("release", "M.json").status == 64)
    #expect(
      try folder.run("release", "M.json", "--history", "a/b/")
        == .init(status: 0, output: "a/b/0001.json: version 1\n"))
    #expect(try folder.run("release", "M.json", "--history", "M.json").status == 66)
  }

  @Test("a version is checked like a model, and never formatted")
  func versions() throws {
    let folder = try released("a")
    let text = try folder.text(of: "M.history/0001.json")
    #expect(try folder.run("check", "M.history/0001.json") == .init(status: 0))
    #expect(try folder.run("format", "M.history/0001.json").status == 1)
    #expect(try folder.text(of: "M.history/0001.json") == text)
    try folder.write(text.replacing("\"a\"", with: "\"b\""), to: "M.history/0001.json")
    #expect(try folder.run("check", "M.history/0001.json").errors.contains("[history-edited]"))
    #expect(try folder.run("format", "--check", "M.history/0001.json").status == 1)
  }

  @Test("processes that release at the same time make one version each, or say that another one was faster")
  func crowd() async throws {
    let folder = try ToolFolder()
    let count = 8
    for number in 0..<count { try folder.write(Self.model("a\(number)"), to: "\(number).json") }
    let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
      for number in 0..<count {
        group.addTask { try folder.run("release", "\(number).json", "--history", "H").status }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(statuses.allSatisfy { $0 == 0 || $0 == 74 })
    let names = try folder.names(in: "H")
    #expect(names == (1...statuses.count { $0 == 0 }).map { ModelHistory.fileName(of: $0) })
    #expect(try folder.run("diff", "H", "0.json").errors == "")
  }

  @Test("the version of a build is not made without its history: an edited file is an error with its place")
  func build() throws {
    let folder = try released("a", "b")
    let arguments = ["M.model.json", "M.swift", "--history", "M.history/0001.json", "M.history/0002.json"]
    #expect(try folder.run(arguments, program: "trellis-gen") == .init(status: 0))
    #expect(try folder.names().contains("M.swift"))
    let text = try folder.text(of: "M.history/0002.json")
    try folder.write(text.replacing("\"b\"", with: "\"c\""), to: "M.history/0002.json")
    let outcome = try folder.run(arguments, program: "trellis-gen")
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("M.history/0002.json:6:12: error: Version 2 was edited: "))
    #expect(try !folder.names().contains("M.swift"))
    #expect(try folder.run("check", "M.model.json") == outcome)
  }

  @Test("a large model is written to several files, and those that it no longer needs are removed")
  func severalFiles() throws {
    let folder = try ToolFolder()
    func write(_ count: Int, _ options: String...) throws {
      let entities = (0..<count).map { "\"E\($0)\": { \"attributes\": { \"a\": \"int64\" } }" }.joined(separator: ", ")
      try folder.write("{ \"model\": \"M\", \"entities\": { \(entities) } }", to: "M.model.json")
      let arguments = ["M.model.json", "M.trellis.swift"] + options
      #expect(try folder.run(arguments, program: "trellis-gen") == .init(status: 0))
    }
    func files() throws -> [String] { try folder.names().filter { $0.hasSuffix(".swift") }.sorted() }
    let all = ["M.trellis.2.swift", "M.trellis.3.swift", "M.trellis.swift"]
    try write(41)
    #expect(try files() == all)
    try write(20)
    #expect(try files() == ["M.trellis.swift"])
    try write(20, "--files", "3")
    #expect(try files() == all)
    try write(41, "--files", "1")
    #expect(try files() == ["M.trellis.swift"])
    #expect(try folder.run(["M.model.json", "M.trellis.swift", "--files", "0"], program: "trellis-gen").status == 2)
  }
}
