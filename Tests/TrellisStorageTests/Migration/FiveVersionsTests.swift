import Foundation
import Testing
import TrellisJSON
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

@testable import TrellisStorage

/// The models of `Docs/Migration.md`, in their order.
@Suite("An app through five versions") struct FiveVersionsTests {
  private let home: TestFolder
  private let models: [Model]

  init() throws {
    home = try TestFolder()
    models = try GuideText("Migration.md").blocks("json").map { text in
      let result = ModelFile.parse(Array(text.utf8), path: "Migration.md")
      return try Model(try #require(result.description, "\(result.rendered())"))
    }
  }

  private func configuration(_ url: URL, _ isDocument: Bool) -> StoreConfiguration {
    isDocument ? .json(at: url) : .sqlite(at: url)
  }

  private func fill(_ store: any Store) throws {
    let entry = models[0].entities[0]
    _ = try store.reserveKeys(10)
    let request = SaveRequest()
    let rows: [[String: StoredValue]] = [
      ["title": .text("One"), "text": .text("a"), "stars": .real(3), "mood": .text("glad")],
      ["title": .text("Two"), "text": .text("b"), "stars": .real(2.5), "mood": .text("sad")],
      ["title": .text("Three"), "text": .text("c"), "stars": .real(0)],
    ]
    request.inserts = [
      .init(entity: 0, records: rows.enumerated().map { TestRecord(entry, key: Int64($0 + 1), $1) })
    ]
    try store.connect().save(request)
  }

  private func notes(_ store: any Store) throws -> [[String: StoredValue]] {
    let note = try #require(models[4].entity(named: "Note"))
    var rows: [[String: StoredValue]] = []
    try store.connect().fetch(StoreRequest(entity: note.index)) { row in
      var values: [String: StoredValue] = ["_key": .integer(row.key)]
      for (number, column) in note.columns.enumerated() { values[column.name] = row.value(number, column.storageClass) }
      rows.append(values)
    }
    return rows
  }

  @Test("each version follows the one before, and a jump over all of them ends the same", arguments: [false, true])
  func allWays(isDocument: Bool) throws {
    #expect(models.count == 5)
    let (step, jump) = (home.file("step"), home.file("jump"))
    for url in [step, jump] {
      let store = try configuration(url, isDocument).open(models[0])
      try fill(store)
      store.close()
    }
    for model in models { try configuration(step, isDocument).open(model).close() }
    let plan = try #require(try configuration(jump, isDocument).plan(models[4]))
    let page = try GuideText("Migration.md").blocks("text")
    #expect(page == [String(plan.description.dropLast())])
    let (first, second) = (
      try configuration(step, isDocument).open(models[4]), try configuration(jump, isDocument).open(models[4])
    )
    defer {
      first.close()
      second.close()
    }
    #expect(try notes(first) == notes(second))
    #expect(try notes(second).map { $0["caption"] } == [.text("One"), .text("Two"), .text("Three")])
    #expect(try notes(second).map { $0["Note.stars"] } == [.integer(3), .integer(0), .integer(0)])
    #expect(try notes(second).map { $0["Note.summary"] } == ["a", "b", "c"].map { .text("About: \($0)") })
    for url in [step, jump] { #expect(try configuration(url, isDocument).plan(models[4]) == nil) }
    #expect(FileManager.default.fileExists(atPath: jump.path + ".before-\(models[0].checksum)"))
  }

  @Test("a store of a version does not open with an older one", arguments: [false, true])
  func downgrade(isDocument: Bool) throws {
    let url = home.file("new")
    for model in models { try configuration(url, isDocument).open(model).close() }
    let before = try Data(contentsOf: url)
    for model in models.dropLast() {
      let error = #expect(throws: StoreError.self) { try configuration(url, isDocument).open(model) }
      #expect(error?.code == .newerModel)
    }
    #expect(try Data(contentsOf: url) == before)
  }
}
