import Foundation
import Testing
import TrellisTestSupport

@testable import TrellisTool

/// The calls of `Docs/MCP.md` are made in the order of the page, and the block after each is its result.
@Suite("The page about the Model Context Protocol") struct MCPPageTests {
  @Test("shows what the tools really give")
  func page() throws {
    let text = try String(contentsOf: ToolFolder.root.appending(path: "Docs/MCP.md"), encoding: .utf8)
    let blocks = text.split(separator: "\n```").map { $0.split(separator: "\n", maxSplits: 1).map(String.init) }
      .filter { $0.count == 2 && ["json", "text"].contains($0[0]) }.map { $0[1] }
    let folder = try ToolFolder()
    let model = ToolFolder.root.appending(path: "Tests/TrellisToolTests/Guide/17/Notes.model.json")
    try folder.write(Array(try Data(contentsOf: model)), to: "Notes.model.json")
    #expect(try folder.run("seed", "Notes.model.json", "notes.sqlite", "4", "--seed", "5").status == 0)
    let store = ServedStore(
      path: folder.folder.path("notes.sqlite"), isWritable: true, author: "mcp", modelFile: nil)
    var count = 0
    for (call, result) in zip(blocks, blocks.dropFirst()) {
      let value = try? JSONValue(Array(call.utf8))
      guard let name = value?["name"]?.string, case .object(let arguments)? = value?["arguments"] else { continue }
      count += 1
      let tool = try #require(StoreTool.all(of: store).first { $0.name == name })
      do {
        let given = try tool.run(ToolArguments(arguments, of: tool), store)
        #expect(try JSONValue(Array(given.utf8)).text == JSONValue(Array(result.utf8)).text, "\(call)")
      } catch let failure as ToolFailure {
        #expect(failure.text == "error: \(result)\n")
      }
    }
    #expect(count >= 5)
  }
}
