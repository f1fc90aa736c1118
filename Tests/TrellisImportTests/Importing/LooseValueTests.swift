import Foundation
import Testing
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisRuntime
import TrellisTestSupport

/// Values as services write them that have no types.
@Suite("Values that stand for others") struct LooseValueTests {
  private static let model = """
    { "model": "M", "enums": { "Mood": { "type": "string", "cases": ["happy", "sad"] } },
      "entities": { "User": { "json": { "key": "id" }, "unique": ["id"],
        "attributes": {
          "id": "int64",
          "names": { "type": "[string]", "default": [] }, "counts": { "type": "[int32]?" }, "flags": "[bool]?",
          "tags": { "type": "[string]", "default": [], "json": { "path": "tags[*]", "empty": "null" } },
          "active": { "type": "bool?", "json": { "take": "bool", "empty": "null" } },
          "open": { "type": "bool", "default": true, "json": { "take": ["trimmed", "lowercase", "bool"] } },
          "strict": "bool?",
          "site": { "type": "string?", "json": { "empty": "null" } },
          "note": { "type": "string?", "json": { "take": "trimmed", "empty": "null" } },
          "kept": { "type": "string?", "json": { "empty": "null", "null": "keep" } },
          "born": { "type": "date?", "json": { "date": "yyyy-MM-dd", "empty": "null" } },
          "size": { "type": "int32?", "json": { "take": "number", "empty": "null" } },
          "weight": { "type": "double?", "json": { "empty": "null" } },
          "mood": { "type": "Mood?", "json": { "empty": "null" } },
          "plain": "string?" },
        "relationships": {
          "boss": { "destination": "User", "inverse": "staff", "optional": true, "json": { "empty": "null" } },
          "staff": { "destination": "User", "inverse": "boss", "toMany": true, "json": { "empty": "null" } } } } } }
    """

  private func user(
    _ members: String, before: String = "", _ given: DynamicShelf? = nil
  ) throws -> (JSONImportReport, DynamicObject?) {
    let shelf = try given ?? DynamicShelf(Self.model)
    if !before.isEmpty { try shelf.take("{\"id\": 1, \(before)}") }
    let report = try shelf.take("{\"id\": 1, \(members)}")
    return (report, try shelf.context.objects("User", where: "id == 1").first)
  }

  @Test(
    "a null in a plain list is no element",
    arguments: [
      (#""names": ["a", null, "b"]"#, "names", #"["a","b"]"#), (#""names": [null]"#, "names", "[]"),
      (#""names": [ null , null,"null" ]"#, "names", #"["null"]"#), (#""counts": [1, null, 2.0]"#, "counts", nil),
      (#""counts": [null, 1, 2]"#, "counts", "[1,2]"), (#""flags": [true,null]"#, "flags", "[true]"),
    ] as [(String, String, String?)])
  func nulls(_ members: String, _ name: String, _ wanted: String?) throws {
    let (report, user) = try user(members)
    if let wanted {
      #expect(report.rejected.isEmpty)
      #expect(try user?.value(name) == .text(wanted))
    } else {
      #expect(report.rejected.isEmpty == (user != nil))
    }
  }

  @Test(
    "a null in a list does not make other elements right",
    arguments: [
      #""names": ["a", null, 1]"#, #""counts": [null, "1"]"#, #""names": [null, [null]]"#, #""names": {"a": null}"#,
    ])
  func wrongElements(_ members: String) throws {
    #expect(try user(members).0.rejected.map(\.code) == [.badValue])
  }

  @Test(
    "truth values are read from numbers and texts where the mapping says so",
    arguments: [
      ("1", 1), ("0", 0), ("true", 1), (#""true""#, 1), (#""false""#, 0), (#""1""#, 1), (#""0""#, 0), ("1.0", 1),
      ("2", nil),
      (#""yes""#, nil), ("[]", nil), ("-1", nil), (#""TRUE""#, nil),
    ] as [(String, Int64?)])
  func truth(_ text: String, _ wanted: Int64?) throws {
    let (report, user) = try user("\"active\": \(text)")
    #expect(report.rejected.isEmpty == (wanted != nil))
    if let wanted { #expect(try user?.value("active") == .integer(wanted)) }
    #expect(try self.user(#""open": " False ""#).1?.value("open") == .integer(0))
    #expect(try self.user(#""strict": 1"#).0.rejected.map(\.code) == [.badValue])
  }

  @Test("an empty text is null where the mapping says so")
  func empty() throws {
    let names = ["active", "site", "note", "born", "size", "weight", "mood"]
    let texts = names.map { "\"\($0)\": \"\($0 == "note" ? " \\n" : "")\"" }.joined(separator: ",")
    let full =
      #""active": 1, "site": "s", "note": "n", "born": "2026-01-31", "size": "3", "weight": 4, "mood": "sad", "kept": "k""#
    let (report, user) = try user(texts + #", "kept": "", "plain": "", "tags": ["", "a", "", null]"#, before: full)
    #expect(report.rejected.isEmpty, "\(report.rejected)")
    for name in names { #expect(try user?.value(name) == .null, "\(name)") }
    #expect(try user?.value("kept") == .text("k"))
    #expect(try user?.value("plain") == .text(""))
    #expect(try user?.value("tags") == .text(#"["a"]"#))
    let shelf = try DynamicShelf(Self.model)
    let (linked, boss) = try self.user(
      #""boss": "", "staff": ["", 3]"#, before: #""boss": {"id": 2, "staff": [{"id": 3}]}"#, shelf)
    #expect(linked.rejected.isEmpty && linked.unresolved.isEmpty)
    #expect(try boss?.partner("boss") == nil)
    #expect(try boss?.members("staff").map { try $0.value("id") } == [.integer(3)])
  }

  @Test("what was read so is written so that it is read again")
  func roundTrip() throws {
    let shelf = try DynamicShelf(Self.model)
    try shelf.take(#"{"id": 1, "active": "1", "open": "FALSE", "site": "", "size": "3", "names": ["a", null]}"#)
    let data = try shelf.context.exportJSON(shelf.context.objects("User"))
    #expect(String(decoding: data, as: UTF8.self).contains(#""active":true,"open":false"#))
    #expect(try shelf.take(String(decoding: data, as: UTF8.self)).counts == [0, 0, 1, 0, 0, 0])
  }

  @Test("updated is what differs at the end, not what was changed on the way")
  func updated() throws {
    let shelf = try DynamicShelf(Self.model)
    try shelf.take(#"[{"id": 1, "site": "a", "staff": [{"id": 2}, {"id": 3}]}]"#)
    let same = try shelf.take(
      #"[{"id": 1, "site": "b", "staff": []}, {"id": 1, "site": "a", "staff": [2, 3]}, {"id": 2, "site": null}]"#)
    #expect(same.counts == [0, 0, 2, 0, 0, 0], "\(same.updated.map(\.key)) \(same.unchanged.map(\.key))")
    #expect(try shelf.take(#"[{"id": 1, "site": "b"}, {"id": 1, "note": "x"}]"#).counts == [0, 1, 0, 0, 0, 0])
    // An object that several batches have is listed once.
    let filler = (1000..<3100).map { "{\"id\": \($0)}" }
    let all =
      [#"{"id": 9, "boss": 8}"#, #"{"id": 1, "site": "c"}"#] + filler + [#"{"id": 8}"#, #"{"id": 1, "site": "d"}"#]
    #expect(try shelf.take(all.joined(separator: "\n"), lines: true).counts == [filler.count + 2, 1, 0, 0, 0, 0])
  }
}
