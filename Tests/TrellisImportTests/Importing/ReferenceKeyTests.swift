import Foundation
import Testing
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisRuntime

@Suite("Keys with references") struct ReferenceKeyTests {
  private let context: ManagedObjectContext

  init() throws {
    let reference = PropertyJSON("tag.url", take: [.lastPathComponent, .number], reference: "number")
    let model = ModelDescription(
      name: "Links",
      entities: [
        EntityDescription(
          "Tag", attributes: [AttributeDescription("number", .int64)],
          relationships: [
            RelationshipDescription(
              "notes", to: "Note", inverse: "tag", deleteRule: .cascade, toMany: true, json: PropertyJSON())
          ], uniqueKeys: [["number"]], json: EntityJSON(key: ["number"])),
        EntityDescription(
          "Note", attributes: [AttributeDescription("text", .string)],
          relationships: [
            RelationshipDescription("tag", to: "Tag", inverse: "notes", json: reference)
          ], uniqueKeys: [["tag"]], json: EntityJSON(key: ["tag"])),
        EntityDescription(
          "Page", attributes: [AttributeDescription("title", .string)],
          relationships: [
            RelationshipDescription("notes", to: "Note", toMany: true, json: PropertyJSON()),
            RelationshipDescription("tags", to: "Tag", toMany: true, json: PropertyJSON()),
          ], uniqueKeys: [["title"]], json: EntityJSON(key: ["title"])),
      ])
    context = try PersistentContainer(model: ObjectModel(dynamic: model), store: .memory, log: nil).newContext()
  }

  private func take(_ entity: Int, _ text: String) throws -> JSONImportReport {
    try context.importJSON(entity: entity, from: Data(text.utf8))
  }

  private func count(_ entity: String) throws -> Int { try context.objects(entity).count }

  @Test("an object of the store may be part of a key")
  func stored() throws {
    _ = try take(0, #"[{"number": 1}, {"number": 2}]"#)
    let notes = #"[{"text": "a", "tag": {"url": "/tags/1/"}}, {"text": "b", "tag": {"url": "/tags/2/"}}]"#
    let first = try take(1, notes)
    #expect(first.inserted.count == 2 && first.rejected.isEmpty)
    let again = try take(1, notes)
    #expect(again.unchanged.count == 2 && again.inserted.isEmpty && again.rejected.isEmpty)
    let changed = try take(1, #"{"text": "c", "tag": {"url": "/tags/2/"}}"#)
    #expect(changed.updated.count == 1)
    #expect(try count("Note") == 2)
  }

  @Test("an object that comes later may be part of a key")
  func later() throws {
    let filler = (0..<3_000).map { #"{"title": "\#($0)"}"# }.joined(separator: ",")
    let report = try take(
      2,
      """
      [{"title": "a", "notes": [{"text": "n", "tag": {"url": "/tags/7/"}}, {"text": "m", "tag": {"url": "/tags/7/"}}]},
       \(filler), {"title": "z", "tags": [{"number": 7}]}]
      """)
    #expect(report.rejected.isEmpty && report.unresolved.isEmpty)
    #expect(report.inserted.count == 3_004)
    let note = try #require(try context.objects("Note").first)
    #expect("\(note["text"] as Any)".contains("m"))
    #expect(try count("Note") == 1)
  }

  @Test("an object that never comes is told by name")
  func never() throws {
    let report = try take(2, #"{"title": "a", "notes": [{"text": "n", "tag": {"url": "/tags/7/"}}]}"#)
    #expect(
      report.rejected.map(\.description) == [
        "1:55 /notes/0/tag/url: Note.tag: leads to no object of the input or the store [missing-partner]"
      ])
    #expect(report.inserted.count == 1)
    #expect(try count("Note") == 0)
  }
}
