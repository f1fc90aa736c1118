import Foundation
import Testing
import TrellisModel
@testable import TrellisJSON
import TrellisStorage
import TrellisTestSupport

@Suite("When the file system fails, a document is as before or as after") struct FailureTests {
  private let folder: TestFolder
  private let model: Model
  private var path: String { folder.path("library.json") }

  init() throws {
    folder = try TestFolder()
    model = try Library.model()
    let store = try JSONStore(path: folder.path("library.json"), model: model)
    try store.insertGraph(model)
    store.close()
  }

  private func content() throws -> Data { try Data(contentsOf: URL(filePath: path)) }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }

  @Test("each step of a save may fail, once or for ever", arguments: [false, true], Durability.allCases)
  func saving(_ isForEver: Bool, _ durability: Durability) throws {
    let before = try content()
    var step = 1
    while true {
      try before.write(to: URL(filePath: path))
      let files = FailingFiles()
      let store = try JSONStore(
        path: path, model: model, options: DocumentOptions(durability: durability), files: files)
      let rows = try store.everything(model)
      files.fail(at: step, forEver: isForEver)
      let tag = try Record(model, "Tag", 90, ["label": .text("new")])
      let error = failure { try store.insert([tag]) }
      let tried = files.tried
      files.fail(at: nil, forEver: false)
      let isAfter = try content() != before
      // A step whose failure harms nothing, such as removing what is not there, fails no save.
      if let error {
        #expect(!isAfter || durability == .durable, "step \(step): \(error)")
        if isAfter {
          // The folder could not be brought to the disk: nobody knows, so nothing goes on.
          #expect(failure { _ = try store.everything(model) }?.remedy.contains("Open the store again") == true)
          #expect(failure { try store.insert([tag]) } != nil)
        } else {
          #expect(try store.everything(model) == rows)
          try store.insert([tag])
        }
      } else {
        #expect(isAfter)
      }
      store.close()
      #expect(try names() == ["library.json"], "step \(step)")
      let again = try JSONStore(path: path, model: model).rows(model, "Tag")
      #expect(again.count == 2, "step \(step)")
      if tried < step { break }
      step += 1
    }
    #expect(step > 8)
  }

  @Test("each step of opening may fail, once or for ever, and the document is as it was", arguments: [false, true])
  func opening(_ isForEver: Bool) throws {
    let before = try content()
    for step in 1... {
      let files = FailingFiles()
      files.fail(at: step, forEver: isForEver)
      let error = failure { try JSONStore(path: path, model: model, files: files).close() }
      #expect(error == nil || error?.code == .cannotOpen)
      #expect(try content() == before)
      if files.tried < step { break }
    }
    #expect(try JSONStore(path: path, model: model).rows(model, "Tag").count == 1)
  }

  @Test("each step of making a new document may fail, and nothing or a new document is left", arguments: [false, true])
  func making(_ isForEver: Bool) throws {
    for step in 1... {
      let new = folder.path("new\(step).json")
      let files = FailingFiles()
      files.fail(at: step, forEver: isForEver)
      _ = failure { try JSONStore(path: new, model: model, files: files).close() }
      #expect(try JSONStore(path: new, model: model).rows(model, "Tag").isEmpty)
      if files.tried < step { break }
    }
  }

  @Test("each step of a copy may fail, and no half of it is left", arguments: [false, true], [false, true])
  func copying(_ isForEver: Bool, _ isReplacing: Bool) throws {
    let files = FailingFiles()
    let store = try JSONStore(path: path, model: model, files: files)
    let copy = folder.path("copy.json")
    var step = 1
    while true {
      try? FileManager.default.removeItem(atPath: copy)
      if isReplacing { try Data("old".utf8).write(to: URL(filePath: copy)) }
      files.fail(at: step, forEver: isForEver)
      let error = failure { try store.backUp(to: copy, replacing: isReplacing) }
      let tried = files.tried
      files.fail(at: nil, forEver: false)
      let found = try? Data(contentsOf: URL(filePath: copy))
      // All of the copy, or what was there before.
      if found != (isReplacing ? Data("old".utf8) : nil) {
        #expect(try content() == found, "step \(step)")
      } else {
        #expect(error != nil, "step \(step)")
      }
      if tried < step { break }
      step += 1
    }
    store.close()
    #expect(step > 8)
  }

  @Test("what a crash has left beside the document goes at the next opening")
  func stale() throws {
    try Data("{".utf8).write(to: URL(filePath: folder.path(".library.json.new")))
    try Data().write(to: URL(filePath: folder.path(".library.json.lock")))
    let store = try JSONStore(path: path, model: model)
    #expect(try store.rows(model, "Tag").count == 1)
    #expect(try names() == [".library.json.lock", "library.json"])
    store.close()
    #expect(try names() == ["library.json"])
  }

  private func failure(_ body: () throws -> Void) -> StoreError? {
    do {
      try body()
      return nil
    } catch let error as StoreError {
      return error
    } catch {
      Issue.record("\(error)")
      return nil
    }
  }
}
