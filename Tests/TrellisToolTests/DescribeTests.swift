import Foundation
import Testing
import TrellisTestSupport

@Suite("trellis describe") struct DescribeTests {
  private static let model = """
    { "model": "M", "version": "2", "doc": "One\\nline.",
      "enums": { "E": { "type": "int", "cases": { "low": 1, "high": 5 }, "unknown": { "default": "low" } } },
      "codableTypes": ["Size"],
      "entities": {
        "Parent": {
          "abstract": true, "attributes": { "name": { "type": "string", "default": "한글 🧾 x", "maxLength": 9 } },
          "relationships": { "next": { "destination": "Child", "optional": true, "deleteRule": "noAction" } },
          "unique": [["name"]], "hooks": ["willSave"] },
        "Child": {
          "parent": "Parent", "doc": "A child.",
          "attributes": {
            "e": { "type": "E", "default": "high" }, "size": "Size?", "list": { "type": "[int64]", "default": [1, 2] },
            "day": { "type": "date", "min": "2026-01-31" }, "on": { "type": "bool", "default": true },
            "id": { "type": "uuid", "default": "new", "doc": "Its own." },
            "price": { "type": "decimal", "min": "0.50", "backfill": 1 },
            "picture": { "type": "data?", "externalStorage": true }
          },
          "relationships": {
            "others": { "destination": "Child", "inverse": "others", "toMany": true, "minCount": 1, "optional": true }
          },
          "indexes": [["-day", "e"]],
          "fetchRequests": { "byDay": { "sort": ["-day", "name"], "offset": 2, "prefetch": ["others"] } } } } }
    """

  private func folder() throws -> ToolFolder {
    let folder = try ToolFolder()
    try folder.write(Self.model, to: "M.model.json")
    #expect(try folder.run("check", "M.model.json").status == 0)
    return folder
  }

  @Test("lists entities and enums")
  func overview() throws {
    #expect(
      try folder().run("describe", "M.model.json").output == """
        Model M, version 2
        One line.

        entity             parent  attributes  relationships    description
        Parent (abstract)          1           next: Child?
        Child              Parent  8           others: [Child]  A child.

        enum  type  unknown values  cases
        E     int   default low     low = 1, high = 5

        Codable types: Size

        """)
  }

  @Test("lists all that an entity declares and inherits")
  func entity() throws {
    #expect(
      try folder().run("describe", "M.model.json", "Child").output == """
        Entity Child, child of Parent
        A child.

        Attributes
          name     of      type     optional  default      rules
          name     Parent  string             "한글 🧾 x"  unique, maxLength 9
          e                E                  high
          size             Size     yes
          list             [int64]            [1, 2]
          day              date                            min 2026-01-31T00:00:00Z
          on               bool               true
          id               uuid               new
          price            decimal                         min 0.5
          picture          data     yes                    external storage

        Relationships
          name    of      destination  count         ordered  inverse  delete rule
          next    Parent  Child        one or none            none     no action
          others          Child        1..* or none           others   nullify

        Unique keys
          name

        Indexes
          -day, e

        Fetch requests
          byDay: all; sorted by -day, name; offset 2; with others

        """)
  }

  /// `TRELLIS_RECORD=1` writes the files in `Described` anew; a test that recorded something fails.
  @Test("describes the sample models as it did", arguments: ["Diary", "Dex", "InnerInterview", "ReceiptMind"])
  func samples(_ name: String) throws {
    let path = ToolFolder.root.appending(path: "Models/\(name)/\(name).model.json").path
    let folder = try ToolFolder()
    var text = try folder.run("describe", path).output
    let model = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path))) as? [String: Any]
    for entity in try #require(model?["entities"] as? [String: Any]).keys.sorted() {
      text += "\n" + (try folder.run("describe", path, entity).output)
    }
    let file = ToolFolder.root.appending(path: "Tests/TrellisToolTests/Described/\(name).txt")
    if TestSettings.number("TRELLIS_RECORD") == 1 {
      guard text != (try? String(contentsOf: file, encoding: .utf8)) else { return }
      try text.write(to: file, atomically: true, encoding: .utf8)
      Issue.record("recorded anew: look at it and run again without TRELLIS_RECORD")
    } else {
      let recorded = try String(contentsOf: file, encoding: .utf8)
      #expect(text.split(separator: "\n") == recorded.split(separator: "\n"), "differs from Described/\(name).txt")
    }
  }

  @Test("aligns columns by the width of characters in a terminal")
  func wide() throws {
    #expect(
      try folder().run("describe", "M.model.json", "Parent").output == """
        Entity Parent, abstract

        Attributes
          name  type    optional  default      rules
          name  string            "한글 🧾 x"  unique, maxLength 9

        Relationships
          name  destination  count        ordered  inverse  delete rule
          next  Child        one or none           none     no action

        Unique keys
          name

        Hooks
          willSave

        Children
          Child

        """)
  }

  @Test("shows how a mapped entity lies in JSON documents, with what it inherits")
  func mapping() throws {
    let folder = try ToolFolder()
    try folder.write(
      """
      { "model": "M", "entities": {
        "Animal": {
          "json": { "key": "number", "style": "snake_case", "entity": "type" },
          "attributes": {
            "number": { "type": "int64", "json": "id" }, "bornAt": { "type": "date?", "json": { "date": "yyyy", "null": "keep" } },
            "note": { "type": "string?", "json": false } },
          "relationships": {
            "friends": { "destination": "Animal", "inverse": "friends", "toMany": true, "json": { "members": "add" } } },
          "unique": ["number"] },
        "Dog": { "parent": "Animal", "json": { "as": "dog" } } } }
      """, to: "M.model.json")
    #expect(
      try folder.run("describe", "M.model.json", "Dog").output == """
        Entity Dog, child of Animal
        JSON: key number, snake_case, "dog" at type

        Attributes
          name    of      type    optional  default  rules   json
          number  Animal  int64                      unique  id
          bornAt  Animal  date    yes                        born_at, date yyyy, null keep
          note    Animal  string  yes

        Relationships
          name     of      destination  count  ordered  inverse  delete rule  json
          friends  Animal  Animal       many            friends  nullify      friends, members add

        Unique keys
          number

        """)
    let object = try JSONSerialization.jsonObject(
      with: Data(folder.run("describe", "--json", "M.model.json", "Dog").output.utf8))
    let dog = try #require(object as? [String: Any])
    #expect(dog["json"] as? [String: String] == ["as": "dog"])
    let attributes = try #require(dog["attributes"] as? [[String: Any]])
    #expect(attributes[0]["json"] as? String == "id" && attributes[2]["json"] as? Bool == false)
  }

  private static let recorded = """
    { "model": "M", "history": "values", "keepHistory": { "days": 30, "transactions": 1 }, "entities": {
      "Note": { "attributes": { "text": "string" } },
      "Task": { "parent": "Note", "attributes": { "code": { "type": "string?", "maxLength": 9, "keepInHistory": true } } },
      "Folder": { "history": true }, "Label": { "history": true }, "Draft": { "history": false } } }
    """

  @Test("shows what the history records, with what an entity inherits")
  func history() throws {
    let folder = try ToolFolder()
    try folder.write(Self.recorded, to: "M.model.json")
    #expect(
      try folder.run("describe", "M.model.json").output.hasPrefix(
        "Model M\nHistory: changes of Folder, Label; changes and former values of Note; at most 30 days and 1 transaction\n"
      ))
    #expect(
      try folder.run("describe", "M.model.json", "Task").output == """
        Entity Task, child of Note
        History: changes and former values

        Attributes
          name  of    type    optional  default  rules
          text  Note  string
          code        string  yes                maxLength 9, kept in history

        """)
    #expect(try folder.run("describe", "M.model.json", "Folder").output == "Entity Folder\nHistory: changes\n")
    #expect(try folder.run("describe", "M.model.json", "Draft").output == "Entity Draft\n")
    try folder.write(
      #"{ "model": "N", "history": true, "entities": { "A": {}, "B": { "parent": "A" }, "C": { "history": true } } }"#,
      to: "N.model.json")
    #expect(try folder.run("describe", "N.model.json").output.hasPrefix("Model N\nHistory: changes\n\nentity"))
  }

  @Test("prints the words of a history in JSON")
  func historyJSON() throws {
    let folder = try ToolFolder()
    try folder.write(Self.recorded, to: "M.model.json")
    let text = try folder.run("describe", "--json", "M.model.json").output
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    #expect(object?["history"] as? String == "values")
    #expect(object?["keepHistory"] as? [String: Int] == ["days": 30, "transactions": 1])
    let entities = try #require(object?["entities"] as? [[String: Any]])
    #expect(entities.prefix(2).allSatisfy { $0["history"] as? String == "values" })
    #expect(entities.dropFirst(2).map { $0["history"] as? Bool } == [true, true, false])
    let attributes = try #require(entities[1]["attributes"] as? [[String: Any]])
    #expect(attributes.map { $0["keepInHistory"] as? Bool } == [false, true])
  }

  @Test("shows what a server of replicas decides, in texts and in JSON")
  func sync() throws {
    let folder = try ToolFolder()
    let text = #"""
      { "model": "M", "history": "values", "entities": {
        "Note": {
          "attributes": { "stars": { "type": "int64", "sync": { "conflict": "sum" } } },
          "relationships": {
            "book": { "destination": "Book", "inverse": "notes", "optional": true, "sync": { "conflict": "replica" } } },
          "sync": { "conflict": "server" } },
        "Book": { "relationships": { "notes": { "destination": "Note", "inverse": "book", "toMany": true } } } } }
      """#
    try folder.write(text, to: "M.model.json")
    let output = try folder.run("describe", "M.model.json", "Note").output
    #expect(output.contains("History: changes and former values\nSync: server, book replica\n"))
    #expect(output.contains("sync sum\n"))
    let described = try folder.run("describe", "--json", "M.model.json", "Note").output
    let object = try JSONSerialization.jsonObject(with: Data(described.utf8)) as? [String: Any]
    #expect(object?["sync"] as? [String: String] == ["conflict": "server"])
    for (key, word) in [("attributes", "sum"), ("relationships", "replica")] {
      let properties = try #require(object?[key] as? [[String: Any]])
      #expect(properties.first?["sync"] as? [String: String] == ["conflict": word])
    }
  }

  @Test("prints JSON in which every key is there")
  func json() throws {
    let folder = try folder()
    let outcome = try folder.run("describe", "--json", "M.model.json")
    let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    let entities = try #require(object?["entities"] as? [[String: Any]])
    #expect(Set(entities.map { Set($0.keys) }).count == 1)
    let child = try #require(entities.first { $0["name"] as? String == "Child" })
    let attributes = try #require(child["attributes"] as? [[String: Any]])
    #expect(Set(attributes.map { Set($0.keys) }).count == 1)
    #expect(attributes.map { $0["declaredBy"] as? String } == ["Parent"] + Array(repeating: "Child", count: 8))
    let one = try folder.run("describe", "--json", "M.model.json", "Child").output
    let alone = try JSONSerialization.jsonObject(with: Data(one.utf8)) as? NSDictionary
    #expect(alone == child as NSDictionary)
  }

  @Test("an entity that the model does not have is named, with the closest one")
  func unknown() throws {
    let outcome = try folder().run("describe", "M.model.json", "Chidl")
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasPrefix("error: The model has no entity 'Chidl'; did you mean 'Child'?\n"))
    #expect(try folder().run("describe", "M.model.json", "a\nb").status == 64)
  }
}
