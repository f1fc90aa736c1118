import Foundation
import Testing
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisModelFile
import TrellisRuntime

/// Documents of odd shapes, as `Tests/Import/compare.py` has found them.
@Suite("Imports of documents of odd shapes") struct DocumentShapeTests {
  static let model = """
    { "model": "Zoo", "entities": {
      "Animal": {
        "json": { "key": "number" },
        "attributes": {
          "number": "int64",
          "name": { "type": "string?", "json": "info.name" },
          "age": { "type": "int16?", "json": "info.age" },
          "legs": { "type": "int16?", "json": "parts[kind=leg].count" },
          "colors": { "type": "[string]", "default": [], "json": "colors[*].name" },
          "tags": { "type": "[string]", "default": [], "json": "tags[*].tag.name" },
          "marks": { "type": "[string]?", "json": "info.marks[*].name" },
          "bag": { "type": "[string]?", "json": "bag.*" },
          "first": { "type": "int16?", "json": "parts[0].count" },
          "nick": { "type": "string?", "json": { "path": "nick", "null": "keep" } }
        },
        "relationships": {
          "cubs": {
            "destination": "Cub", "inverse": "parent", "toMany": true, "ordered": true, "deleteRule": "cascade",
            "json": "cubs.*.data"
          },
          "friend": { "destination": "Animal", "inverse": "friends", "optional": true, "json": "near.friend" },
          "rivals": {
            "destination": "Animal", "inverse": "rivalsBack", "toMany": true, "json": { "path": "rivals", "members": "keep" }
          },
          "rivalsBack": { "destination": "Animal", "inverse": "rivals", "toMany": true },
          "friends": { "destination": "Animal", "inverse": "friend", "toMany": true }
        },
        "unique": ["number"]
      },
      "Cub": {
        "json": { "key": ["parent", "name"] },
        "attributes": { "name": { "type": "string", "json": "$key" }, "weight": "double?" },
        "relationships": { "parent": { "destination": "Animal", "inverse": "cubs" } },
        "unique": [["parent", "name"]]
      },
      "Keeper": {
        "json": { "key": "number", "entity": "kind" }, "abstract": true, "attributes": { "number": "int64" },
        "unique": ["number"]
      },
      "Vet": { "parent": "Keeper", "attributes": { "degree": "string?", "since": "int16?", "room": "string?" } },
      "Cook": { "parent": "Keeper", "attributes": {} } } }
    """

  private func container() throws -> PersistentContainer {
    let description = try #require(ModelFile.parse(Array(Self.model.utf8), path: "Zoo.model.json").description)
    return try PersistentContainer(model: ObjectModel(dynamic: description), store: .memory, log: nil)
  }

  /// Imports a document. The result is the context, and its object with the number 1.
  private func imported(_ text: String) throws -> (context: ManagedObjectContext, animal: DynamicObject) {
    let context = try container().newContext()
    let report = try context.importJSON(entity: 0, from: Data(text.utf8))
    #expect(report.rejected == [])
    return (context, try #require(try context.objects("Animal", where: "number == 1").first))
  }

  @Test("a key of entries reaches objects that lie deeper in them")
  func deepEntries() throws {
    let (context, animal) = try imported(#"{"number": 1, "cubs": {"a": {"data": {"weight": 1}}, "b": {"data": {}}}}"#)
    let names = try animal.members("cubs").map { try $0.value("name") }
    #expect(names == [.text("a"), .text("b")])
    #expect(!context.hasChanges)
  }

  @Test("a key that comes twice in one entry leaves the others")
  func entriesTwice() throws {
    let (context, animal) = try imported(
      #"{"number": 1, "cubs": {"a": {"data": {"weight": 1}}, "b": {"data": {"weight": "x"}, "data": {"weight": 2}}}}"#)
    let weights = try animal.members("cubs").map { try $0.value("weight") }
    #expect(weights == [.real(1), .real(2)])
    #expect(!context.hasChanges)
  }

  @Test("of a key of entries that comes twice the last value counts")
  func sameEntryTwice() throws {
    let (context, animal) = try imported(
      #"{"number": 1, "bag": {"x": "1", "y": "2", "x": "3"}, "cubs": {"a": {"data": {"weight": 1}}, "a": {"data": {}}}}"#
    )
    #expect(try animal.value("bag") == .text(#"["2","3"]"#))
    let weights = try animal.members("cubs").map { try $0.value("weight") }
    #expect(weights == [.null])
    #expect(!context.hasChanges)
  }

  @Test("a null on the way to elements leaves those before it")
  func nullInElement() throws {
    let lists =
      #""info": {"marks": [{"name": "a"}, {"name": null}, null]}, "tags": [{"tag": {"name": "b"}}, {"tag": null}]"#
    let (context, animal) = try imported(
      #"{"number": 1, \#(lists), "cubs": {"a": {"data": {}}, "b": {"data": null}}}"#)
    #expect(try animal.value("marks") == .text(#"["a"]"#))
    #expect(try animal.value("tags") == .text(#"["b"]"#))
    #expect(try animal.members("cubs").count == 1)
    #expect(!context.hasChanges)
  }

  @Test(
    "a null on the way to values sets them to nil",
    arguments: [#""info": null, "parts": null"#, #""info": {"marks": null}, "parts": null"#])
  func nullAbove(_ members: String) throws {
    let context = try container().newContext()
    let full = #"{"number": 1, "info": {"marks": [{"name": "a"}]}, "parts": [{"kind": "leg", "count": 4}]}"#
    for text in [full, "{\"number\": 1, \(members)}"] {
      let report = try context.importJSON(entity: 0, from: Data(text.utf8))
      #expect(report.rejected == [])
    }
    let animal = try #require(try context.objects("Animal").first)
    for name in ["marks", "legs", "first"] { #expect(try animal.value(name) == .null) }
  }

  @Test("a list that is nil is exported as one")
  func nilList() throws {
    let (context, animal) = try imported(#"{"number": 1}"#)
    let text = String(decoding: try context.exportJSON([animal], layout: .lines), as: UTF8.self)
    #expect(text.contains(#""marks":null"#))
    #expect(text.contains(#""bag":null"#))
  }

  @Test("a key that comes twice in one element leaves the others")
  func elementsTwice() throws {
    let (context, animal) = try imported(
      #"{"number": 1, "colors": [{"name": "red"}, {"name": 1, "name": "blue"}, {"name": "x", "name": null}]}"#)
    #expect(try animal.value("colors") == .text(#"["red","blue"]"#))
    #expect(!context.hasChanges)
  }

  @Test("of an object that comes twice under a key, the last one counts")
  func objectTwice() throws {
    let (context, animal) = try imported(#"{"number": 1, "info": {"name": "old", "age": 3}, "info": {"age": 4}}"#)
    #expect(try animal.value("name") == .null)
    #expect(try animal.value("age") == .integer(4))
    #expect(!context.hasChanges)
  }

  @Test(
    "what a key had before is forgotten, mistakes too",
    arguments: [
      #""info": 5, "info": {"age": 4}"#, #""info": {"age": "x", "name": 7}, "info": {"age": 4}"#,
      #""info": [], "info": {"age": 4}"#, #""info": {"age": 4}, "parts": {}, "parts": []"#,
      #""info": {"age": 4}, "parts": [{"kind": "leg", "count": "x"}], "parts": []"#,
      #""info": {"age": 4}, "colors": 3, "colors": []"#,
      #""info": {"age": 4}, "near": {"friend": {"number": 2}}, "near": {}"#,
      #""info": {"age": 4}, "near": {"friend": "x"}, "near": {"friend": null}"#,
      #""info": {"age": 4}, "nick": "a", "nick": null"#, #""info": {"age": 4}, "colors": [{"name": 1}], "colors": []"#,
    ])
  func mistakeTwice(_ members: String) throws {
    let (context, animal) = try imported("{\"number\": 1, \(members)}")
    #expect(try animal.value("age") == .integer(4))
    for name in ["name", "legs", "nick"] { #expect(try animal.value(name) == .null) }
    #expect(try animal.partner("friend") == nil)
    #expect(try context.objects("Animal").count == 1)
  }

  @Test("an object with members that comes twice changes nothing in a child context, either")
  func twiceInChild() throws {
    let container = try container()
    let text = #"[{"number": 1, "cubs": {"a": {"data": {}}}}, {"number": 1, "cubs": {"a": {"data": {}}}}]"#
    _ = try container.newContext().importJSON(entity: 0, from: Data(text.utf8))
    let report = try container.newContext().newChildContext().importJSON(entity: 0, from: Data(text.utf8))
    #expect(report.inserted.isEmpty && report.updated.isEmpty)
  }

  @Test("a reference that is found later does not win over a later object")
  func latePartner() throws {
    let context = try container().newContext()
    // More elements than a batch has lie between the reference and its object.
    let others = (10...2_500).map { #"{"number": \#($0)}"# }.joined(separator: ",")
    let text = """
      [{"number": 1, "near": {"friend": 9999}}, {"number": 1, "near": {"friend": null}},
       {"number": 2, "near": {"friend": 9999}}, \(others), {"number": 2, "near": {"friend": 1}},
       {"number": 3, "near": {"friend": 9999}}, {"number": 9999}]
      """
    let report = try context.importJSON(entity: 0, from: Data(text.utf8))
    #expect(report.rejected == [] && report.unresolved == [])
    func friend(_ number: Int) throws -> StoredValue? {
      try context.objects("Animal", where: "number == \(number)").first?.partner("friend")?.value("number")
    }
    #expect(try friend(1) == nil)
    #expect(try friend(2) == .integer(1))
    #expect(try friend(3) == .integer(9999))
  }

  @Test("of members that are kept the first ones count, even if they come later")
  func lateMembers() throws {
    let context = try container().newContext()
    let others = (10...2_500).map { #"{"number": \#($0)}"# }.joined(separator: ",")
    let text = """
      [{"number": 1, "rivals": [10, 9999]}, {"number": 1, "rivals": [11, 9998]}, {"number": 1, "rivals": [12]}, \(others),
       {"number": 9998}, {"number": 9999}]
      """
    _ = try context.importJSON(entity: 0, from: Data(text.utf8))
    let animal = try #require(try context.objects("Animal", where: "number == 1").first)
    let rivals = try animal.members("rivals").map { try $0.value("number") }
    #expect(Set(rivals) == [.integer(10), .integer(9999)])
  }

  @Test("objects in an element with a key that comes twice have the order of the document")
  func orderAfterForgetting() throws {
    let (context, animal) = try imported(
      #"{"number": 2, "rivals": [{"number": 1, "nick": "x"}], "near": {"friend": 3}, "near": {"friend": {"number": 1, "nick": "y"}}}"#
    )
    #expect(try animal.value("nick") == .text("y"))
    #expect(!context.hasChanges)
    let (other, same) = try imported(
      #"{"number": 2, "near": {"friend": 3}, "near": {"friend": {"number": 1, "nick": "y"}}, "rivals": [{"number": 1, "nick": "x"}]}"#
    )
    #expect(try same.value("nick") == .text("x"))
    #expect(!other.hasChanges)
  }

  @Test("of objects of several entities with one key those of the first entity are imported")
  func oneKeyOfTwoEntities() throws {
    let context = try container().newContext()
    let text = """
      [{"kind": "Cook", "number": 1}, {"kind": "Vet", "number": 1, "room": "a"}, {"kind": "Vet", "number": 1, "room": "b"},
       {"kind": "Cook", "number": 1}]
      """
    let report = try context.importJSON(entity: 2, from: Data(text.utf8))
    #expect(report.inserted.map(\.entity) == ["Cook"])
    #expect(report.rejected.map(\.code) == [.wrongEntity, .wrongEntity])
    #expect(report.rejected.map(\.place?.pointer) == ["/1", "/2"])
  }
}
