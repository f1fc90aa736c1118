import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisTestSupport

@Suite("A stored value that no case of an enum has") struct UnknownCaseTests {
  @Test("is refused with what to write into the model, and no word of a backup")
  func remedy() throws {
    let folder = try TestFolder()
    let file = folder.file("store")
    do {
      let container = try PersistentContainer(model: .requests, store: .json(at: file))
      let context = container.newContext()
      _ = Item(in: context, name: "a", status: .closed)
      try context.save()
      container.close()
    }
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text.contains("\"closed\""))
    try text.replacingOccurrences(of: "\"closed\"", with: "\"newer\"").write(
      to: file, atomically: true, encoding: .utf8)
    let context = try PersistentContainer(model: .requests, store: .json(at: file)).newContext()
    let errors = [
      #expect(throws: StoreError.self) { try context.fetch(Item.all) },
      #expect(throws: StoreError.self) { try context.values(of: Item.all) { $0.status } },
    ]
    for error in errors {
      #expect(error?.code == .unreadableValue)
      #expect(error?.remedy.contains(#""unknown": "preserve""#) == true, "\(String(describing: error))")
      #expect(error?.description.contains("backup") == false)
    }
  }
}
