import Foundation
import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("A history whose model has its attributes in another order") struct ReorderedAttributesTests {
  private func model(_ names: [String], indexed: Bool) throws -> Model {
    try Model(
      ModelDescription(
        name: "Notes",
        entities: [
          EntityDescription(
            "Note", attributes: names.map { AttributeDescription($0, .string) },
            indexes: indexed ? [IndexDescription([.init("title")])] : [])
        ], history: .values))
  }

  @Test("has all of its parts") func parts() throws {
    let folder = try TestFolder()
    let configuration = StoreConfiguration.sqlite(at: folder.file("store.db"))
    do { _ = try configuration.open(try model(["title", "text"], indexed: true)) }
    let store = try configuration.open(try model(["text", "title"], indexed: false))
    var findings: [String] = []
    try store.connect().check { findings.append("\($0)") }
    #expect(findings.isEmpty)
  }
}
