import Foundation
import Testing
import TrellisTestSupport

/// The pictures in `Docs/Images` are those of the models that the pages speak of.
///
/// `TRELLIS_RECORD=1 swift test --filter PictureTests` draws them anew; a test that recorded something fails.
@Suite("The pictures of the pages") struct PictureTests {
  /// Where the model of a picture is.
  enum Source {
    case file(String)
    /// The first JSON block of a page.
    case page(String)
  }

  static let pictures: [(name: String, source: Source)] = [
    ("Diary", .file("Models/Diary/Diary.model.json")),
    ("ModelFile", .page("Docs/ModelFile.md")),
    ("InnerInterview", .file("Models/InnerInterview/InnerInterview.model.json")),
    ("ReceiptMind", .file("Models/ReceiptMind/ReceiptMind.model.json")),
    ("Library", .file("Tests/TrellisToolTests/Guide/12/Library.model.json")),
  ]

  @Test("are drawn from the models as they are", arguments: pictures.indices)
  func current(_ number: Int) throws {
    let (name, source) = Self.pictures[number]
    let folder = try ToolFolder()
    try folder.write(try model(source), to: "M.model.json")
    #expect(try folder.run("diagram", "M.model.json", "--output", "M.svg") == .init(status: 0))
    let drawn = try folder.text(of: "M.svg")
    let file = ToolFolder.root.appending(path: "Docs/Images/\(name).svg")
    if TestSettings.number("TRELLIS_RECORD") == 1 {
      guard drawn != (try? String(contentsOf: file, encoding: .utf8)) else { return }
      try drawn.write(to: file, atomically: true, encoding: .utf8)
      Issue.record("recorded anew: look at it and run again without TRELLIS_RECORD")
    } else {
      let recorded = try String(contentsOf: file, encoding: .utf8)
      #expect(drawn.split(separator: "\n") == recorded.split(separator: "\n"), "differs from Docs/Images/\(name).svg")
    }
  }

  @Test("are all used by a page, and every page that uses one finds it")
  func used() throws {
    let docs = ToolFolder.root.appending(path: "Docs")
    let pages =
      try FileManager.default.contentsOfDirectory(at: docs, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "md" } + [ToolFolder.root.appending(path: "README.md")]
    var used: Set<String> = []
    for page in pages {
      let text = try String(contentsOf: page, encoding: .utf8)
      for part in text.components(separatedBy: "Images/").dropFirst() {
        used.insert(String(part.prefix { $0 != ")" && $0 != "\"" && $0 != "`" }))
      }
    }
    #expect(used == Set(Self.pictures.map { "\($0.name).svg" }))
  }

  private func model(_ source: Source) throws -> [UInt8] {
    switch source {
    case .file(let path): return [UInt8](try Data(contentsOf: ToolFolder.root.appending(path: path)))
    case .page(let path):
      let text = try String(contentsOf: ToolFolder.root.appending(path: path), encoding: .utf8)
      let block = text.components(separatedBy: "```json\n").dropFirst().first ?? ""
      return Array(block.components(separatedBy: "\n```")[0].utf8)
    }
  }
}
