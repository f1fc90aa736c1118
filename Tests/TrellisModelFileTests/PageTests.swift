import Foundation
import Testing
import TrellisModelFile

@Suite("Pages") struct PageTests {
  private static func page(_ name: String) throws -> String {
    String(decoding: try Folders.bytes(Folders.root.appending(path: "Docs").appending(path: name)), as: UTF8.self)
  }

  @Test("each code has a section, and each section a code")
  func errorPage() throws {
    let sections = try Self.page("ModelErrors.md").split(separator: "\n").filter { $0.hasPrefix("## ") }.map {
      String($0.dropFirst(3))
    }
    #expect(Set(sections) == Set(DiagnosticCode.allCases.map(\.rawValue)))
    #expect(sections.count == DiagnosticCode.allCases.count)
  }

  @Test("the messages on the page are those that are written")
  func messages() throws {
    let page = try Self.page("ModelErrors.md")
    for name in try Folders.names(in: Folders.cases) where DiagnosticCode(rawValue: name) != nil {
      let expected = try Folders.bytes(Folders.cases.appending(path: name).appending(path: "expected.txt"))
      let first = String(decoding: expected, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? "?"
      #expect(page.contains(first), "Docs/ModelErrors.md, section \(name)")
    }
  }

  @Test("the grammar page names each key of the JSON Schema")
  func grammarPage() throws {
    let page = try Self.page("ModelFile.md")
    let schema = try JSONSerialization.jsonObject(
      with: Data(Folders.bytes(Folders.root.appending(path: "Models/model.schema.json"))))
    let root = try #require(schema as? [String: Any])
    let definitions = try #require(root["definitions"] as? [String: [String: Any]])
    let objects = [root] + Array(definitions.values)
    let keys = Set(objects.flatMap { ($0["properties"] as? [String: Any])?.keys.map { $0 } ?? [] }).subtracting([
      "name", "value",
    ])
    for key in keys.sorted() { #expect(page.contains("`\(key)`"), "Docs/ModelFile.md lacks \(key)") }
  }
}
