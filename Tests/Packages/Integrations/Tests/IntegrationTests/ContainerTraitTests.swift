import Foundation
import Notes
import Synchronization
import Testing
import Trellis
import TrellisTesting

@Suite("A container for each test", .container(.notes) { try Fixture("Notes.json").insert(into: $0) })
struct ContainerTraitTests {
  @Test("each case begins with what the fixture has", arguments: 1...5)
  func alone(_ number: Int) throws {
    let context = try PersistentContainer.current.newContext()
    #expect(try context.count(Note.all) == 2)
    for _ in 0..<number { _ = Note(in: context, text: "one more") }
    try context.save()
    #expect(try context.count(Note.all) == 2 + number)
  }

  @Test("a test may have a store of its own kind, without the objects of the suite", .container(.notes, .sqlite))
  func own() async throws {
    let container = try PersistentContainer.current
    #expect("\(container)".hasSuffix("test.sqlite"))
    try await container.perform { context in
      _ = Note(in: context, text: "written")
      try context.save()
    }
    #expect(try container.newContext().count(Note.all) == 1)
  }
}

@Suite("The end of a container") struct ContainerEndTests {
  static let folders = Mutex<[URL]>([])

  @Test("the folder is removed and the container closed, also if the test throws")
  func end() async throws {
    struct Stop: Error {}
    let trait = ContainerTrait(model: .notes, place: .sqlite, prepare: nil)
    let seen = Mutex<(container: PersistentContainer?, file: String)>((nil, ""))
    await #expect(throws: Stop.self) {
      try await trait.provideScope(for: #require(Test.current), testCase: nil) {
        let container = try PersistentContainer.current
        let file = String("\(container)".split(separator: " in ", maxSplits: 1)[1])
        #expect(FileManager.default.fileExists(atPath: file))
        seen.withLock { $0 = (container, file) }
        throw Stop()
      }
    }
    let (container, file) = seen.withLock { $0 }
    #expect(!FileManager.default.fileExists(atPath: file) && !file.isEmpty)
    let context = try #require(container).newContext()
    let error = #expect(throws: StoreError.self) { try context.count(Note.all) }
    #expect(error?.code == .closed)
    #expect(throws: PersistentContainer.NoContainer.self) { try PersistentContainer.current }
  }
}
