import Foundation
import Testing
import TrellisDynamic
import TrellisJSON
import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisTestSupport

@Suite("Exports of objects that refer to each other") struct ConnectedExportTests {
  private static let model = """
    { "model": "M", "entities": {
      "User": { "json": { "key": "id" }, "attributes": { "id": "int64", "name": "string?" }, "unique": ["id"],
        "relationships": {
          "friends": { "destination": "User", "toMany": true, "inverse": "friends", "json": true },
          "boss": { "destination": "User", "inverse": "staff", "optional": true, "json": true },
          "staff": { "destination": "User", "inverse": "boss", "toMany": true, "json": true },
          "clubs": { "destination": "Club", "inverse": "members", "toMany": true, "ordered": true, "json": true },
          "notes": { "destination": "Note", "inverse": "user", "toMany": true, "ordered": true, "deleteRule": "cascade",
            "json": true },
          "jobs": { "destination": "Job", "inverse": "user", "toMany": true, "deleteRule": "cascade", "json": true } } },
      "Club": { "json": { "key": "name" }, "attributes": { "name": "string" }, "unique": ["name"], "relationships": {
        "members": { "destination": "User", "inverse": "clubs", "toMany": true, "json": true } } },
      "Note": { "json": true, "attributes": { "text": "string" }, "relationships": {
        "user": { "destination": "User", "inverse": "notes" } } },
      "Job": { "json": { "key": ["user", "title"] }, "attributes": { "title": "string", "pay": "int32?" },
        "unique": [["user", "title"]], "relationships": {
          "user": { "destination": "User", "inverse": "jobs" },
          "mates": { "destination": "User", "inverse": "mateOf", "toMany": true, "json": true } } } } }
    """.replacingOccurrences(
      of: #""jobs":"#, with: #""mateOf": { "destination": "Job", "inverse": "mates", "toMany": true }, "jobs":"#)

  private static let names = ["id", "name", "friends.id", "boss.id", "staff.id", "clubs.name", "notes.text"]

  private func picture(_ shelf: DynamicShelf) throws -> [[String]] {
    [
      try shelf.list("User", Self.names), try shelf.list("Club", ["name"]),
      try shelf.list("Note", ["text", "user.id"]),
      try shelf.list("Job", ["user.id", "title", "pay"]),
    ]
  }

  private func export(_ shelf: DynamicShelf, lines: Bool = false) throws -> Data {
    try shelf.context.exportJSON(
      shelf.context.objects("User").sorted { $0._key < $1._key }, layout: lines ? .lines : .document)
  }

  @Test("cost time in proportion to their number, and give the same graph", arguments: [false, true])
  func mutual(_ lines: Bool) throws {
    for count in [2, 8, 20, 60] {
      let shelf = try DynamicShelf(Self.model)
      try shelf.take(
        "["
          + (0..<count).map { number in
            let friends = (0..<count).filter { $0 != number }.map(String.init).joined(separator: ",")
            return """
              {"id": \(number), "name": "n\(number)", "friends": [\(friends)], "clubs": [{"name": "a"}, {"name": "b\(number % 3)"}],
               "boss": \(number > 0 ? "\((number - 1) / 3)" : "null"), "notes": [{"text": "x\(number)"}, {"text": "y\(number)"}],
               "jobs": [{"title": "t", "pay": \(number), "mates": [0, \(count - 1)]}, {"title": "u", "mates": []}]}
              """
          }.joined(separator: ",") + "]")
      let start = ContinuousClock.now
      let data = try export(shelf, lines: lines)
      let time = ContinuousClock.now - start
      #expect(data.count < 600 * count + 20 * count * count, "\(count): \(data.count) bytes")
      #expect(count > 20 || time < .seconds(1), "\(count): \(time)")
      let other = try DynamicShelf(Self.model)
      for target in [other, shelf] {
        let report = try target.context.importJSON(entity: 0, from: data, layout: lines ? .lines : .document)
        #expect(report.rejected.isEmpty && report.unresolved.isEmpty, "\(report.rejected)")
        #expect(target.container === other.container || report.inserted.isEmpty && report.updated.isEmpty)
      }
      #expect(try picture(other) == picture(shelf))
      #expect(try export(shelf, lines: lines) == data)
    }
  }

  @Test("an object that the document has is a key afterwards, and is nested as few levels deep as possible")
  func text() throws {
    let model = """
      { "model": "M", "entities": { "User": { "json": { "key": "id" }, "attributes": { "id": "int64" }, "unique": ["id"],
        "relationships": { "friends": { "destination": "User", "toMany": true, "inverse": "friends", "json": true } } } } }
      """
    let shelf = try DynamicShelf(model)
    try shelf.take(#"[{"id": 1, "friends": [2, 3]}, {"id": 2, "friends": [1, 3]}, {"id": 3, "friends": [1, 2]}]"#)
    let text = String(decoding: try export(shelf, lines: true), as: UTF8.self)
    #expect(
      text == """
        {"id":1,"friends":[{"id":2,"friends":[1,3]},{"id":3,"friends":[1,2]}]}
        {"id":2,"friends":[1,3]}
        {"id":3,"friends":[1,2]}

        """)
  }
}
