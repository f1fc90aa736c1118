import Foundation
import Testing
import TrellisCSV
import TrellisDynamic
import TrellisJSON
import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisTestSupport

@Suite("Tables of other programs") struct OtherTableTests {
  private static let model = """
    { "model": "M",
      "enums": { "Size": { "type": "string", "cases": [{ "name": "small", "value": "S" }, { "name": "large", "value": "L" }, "huge"] },
        "Level": { "type": "int", "cases": [{ "name": "low", "value": 1 }, { "name": "high", "value": 5 }] } },
      "entities": {
        "Item": { "json": { "key": "id" },
          "attributes": { "id": "int64", "note": "string?", "code": "string?",
            "inStock": { "type": "int32?", "min": 0 }, "size": "Size?", "level": "Level?" },
          "relationships": { "maker": { "destination": "Maker", "inverse": "items", "optional": true, "json": true },
            "parts": { "destination": "Maker", "toMany": true, "json": true, "maxCount": 1 } },
          "unique": ["id", "code"] },
        "Maker": { "json": { "key": "name" }, "attributes": { "name": "string" }, "unique": ["name"],
          "relationships": { "items": { "destination": "Item", "inverse": "maker", "toMany": true },
            "works": { "destination": "Work", "inverse": "maker", "toMany": true } } },
        "Work": { "json": { "key": "id" }, "attributes": { "id": "int64" }, "unique": ["id"],
          "relationships": { "maker": { "destination": "Maker", "inverse": "works", "json": true } } },
        "Line": { "json": true, "attributes": { "text": "string?", "number": "int32?" } },
        "Animal": { "abstract": true, "json": { "key": "id", "entity": "kind" }, "attributes": { "id": "int64" }, "unique": ["id"] },
        "Cat": { "parent": "Animal", "attributes": { "meow": "string?" } },
        "Dog": { "parent": "Animal", "attributes": { "bark": "string?" },
          "relationships": { "owner": { "destination": "Maker", "optional": true, "json": true } } } } }
    """

  private func shelf() throws -> DynamicShelf { try DynamicShelf(Self.model) }

  // MARK: Nil

  private static func format(_ null: String?, backslashes: Bool) -> CSVFormat {
    var format = CSVFormat()
    format.null = null
    format.hasBackslashes = backslashes
    return format
  }

  @Test("a text is the same after an export and an import, whatever stands for nil")
  func nullWords() throws {
    let words = [
      "\\N", "\\\\N", "\\", "\\\\", "N", "NULL", "\\NULL", "0", "", "\"", "\"\\N\"", "a\\b", "\\n", "\n", " \\N",
    ]
    for null in [nil, "\\N", "\\\\N", "NULL", "\\NULL", "N", "0", "a\\b", "\\n"] {
      for backslashes in [false, true] {
        let format = Self.format(null, backslashes: backslashes)
        let (source, target) = (try shelf(), try shelf())
        for (number, word) in (words + [nil]).enumerated() {
          _ = try source.context.insert(
            "Item", ["id": .integer(Int64(number)), "note": word.map { .text($0) } ?? .null])
        }
        try source.context.save()
        let text = try source.export("Item", format, columns: ["id", "note"])
        try target.table(text, "Item", format)
        let wanted = try source.list("Item", ["id", "note"])
        // The number of one object is the word for nil.
        let ids = null == "0" ? wanted.filter { !$0.hasPrefix("0 ") } : wanted
        #expect(try target.list("Item", ["id", "note"]).filter(ids.contains) == ids, "\(format) \(text)")
      }
    }
  }

  @Test("MySQL's rule: a cell \\N without quotes is nil, and \\\\N is the text", arguments: [nil, "\\N", "NULL"])
  func mySQL(_ null: String?) throws {
    let shelf = try shelf()
    try shelf.table("id,note\n1,\\N\n2,\\\\N\n3,\"\\\\N\"\n4,\n", "Item", Self.format(null, backslashes: true))
    #expect(try shelf.list("Item", ["id", "note"]) == ["1 -", "2 \\N", "3 \\N", "4 -"])
  }

  // MARK: Rows

  @Test("rows of separators are passed over and counted, whatever their number", arguments: [1, 7, 1 << 20])
  func emptyRows(_ pieces: Int) throws {
    let shelf = try shelf()
    let text = ",,\nid,note\n1,a\n,\n,,,,\r\n\n2,b\n,,,\n,"
    // The header comes first, so a row before it is no row without values.
    #expect(throws: JSONImportError.self) { try shelf.table(text, "Item") }
    for rejection in [JSONRejection.everything, .objects] {
      let report = try shelf.table(String(text.dropFirst(3)), "Item", rejecting: rejection, pieces: pieces)
      #expect(report.emptyRows == 4 && report.rejected.isEmpty, "\(report)")
      #expect(report.description.hasSuffix(", 4 empty rows"))
    }
    #expect(try shelf.list("Item", ["id", "note"]) == ["1 a", "2 b"])
    #expect(try shelf.table("id,note\n3,\n", "Item").description == "1 inserted, 0 updated, 0 unchanged")
  }

  @Test("a row of empty texts is a mistake, and without a key a row of separators is an object")
  func filledRows() throws {
    let shelf = try shelf()
    #expect(try shelf.failures("id,note\n1,a\n\"\",\"\"\n", "Item").count == 1)
    #expect(try shelf.table("text,number\n,\na,1\n", "Line").counts == [2, 0, 0, 0, 0, 0])
  }

  @Test("a cell for a property of another entity is a mistake, and an empty one is none")
  func otherEntities() throws {
    let shelf = try shelf()
    try shelf.table("name\nada\n", "Maker")
    let text = "id,kind,meow,bark,owner\n1,Cat,purr,,\n2,Dog,hiss,wuff,ada\n3,Cat,,,ada\n"
    let message = "must be empty, because an object of"
    #expect(
      try shelf.failures(text, "Animal") == [
        "books.csv:3:7 /meow: Dog: \(message) 'Dog' has no such property [bad-value]",
        "books.csv:4:9 /owner: Cat: \(message) 'Cat' has no such property [bad-value]",
      ])
    var format = CSVFormat()
    format.skipsUnknownColumns = true
    #expect(try shelf.table(text, "Animal", format).inserted.count == 3)
    #expect(try shelf.list("Dog", ["id", "bark", "owner.name"]) == ["2 wuff ada"])
    #expect(try shelf.table("id,kind,meow,bark\n1,Cat,purr,\n2,Dog,,wuff\n", "Animal").rejected.isEmpty)
  }

  // MARK: Messages

  @Test("a broken rule is told where the value stands, whether all is rejected or objects are")
  func brokenRules() throws {
    let texts = [
      ("id,inStock\n1,5\n2,-3\n", "books.csv:3:3 /inStock"), ("id,code\n1,a\n2,a\n", "books.csv:3:3 /code"),
      ("note,id,inStock\n\"a\nb\",1,-1\n", "books.csv:3:6 /inStock"),
      ("id,parts\n1,\"[\"\"x\"\",\"\"y\"\"]\"\n", "books.csv:2:3 /parts"),
    ]
    for (text, place) in texts {
      for pieces in [3, 1 << 20] {
        let shelf = try shelf()
        try shelf.table("name\nx\ny\n", "Maker")
        let left = try shelf.table(text, "Item", rejecting: .objects, pieces: pieces).rejected.map(\.description)
        #expect(left.count == 1 && left[0].hasPrefix(place + ": "), "\(left)")
        let other = try self.shelf()
        try other.table("name\nx\ny\n", "Maker")
        let error = #expect(throws: JSONImportError.self) {
          try other.table(text, "Item", rejecting: .everything, pieces: pieces)
        }
        // Of two objects with one value of a unique key, the save names both.
        #expect(error?.failures.last?.description.hasPrefix(place + ": ") == true, "\(error?.failures ?? [])")
      }
    }
  }

  @Test("a reference that leads to no object has its key besides the message, which has no value of the file")
  func missingPartners() throws {
    let shelf = try shelf()
    let report = try shelf.table("id,maker\n1,ada\n", "Item", rejecting: .objects)
    #expect(report.unresolved.map(\.key) == ["ada"])
    #expect(report.unresolved.allSatisfy { !$0.description.contains("ada") })
    let error = #expect(throws: JSONImportError.self) { try shelf.table("id,maker\n1,bob\n", "Work") }
    #expect(error?.failures.map(\.key) == ["bob"])
    let absent = #expect(throws: JSONImportError.self) { try shelf.table("id,maker\n1,\n", "Work") }
    #expect(absent?.failures.map(\.key) == [nil])
    #expect(
      try shelf.take(#"[{"id": 9, "maker": "eve"}]"#, "Item").unresolved.map(\.key) == ["eve"])
  }

  @Test("a value that is none of an enum's is told with those that a file has, and not with the names of the cases")
  func enums() throws {
    let shelf = try shelf()
    #expect(
      try shelf.failures("id,size,level\n1,large,high\n", "Item") == [
        "books.csv:2:3 /size: Item.size: must be a value of Size: S (small), L (large), huge [bad-value]",
        "books.csv:2:9 /level: Item.level: must be a value of Level: 1 (low), 5 (high) [bad-value]",
      ])
    let report = try shelf.take(#"[{"id": 1, "size": "small", "level": 2}]"#, "Item")
    #expect(
      report.rejected.map(\.message) == [
        "must be a value of Size: S (small), L (large), huge", "must be a value of Level: 1 (low), 5 (high)",
      ])
    try shelf.table("id,size,level\n1,L,5\n", "Item")
    #expect(try shelf.list("Item", ["size", "level"]) == ["L 5"])
  }
}
