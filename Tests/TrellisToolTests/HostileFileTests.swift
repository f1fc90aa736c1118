import Foundation
import Testing
import TrellisTestSupport

/// Files that are none of Trellis: every command answers with a message and an exit code, and leaves them as they are.
@Suite("Hostile files") struct HostileFileTests {
  fileprivate static let model = """
    { "model": "M", "entities": { "A": { "attributes": { "a": "string", "b": { "type": "int64", "default": 1 } } } } }
    """

  fileprivate static let commands = [
    ["check"], ["check", "--json"], ["format"], ["format", "--check"], ["release", "--history", "H"], ["diagram"],
    ["describe", "--json"],
  ]

  private func refuse(_ bytes: [UInt8], _ expected: Set<Int32>, in folder: ToolFolder) throws {
    try folder.write(bytes, to: "M.model.json")
    for command in Self.commands {
      let outcome = try folder.run(command + ["M.model.json"])
      #expect(expected.contains(outcome.status), "\(command): \(outcome)")
      #expect(outcome.output != "" || outcome.errors != "")
    }
    for sides in [["M.model.json", "Good.model.json"], ["Good.model.json", "M.model.json"]] {
      #expect(try expected.contains(folder.run(["diff"] + sides).status))
    }
    #expect(try folder.bytes(of: "M.model.json") == bytes)
    #expect(try folder.names() == ["Good.model.json", "M.model.json"])
  }

  private func folder() throws -> ToolFolder {
    let folder = try ToolFolder()
    try folder.write(Self.model, to: "Good.model.json")
    return folder
  }

  @Test("a truncated file is refused by every command, wherever it ends")
  func truncated() throws {
    let folder = try folder()
    let bytes = Array(Self.model.utf8)
    for end in stride(from: 0, to: bytes.count - 2, by: 9) { try refuse(Array(bytes[..<end]), [1], in: folder) }
  }

  @Test("a file that is no UTF-8 is refused by every command")
  func encoding() throws {
    let folder = try folder()
    try refuse(Array(Self.model.utf8) + [0xFF], [1], in: folder)
    try refuse([0xFF, 0xFE] + Self.model.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }, [1], in: folder)
  }

  @Test("nesting without end is refused by every command")
  func nesting() throws {
    let folder = try folder()
    try refuse(Array(repeating: UInt8(ascii: "["), count: 1_000_000), [1], in: folder)
  }

  @Test("a file beyond the limit is refused by every command before it is read to its end")
  func tooLarge() throws {
    let folder = try folder()
    try refuse(Array(repeating: UInt8(ascii: " "), count: 17 << 20), [66], in: folder)
  }

  @Test("a model of ten megabytes is checked and formatted", .timeLimit(.minutes(60)))
  func large() throws {
    let folder = try ToolFolder()
    let attributes = (0..<50).map { #""a\#($0)":{"type":"string","doc":"\#(String(repeating: "x", count: 90))"}"# }
    let entities = (0..<1_700).map { #""E\#($0)":{"attributes":{\#(attributes.joined(separator: ","))}}"# }
    let text = #"{"model":"M","entities":{\#(entities.joined(separator: ","))}}"#
    #expect(text.utf8.count > 10_000_000)
    try folder.write(text, to: "M.model.json")
    #expect(try folder.run("format", "M.model.json") == .init(status: 0))
    #expect(try folder.run("format", "--check", "M.model.json") == .init(status: 0))
    #expect(try folder.run("check", "M.model.json") == .init(status: 0))
  }

  @Test("a model that its layout would take beyond the limit stays as it is")
  func tooLargeWhenFormatted() throws {
    let folder = try ToolFolder()
    let lists = String(repeating: "[],", count: 1_500_000)
    let text = #"{"model":"M","entities":{"A":{"unique":[\#(lists)[]]}}}"#
    try folder.write(text, to: "M.model.json")
    let outcome = try folder.run("format", "M.model.json")
    #expect(outcome.status == 1 && outcome.errors.contains("more than 16777216 bytes"))
    #expect(try folder.text(of: "M.model.json") == text)
  }

  @Test("a command that needs a store neither waits for a pipe nor replaces what is no file", .timeLimit(.minutes(60)))
  func irregularStores() throws {
    let folder = try folder()
    #expect(try folder.run("seed", "Good.model.json", "s.sqlite", "1").status == 0)
    try #require(mkfifo(folder.folder.path("pipe"), 0o600) == 0)
    try folder.write("", to: "folder/x")
    for path in ["pipe", "folder", "/dev/null"] {
      for command in [
        ["list", path], ["show", path, "A#1"], ["query", path, "A", "a != nil"], ["get", path, "A#1", "a"],
        ["set", path, "A#1", "b=2"], ["insert", path, "A"], ["delete", path, "A#1"], ["doctor", path], ["dump", path],
        ["backup", path, "new"], ["copy", path, "new"], ["browse", path], ["migrate", path, "Good.model.json"],
        ["import", path, "new"], ["export-json", path, "A"], ["import-json", path, "A", "x.json"],
        ["history", path], ["diff-data", path, "--since", "1"], ["restore", path, "A#1", "--as-of", "1"],
        ["sync", path, "."], ["answer", path, "."], ["replicas", path],
        ["undo", path, "1"], ["export-csv", path, "A"], ["import-csv", path, "A", "x.csv"],
      ] {
        let outcome = try folder.run(command)
        #expect(outcome.status == 66 && outcome.errors.contains("This is a "), "\(command): \(outcome)")
      }
      #expect(try folder.run("backup", "s.sqlite", path, "--replace").status == 1)
      #expect(try folder.run("backup", "s.sqlite", path).status == 1)
    }
    #expect(try folder.run("diagram", "Good.model.json", "--output", "pipe").status == 74)
    for command in [
      ["load", "/dev/null", "new"], ["import-json", "s.sqlite", "A", "/dev/null"],
      ["import-csv", "s.sqlite", "A", "/dev/null"],
    ] {
      #expect(try folder.run(command).errors.contains("This is a device; a file is needed, or - for the input."))
    }
    #expect(try folder.names() == ["Good.model.json", "folder", "pipe", "s.sqlite"])
  }

  @Test("a folder, a missing file and a device are told apart from models")
  func noFiles() throws {
    let folder = try folder()
    try folder.write("", to: "F.model.json/x")
    for name in ["F.model.json", "nothing.model.json"] {
      for command in Self.commands { #expect(try folder.run(command + [name]).status == 66) }
    }
    #expect(try folder.run("check", "/dev/null").status == 1)
    #if os(Linux)
      #expect(try folder.run("check", "/dev/zero").status == 66)
    #endif
  }
}

/// Root may do everything, so these say something for other users only.
@Suite("Rights on files", .enabled(if: geteuid() != 0)) struct ToolRightsTests {
  @Test("a file that may not be read or replaced is told apart from damage, and stays as it is")
  func permissions() throws {
    let folder = try ToolFolder()
    try folder.write(HostileFileTests.model, to: "M.model.json")
    chmod(folder.folder.path("M.model.json"), 0)
    for command in HostileFileTests.commands { #expect(try folder.run(command + ["M.model.json"]).status == 66) }
    chmod(folder.folder.path("M.model.json"), 0o600)
    chmod(folder.folder.url.path, 0o500)
    #expect(try folder.run("format", "M.model.json").status == 74)
    #expect(try folder.run("release", "M.model.json").status == 74)
    chmod(folder.folder.url.path, 0o700)
    #expect(try folder.text(of: "M.model.json") == HostileFileTests.model)
    #expect(try folder.names() == ["M.model.json"])
  }
}
