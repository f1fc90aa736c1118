import Foundation
import Testing
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

@Suite("Commands on the objects of a store") struct ObjectCommandTests {
  private static let model = """
    {
      "model": "Shelf",
      "enums": { "Genre": { "type": "string", "cases": ["novel", { "name": "poems", "value": "P" }] } },
      "entities": {
        "Item": {
          "abstract": true,
          "attributes": { "title": { "type": "string", "minLength": 1 }, "price": { "type": "decimal", "optional": true } },
          "relationships": {
            "shelf": { "destination": "Shelf", "inverse": "items" },
            "tags": { "destination": "Tag", "inverse": "items", "toMany": true }
          }
        },
        "Book": {
          "parent": "Item",
          "attributes": {
            "pages": { "type": "int32", "default": 0, "min": 0 },
            "genre": { "type": "Genre", "optional": true },
            "cover": { "type": "data", "optional": true, "externalStorage": true },
            "words": { "type": "[string]", "default": [] }
          },
          "relationships": { "sequel": { "destination": "Book", "inverse": "prequel", "optional": true },
                             "prequel": { "destination": "Book", "inverse": "sequel", "optional": true } }
        },
        "Game": { "parent": "Item" },
        "Shelf": {
          "attributes": { "name": "string" },
          "relationships": {
            "items": { "destination": "Item", "inverse": "shelf", "toMany": true, "ordered": true, "deleteRule": "deny" }
          },
          "unique": ["name"]
        },
        "Tag": {
          "attributes": { "name": "string" },
          "relationships": { "items": { "destination": "Item", "inverse": "tags", "toMany": true } }
        }
      }
    }
    """

  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(Self.model, to: "Shelf.model.json")
  }

  /// Makes a store with a shelf, two books, a game and two tags.
  private func makeStore(_ name: String) throws {
    #expect(try folder.run("seed", "Shelf.model.json", name, "0").status == 0)
    for (entity, values) in [
      ("Shelf", ["name=방"]), ("Book", ["title=커피", "shelf=Shelf#1", "price=9.50"]),
      ("Book", ["title=Sea", "shelf=Shelf#1", "pages=120", "genre=poems", "sequel=Book#2"]),
      ("Game", ["title=Go", "shelf=Shelf#1"]), ("Tag", ["name=old", "items=Book#2,Game#4"]), ("Tag", ["name=new"]),
    ] {
      let outcome = try folder.run(["insert", name, entity] + values + ["--write"])
      #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    }
  }

  private func output(_ arguments: String..., status: Int32 = 0) throws -> String {
    let outcome = try folder.run(arguments)
    #expect(outcome.status == status && outcome.errors == "", "\(outcome)")
    return outcome.output
  }

  private func errors(_ arguments: String..., status: Int32 = 1) throws -> String {
    let outcome = try folder.run(arguments)
    #expect(outcome.status == status && outcome.output == "", "\(outcome)")
    return outcome.errors
  }

  // MARK: Reading

  @Test("entities are listed by their hierarchy, and objects in aligned columns", arguments: ["s.sqlite", "s.json"])
  func list(_ store: String) throws {
    try makeStore(store)
    #expect(
      try output("list", store) == """
        entity  objects
        Item
          Book        2
          Game        1
        Shelf         1
        Tag           2

        """)
    #expect(
      try output("list", store, "Book") == """
        object  title  price  shelf    pages  genre  cover  words  sequel  prequel
        Book#2  커피     9.5  Shelf#1      0  nil    nil    []     nil     Book#3
        Book#3  Sea      nil  Shelf#1    120  poems  nil    []     Book#2  nil
        not shown: tags; --columns all or --columns NAMES shows more

        """)
    #expect(
      try output("list", store, "Item", "--sort", "-title", "--limit", "2") == """
        object  title  price  shelf
        Book#2  커피     9.5  Shelf#1
        Book#3  Sea      nil  Shelf#1
        2 of 3 objects; --offset 2 shows the next
        not shown: tags; --columns all or --columns NAMES shows more

        """)
    #expect(try output("list", store, "Game", "--where", "title == 'x'") == "no objects\n")
    #expect(
      try output("list", store, "--json").contains(
        #"{ "entity": "Book", "parent": "Item", "abstract": false, "objects": 2 }"#))
  }

  @Test("an object is shown with partners and members, and as JSON in the forms of a document")
  func show() throws {
    try makeStore("s.sqlite")
    #expect(
      try output("show", "s.sqlite", "Shelf#1") == """
        Shelf#1
          name   방
          items  3 members: Book#2 "커피", Book#3 "Sea", Game#4 "Go"

        """)
    #expect(
      try output("show", "s.sqlite", "Item#3", "--json")
        == #"{ "_object": "Book#3", "title": "Sea", "price": null, "shelf": "Shelf#1", "tags": [], "pages": 120, "#
        + #""genre": "P", "cover": null, "words": [], "sequel": "Book#2", "prequel": null }"# + "\n")
  }

  @Test("a value is printed exactly, and a relationship by names")
  func get() throws {
    try makeStore("s.sqlite")
    #expect(try output("get", "s.sqlite", "Book#3", "genre") == "poems\n")
    #expect(try output("get", "s.sqlite", "Book#3", "genre", "--json") == "\"P\"\n")
    #expect(try output("get", "s.sqlite", "Book#3", "price") == "nil\n")
    #expect(try output("get", "s.sqlite", "Shelf#1", "items") == "Book#2\nBook#3\nGame#4\n")
    #expect(try output("get", "s.sqlite", "Book#3", "prequel") == "nil\n")
    #expect(
      try errors("get", "s.sqlite", "Book#3", "pgaes") == "error: Book has no property 'pgaes'; did you mean 'pages'?\n"
    )
  }

  @Test("a query binds its values by what they look like, and by what the format needs")
  func query() throws {
    try makeStore("s.sqlite")
    for (format, values, keys) in [
      ("pages > %@", ["100"], ["Book#3"]), ("title == %@", ["Sea"], ["Book#3"]),
      ("shelf == %@", ["Shelf#1"], ["Book#2", "Book#3"]),
      ("price == %@", ["nil"], ["Book#3"]), ("genre == %@", ["poems"], ["Book#3"]), ("title == %@", ["7"], []),
      ("%K == %@", ["title", "커피"], ["Book#2"]), ("price >= %@ AND pages == %@", ["9.5", "0"], ["Book#2"]),
      ("ANY tags.name == 'old'", [], ["Book#2"]),
      ("title IN %@", [#"["Sea", "커피"]"#], ["Book#2", "Book#3"]), ("title IN %@", ["[]"], []),
      ("pages IN %@", ["[0, 7]"], ["Book#2"]), ("shelf IN %@", [#"["Shelf#1"]"#], ["Book#2", "Book#3"]),
      ("title == %@", [#"["Sea"]"#], []), ("title == %@", [""], []),
      ("price IN %@", ["[9.5]"], ["Book#2"]),
      ("title IN %@ AND pages > %@", [#"["Sea"]"#, "100"], ["Book#3"]),
    ] {
      let outcome = try folder.run(["query", "s.sqlite", "Book", format] + values)
      let lines = outcome.output.split(separator: "\n").dropFirst().filter { !$0.hasPrefix("not shown: ") }
      let found = lines.map { String($0.prefix { $0 != " " }) }
      #expect(found == keys && outcome.status == 0, "\(format) \(values): \(outcome)")
      let count = try folder.run(["query", "s.sqlite", "Book", format] + values + ["--count"])
      #expect(count.output == "\(keys.count)\n")
    }
    #expect(try errors("query", "s.sqlite", "Book", "titel == 'a'").contains("did you mean 'title'?"))
    #expect(try errors("query", "s.sqlite", "Book", "title == %@").contains("missing-argument"))
    let plan = try output("query", "s.sqlite", "Book", "title == 'a'", "--explain")
    #expect(plan.contains("SELECT") && plan.contains("\"indexes\": [[\"title\"]]"))
  }

  @Test("columns that are left out are named, and shown if they are asked for")
  func columns() throws {
    try makeStore("s.sqlite")
    #expect(
      try output("list", "s.sqlite", "Book", "--columns", "tags,title") == """
        object  tags  title
        Book#2     1  커피
        Book#3     0  Sea

        """)
    let all = try output("query", "s.sqlite", "Book", "pages > 0", "--columns", "all")
    #expect(all.split(separator: "\n").first?.split(separator: " ").count == 11 && !all.contains("not shown"))
    #expect(try errors("list", "s.sqlite", "Book", "--columns", "titel").contains("did you mean 'title'?"))
    #expect(
      try errors("list", "s.sqlite", "--columns", "all", status: 64).hasPrefix("error: --columns needs an ENTITY."))
  }

  @Test("what does not exist is named, and a file that is no store is told apart from one that is missing")
  func missing() throws {
    try makeStore("s.sqlite")
    #expect(try errors("list", "s.sqlite", "Boook").contains("has no entity 'Boook'; did you mean 'Book'?"))
    #expect(try errors("show", "s.sqlite", "Book#99") == "error: There is no object Book#99.\n")
    #expect(try errors("show", "s.sqlite", "Book#1") == "error: There is no object Book#1.\n")
    #expect(
      try errors("show", "s.sqlite", "Book", status: 64).hasPrefix(
        "error: 'Book' is no name of an object, as Entity#7 is.\n"))
    #expect(try errors("list", "nothing.sqlite", status: 66).contains("There is no such file."))
    let server = try errors("check", "postgresql://shop:secret@localhost/shop", status: 66)
    #expect(server.contains("a file is needed here") && !server.contains("secret"))
    #expect(try errors("list", "Shelf.model.json").hasPrefix("error: "))
    #expect(try errors("list", "s.sqlite", "--limit", "2", status: 64).hasPrefix("error: --limit needs an ENTITY."))
    #expect(
      try errors("list", "s.sqlite", "Book", "--limit", "x", status: 64).hasPrefix(
        "error: 'x' is no number for --limit."))
  }

  // MARK: Changing

  /// The bytes and the time of each file in the folder.
  private func files() throws -> [String: String] {
    var found: [String: String] = [:]
    for name in try folder.names() {
      let values = try FileManager.default.attributesOfItem(atPath: folder.folder.path(name))
      found[name] =
        "\(values[.modificationDate] ?? "") \(Data(try folder.bytes(of: name)).base64EncodedString().hashValue)"
    }
    return found
  }

  @Test("without --write a change is told, and no file changes", arguments: ["s.sqlite", "s.json"])
  func told(_ store: String) throws {
    try makeStore(store)
    let before = try files()
    for arguments in [
      ["set", store, "Book#2", "title=a", "tags=Tag#6"], ["insert", store, "Tag", "name=a"],
      ["delete", store, "Book#2"],
    ] {
      let outcome = try folder.run(arguments)
      #expect(outcome.status == 2 && outcome.output != "", "\(outcome)")
      #expect(outcome.errors == "Nothing was written. The same with --write changes the store.\n")
      // A change that would be refused is refused here, too.
    }
    #expect(try folder.run("delete", store, "Shelf#1").status == 1)
    #expect(try folder.run("set", store, "Book#2", "title=").status == 1)
    for command in ["list", "show", "query"] {
      let rest = ["list": [], "show": ["Book#2"], "query": ["Book", "title != nil"]][command] ?? []
      #expect(try folder.run([command, store] + rest).status == 0)
    }
    #expect(try files() == before)
  }

  @Test("a change is described from the object that was named, each link once")
  func described() throws {
    try makeStore("s.sqlite")
    let arguments = ["set", "s.sqlite", "Book#3", "pages=7", "tags+=Tag#5,Tag#6", "genre=nil", "sequel=nil"]
    let expected = """
      changes Book#3 "Sea"
        pages   120 → 7
        genre   poems → nil
        tags    + Tag#5 "old", + Tag#6 "new"
        sequel  Book#2 "커피" → nil

      """
    let lines = { (text: String) in Set(text.split(separator: "\n").map(String.init)) }
    let told = try folder.run(arguments)
    #expect(lines(told.output) == lines(expected))
    let written = try folder.run(arguments + ["--write"])
    #expect(lines(written.output) == lines(expected))
    #expect(try folder.run(arguments + ["--write"]) == .init(status: 0, output: "nothing changes\n"))
    #expect(try output("get", "s.sqlite", "Tag#6", "items") == "Book#3\n")
    #expect(
      try output("set", "s.sqlite", "Shelf#1", "items=Game#4,Book#3,Book#2", "--write")
        == "changes Shelf#1 \"방\"\n  items  in the order Game#4, Book#3, Book#2\n")
    #expect(
      try output("set", "s.sqlite", "Tag#6", "items-=Book#3", "--write")
        == "changes Tag#6 \"new\"\n  items  - Book#3 \"Sea\"\n")
  }

  @Test("all problems of the arguments are told at once, and all broken rules with their properties")
  func refused() throws {
    try makeStore("s.sqlite")
    #expect(
      try errors(
        "set", "s.sqlite", "Book#2", "pages=many", "titel=a", "genre=song", "tags=Tag", "shelf=Tag#5,Tag#6", "price+=1")
          == """
          error: Book.pages must be a whole number from -2147483648 to 2147483647.
          error: Book has no property 'titel'; did you mean 'title'?
          error: Book.genre must be a case of Genre: novel, poems.
          error: Book.tags must be names of objects, such as Tag#1,… or nil.
          error: Book.shelf leads to one object, as in shelf=Shelf#1, or to nil.
          error: Book.price is one value: only relationships to many have += and -=.

          """)
    #expect(
      try errors("set", "s.sqlite", "Book#2", "pages=-1", "title=", "shelf=nil", "--write") == """
        error: Book#2.title must not be empty [minimumLength]
        error: Book#2.pages must be at least 0 [minimum]
        error: Book#2.shelf must be set [required]
        error: 3 rules are broken, so nothing was written.

        """)
    #expect(
      try errors("insert", "s.sqlite", "Book", "pages=x")
        == "error: Book.pages must be a whole number from -2147483648 to 2147483647.\n")
    #expect(
      try errors("insert", "s.sqlite", "Book")
        == "error: Book.title needs a value: it is neither optional nor has a default.\n")
    #expect(try errors("insert", "s.sqlite", "Item") == "error: Item is abstract: only its subentities have objects.\n")
    #expect(try errors("insert", "s.sqlite", "Shelf", "name=방", "--write").contains(": Shelf#1 [unique]\n"))
    #expect(
      try errors("set", "s.sqlite", "Book#2", "sequel=Tag#5")
        == "error: Book.sequel must lead to objects of Book, and Tag#5 is none.\n")
    #expect(try errors("set", "s.sqlite", "Book#2", "sequel=Tag#77") == "error: There is no object Tag#77.\n")
    #expect(
      try errors("set", "s.sqlite", "Book#2", "pages", status: 64).hasPrefix(
        "error: 'pages' is no assignment, as name=value is.\n"))
    #expect(
      try errors("set", "s.sqlite", "Book#2", "pages=1", "pages=2", status: 64).hasPrefix(
        "error: 'pages' is given twice.\n"))
    #expect(try output("get", "s.sqlite", "Book#2", "pages") == "0\n")
  }

  @Test("delete rules apply, and a refused delete names what stands in the way")
  func deleted() throws {
    try makeStore("s.sqlite")
    #expect(
      try errors("delete", "s.sqlite", "Shelf#1", "--write") == """
        error: Shelf#1.items must be empty before the object can be deleted: Book#2, Book#3, Game#4 [deniedDelete]
        error: 1 rule is broken, so nothing was written.

        """)
    let outcome = try folder.run("delete", "s.sqlite", "Book#2", "Book#3", "Game#4", "Shelf#1", "--write")
    #expect(outcome.status == 0)
    #expect(
      outcome.output.hasSuffix(
        "deletes Shelf#1 \"방\"\ndeletes Book#2 \"커피\"\ndeletes Book#3 \"Sea\"\ndeletes Game#4 \"Go\"\n"))
    #expect(try output("list", "s.sqlite", "Item") == "no objects\n")
    #expect(try output("show", "s.sqlite", "Tag#5") == "Tag#5\n  name   old\n  items  0 members\n")
  }

  @Test("what get prints is what set takes, for each type of attribute")
  func roundTrip() throws {
    let model = ToolFolder.root.appending(path: "Tests/TrellisDynamicTests/Models/Meadow.model.json")
    try folder.write([UInt8](try Data(contentsOf: model)), to: "Meadow.model.json")
    #expect(try folder.run("seed", "Meadow.model.json", "m.sqlite", "6").status == 0)
    let description = try #require(ModelFile.parse([UInt8](try Data(contentsOf: model)), path: "").description)
    let attributes = description.entities[0].attributes.filter { !$0.isTransient }.map(\.name)
    let first = try folder.run("list", "m.sqlite", "Plant", "--limit", "1").output
    let plant = String(try #require(first.split(separator: "\n").dropFirst().first).prefix { $0 != " " })
    let copy = try folder.run(["insert", "m.sqlite", "Plant", "--write"])
    let other = String(try #require(copy.output.split(separator: "\n").first).split(separator: " ")[1])
    for name in attributes where name != "code" {
      let text = String(try folder.run("get", "m.sqlite", plant, name).output.dropLast())
      let same = try folder.run("set", "m.sqlite", plant, "\(name)=\(text)")
      #expect(same == .init(status: 0, output: "nothing changes\n"))
      let copied = try folder.run("set", "m.sqlite", other, "\(name)=\(text)", "--write")
      #expect(copied.status == 0, "\(copied)")
      #expect(try folder.run("get", "m.sqlite", other, name).output == text + "\n")
    }
  }

  // MARK: Seeding

  @Test("the same seed makes the same store, whose rules all hold")
  func seed() throws {
    for (name, seed) in [("a.json", "3"), ("b.json", "3"), ("c.json", "4")] {
      #expect(try folder.run("seed", "Shelf.model.json", name, "20", "--seed", seed).status == 0)
      #expect(try folder.run("doctor", name).status == 0)
    }
    #expect(try folder.text(of: "a.json") == folder.text(of: "b.json"))
    #expect(try folder.text(of: "a.json") != folder.text(of: "c.json"))
    #expect(try errors("seed", "Shelf.model.json", "a.json", "1").contains("a.json exists already"))
    #expect(try errors("seed", "Shelf.model.json", "d.json", "-1x", status: 64).hasPrefix("error: "))
    #expect(try errors("seed", "Shelf.model.json", "d.json", "x", status: 64).contains("'x' is no number of objects"))
    #expect(try !folder.names().contains("d.json"))
  }

  @Test("what a model makes impossible is told")
  func impossible() throws {
    let model = """
      { "model": "M", "entities": { "E": {
        "attributes": {
          "flag": "bool", "short": { "type": "string", "pattern": "abc", "minLength": 9, "optional": true }
        }, "unique": ["flag"] } } }
      """
    try folder.write(model, to: "M.model.json")
    let outcome = try folder.run("seed", "M.model.json", "m.sqlite", "5")
    #expect(outcome.status == 2 && outcome.output == "entity  objects\nE             2\n")
    #expect(outcome.errors == "E has no more values for its unique keys (flag).\n")
    let pattern =
      #"{ "model": "N", "entities": { "E": { "attributes": { "a": { "type": "string", "pattern": "a", "minLength": 2 } } } } }"#
    try folder.write(pattern, to: "N.model.json")
    let other = try folder.run("seed", "N.model.json", "n.sqlite", "5")
    #expect(other.status == 2 && other.errors == "No value of E.a was found that its rules allow.\n")
  }
}
