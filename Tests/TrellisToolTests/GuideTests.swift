import Foundation
import Testing
import TrellisTestSupport

/// The commands of `Docs/Tool.md` run in one folder, in the order of the page. Before a block of commands runs, the files in
/// `Guide` under its number come into the folder, as an author would have changed them.
///
/// `TRELLIS_RECORD=1 swift test --filter GuideTests` writes the outputs anew; a test that recorded something fails.
@Suite("The page about the command line") struct GuideTests {
  @Test("shows what the commands really print")
  func page() throws {
    let page = ToolFolder.root.appending(path: "Docs/Tool.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let folder = try ToolFolder()
    var lines: [String] = []
    var block = 0
    var isInBlock = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line == "```console" {
        block += 1
        isInBlock = true
        try addFiles(of: block, to: folder)
      } else if line == "```" {
        isInBlock = false
      } else if isInBlock {
        // The outputs are written anew below their commands.
        guard line.hasPrefix("$ ") else { continue }
        lines.append(line)
        lines += try output(of: String(line.dropFirst(2)), in: folder)
        continue
      }
      lines.append(line)
    }
    #expect(block > 5)
    let shown = lines.joined(separator: "\n")
    guard shown != text else { return }
    if TestSettings.number("TRELLIS_RECORD") == 1 {
      try shown.write(to: page, atomically: true, encoding: .utf8)
      Issue.record("recorded anew: look at it and run again without TRELLIS_RECORD")
    } else {
      #expect(shown.split(separator: "\n") == text.split(separator: "\n"), "differs from Docs/Tool.md")
    }
  }

  private func addFiles(of block: Int, to folder: ToolFolder) throws {
    let files = ToolFolder.root.appending(path: "Tests/TrellisToolTests/Guide/\(block)")
    guard FileManager.default.fileExists(atPath: files.path) else { return }
    for name in try FileManager.default.contentsOfDirectory(atPath: files.path) {
      let target = folder.folder.file(name)
      try? FileManager.default.removeItem(at: target)
      try FileManager.default.copyItem(at: files.appending(path: name), to: target)
    }
  }

  private func output(of command: String, in folder: ToolFolder) throws -> [String] {
    guard let tool = BuiltProgram.url(of: "trellis") else { throw ToolFolder.NotBuilt() }
    let place = try TestFolder()
    let file = place.file("text")
    try Data().write(to: file)
    let stream = try FileHandle(forWritingTo: file)
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    process.currentDirectoryURL = folder.folder.url
    let path = "\(tool.deletingLastPathComponent().path):/usr/bin:/bin"
    process.environment = ["PATH": path, "SOURCE_DATE_EPOCH": "1772409600"]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = stream
    process.standardError = stream
    try process.run()
    process.waitUntilExit()
    let text = try String(contentsOf: file, encoding: .utf8)
    return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).dropLast()
  }
}
