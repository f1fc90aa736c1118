import Foundation
import Testing
import TrellisModelFile
import TrellisTestSupport

/// Each folder under `Cases` holds a broken model or history, what is said about it, and the repaired model.
///
/// `TRELLIS_RECORD=1 swift test --filter CaseTests` writes what is said anew; a test that recorded something fails, so
/// that nobody records without looking.
@Suite("Broken models") struct CaseTests {
  static func names() throws -> [String] { try Folders.names(in: Folders.cases) }
  static let isRecording = ProcessInfo.processInfo.environment["TRELLIS_RECORD"] == "1"

  @Test("says what is wrong, where, and the way out", arguments: try names())
  func broken(_ name: String) throws {
    let folder = Folders.cases.appending(path: name)
    let text = try Self.messages(in: folder)
    let expectedFile = folder.appending(path: "expected.txt")
    let expected = (try? Folders.bytes(expectedFile)).map { String(decoding: $0, as: UTF8.self) }
    #expect(!text.isEmpty)
    guard text != expected else { return }
    if Self.isRecording {
      try Data(text.utf8).write(to: expectedFile)
      Issue.record("recorded anew: look at it and run again without TRELLIS_RECORD")
    } else {
      #expect(text == expected, "differs from Cases/\(name)/expected.txt")
    }
  }

  private static func messages(in folder: URL) throws -> String {
    let history = folder.appending(path: "broken.history")
    guard let names = try? Folders.names(in: history) else {
      let bytes = try Folders.bytes(folder.appending(path: "broken.model.json"))
      return ModelFile.parse(bytes, path: "broken.model.json").rendered()
    }
    let files = try names.map { name in
      ModelHistory.File(path: "broken.history/\(name)", bytes: try Folders.bytes(history.appending(path: name)))
    }
    let versions = ModelHistory(files)
    let model = folder.appending(path: "broken.model.json")
    let file = ModelHistory.File(path: "broken.model.json", bytes: try? Folders.bytes(model))
    let result = file.bytes.map { ModelFile.parse($0, path: file.path) }
    let returned = result?.description.flatMap { versions.returnError(of: $0, in: file) }
    return (result?.rendered() ?? "")
      + (versions.diagnostics + [returned].compactMap(\.self)).map { $0.rendered() + "\n" }.joined()
  }

  @Test("the repaired model passes without a word", arguments: try names())
  func repaired(_ name: String) throws {
    let file = Folders.cases.appending(path: name).appending(path: "repaired.model.json")
    guard let bytes = try? Folders.bytes(file) else { return }
    let result = ModelFile.parse(bytes, path: "repaired.model.json")
    #expect(result.rendered() == "")
    #expect(result.description != nil)
  }

  @Test("each code has a case, but for those that take too large a file")
  func everyCodeHasACase() throws {
    let names = try Self.names()
    let large = ["file-too-large", "too-deep", "too-many", "parent-chain-too-long", "name-too-long", "bad-utf8"]
    let missing = DiagnosticCode.allCases.map(\.rawValue).filter { !names.contains($0) && !large.contains($0) }
    #expect(missing == [])
  }

  @Test("the cases are found in a folder whose path has a space and a letter beyond ASCII; none at all is an error")
  func folders() throws {
    let home = try TestFolder()
    let folder = home.file("Trellis prüfung")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    #expect(throws: NoArguments.self) { try Folders.names(in: folder) }
    try Data().write(to: folder.appending(path: "ein Fall"))
    #expect(try Folders.names(in: folder) == ["ein Fall"])
    #expect(throws: (any Error).self) { try Folders.names(in: home.file("elsewhere")) }
  }
}
