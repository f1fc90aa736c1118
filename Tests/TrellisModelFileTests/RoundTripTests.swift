import Foundation
import Testing
import TrellisModel
import TrellisModelFile

@Suite("Canonical text") struct RoundTripTests {
  static func files() throws -> [URL] {
    try Folders.names(in: Folders.good).map { Folders.good.appending(path: $0) } + [
      Folders.root.appending(path: "Models/Diary/Diary.model.json")
    ]
  }

  @Test("reading the canonical text of a model gives an equal model and an equal text", arguments: try files())
  func roundTrip(_ file: URL) throws {
    let first = ModelFile.parse(try Folders.bytes(file), path: file.lastPathComponent)
    #expect(first.rendered() == "")
    let description = try #require(first.description)
    let text = description.canonicalJSON()
    let second = ModelFile.parse(Array(text.utf8), path: "canonical.model.json")
    #expect(second.rendered() == "")
    #expect(second.description == description)
    #expect(second.description?.canonicalJSON() == text)
  }

  @Test("values are kept in their stored form, exactly")
  func storedForms() throws {
    let file = Folders.good.appending(path: "AllTypes.model.json")
    let model = try #require(ModelFile.parse(Folders.bytes(file), path: "f").description)
    let values = try #require(model.entities.first { $0.name == "Values" })
    func attribute(_ name: String) -> AttributeDescription? { values.attributes.first { $0.name == name } }
    #expect(attribute("large")?.defaultValue == .value(.integer(.min)))
    #expect(attribute("large")?.rules.maximum == .integer(.max))
    #expect(attribute("price")?.defaultValue == .value(.text("12.34")))
    #expect(attribute("price")?.rules.minimum == .text("-0.0000000001"))
    #expect(attribute("price")?.rules.maximum == .text("12345678901234567890.123456789"))
    #expect(attribute("soldAt")?.defaultValue == .value(.integer(1_769_819_400_250_000)))
    #expect(attribute("picture")?.defaultValue == .value(.blob(Array("Hello".utf8))))
    #expect(attribute("emotion")?.defaultValue == .value(.text("SAD")))
    #expect(attribute("level")?.defaultValue == .value(.integer(5)))
    #expect(attribute("words")?.defaultValue == .list([.text("a"), .text("b")]))
    #expect(attribute("days")?.defaultValue == .list([.integer(951_782_400_000_000)]))
    #expect(model.enums.last?.cases.map(\.rawValue) == [.integer(0), .integer(10), .integer(11)])
  }

  @Test("a text that is a constant of its attribute's type is one in a backfill, and any other is an expression")
  func backfills() throws {
    let file = Folders.good.appending(path: "AllTypes.model.json")
    let model = try #require(ModelFile.parse(Folders.bytes(file), path: "f").description)
    let values = try #require(model.entities.first { $0.name == "Values" })
    let expected: [(String, Backfill)] = [
      ("greeting", .expression("'hello ' + name")), ("initials", .expression("now")),
      ("stars", .value(.value(.integer(-3)))), ("hearts", .expression("stars ** 2")), ("rate", .expression("1.5")),
      ("cost", .value(.value(.text("9.95")))), ("isOpen", .value(.value(.integer(0)))), ("openedAt", .value(.now)),
      ("closedAt", .value(.value(.integer(1_769_817_600_000_000)))), ("lockedAt", .expression("(now)")),
      ("label", .value(.new)), ("icon", .value(.value(.blob(Array("Hello".utf8))))),
      ("site", .value(.value(.text("https://example.org")))), ("feeling", .value(.value(.text("SAD")))),
      ("feelings", .expression("feeling")), ("tags", .value(.list([.text("a"), .text("b")]))),
      ("labels", .expression("tags")), ("work", .expression("home")),
    ]
    let found = values.attributes.compactMap { attribute in attribute.backfill.map { (attribute.name, $0) } }
    #expect(found.map(\.0) == expected.map(\.0))
    for ((name, found), (_, expected)) in zip(found, expected) { #expect(found == expected, "\(name)") }
  }

  @Test("a constant text given to a string attribute in Swift is written as the expression of that text")
  func textConstants() throws {
    for text in ["", "hello", "it's \"50 %\"", "a\\b\n\t커피"] {
      let constant = AttributeDescription("a", .string, backfill: .value(.value(.text(text))))
      var model = ModelDescription(name: "M", entities: [EntityDescription("A", attributes: [constant])])
      let read = try #require(parse(model.canonicalJSON()).description)
      guard case .expression(let expression)? = read.entities[0].attributes[0].backfill else {
        Issue.record("no expression for \(text)")
        continue
      }
      model.entities[0].attributes[0].backfill = .expression(expression)
      #expect(read == model)
      #expect(read.canonicalJSON() == parse(read.canonicalJSON()).description?.canonicalJSON())
      let compared = try CheckedFormat("a == \(expression)", of: 0, in: Model(model)).predicate
      let bound = [FormatArgument.value(.text(text), .text)]
      #expect(try CheckedFormat("a == %@", of: 0, in: Model(model), arguments: bound).predicate == compared)
    }
  }

  @Test("former names of cases and the consent to losses are read")
  func migrationWords() throws {
    let file = Folders.good.appending(path: "AllTypes.model.json")
    let model = try #require(ModelFile.parse(Folders.bytes(file), path: "f").description)
    #expect(model.enums[0].cases.map(\.renamedFrom) == [[], ["unhappy", "happy"]])
    #expect(model.enums[2].cases.map(\.renamedFrom) == [[], ["ninth"], []])
    let attributes = model.entities.flatMap(\.attributes).filter(\.isLossy).map(\.name)
    let relationships = model.entities.flatMap(\.relationships).filter(\.isLossy).map(\.name)
    #expect(attributes == ["greeting", "stars"] && relationships == ["friends"])
  }

  @Test("each word of a mapping of JSON is read, and is no part of the storage signature")
  func mappingWords() throws {
    let file = Folders.good.appending(path: "Mapped.model.json")
    var model = try #require(ModelFile.parse(Folders.bytes(file), path: "f").description)
    let animal = model.entities[0]
    func attribute(_ name: String) -> PropertyJSON? { animal.attributes.first { $0.name == name }?.json }
    func relationship(_ name: String) -> PropertyJSON? { animal.relationships.first { $0.name == name }?.json }
    #expect(animal.json == EntityJSON(key: ["number"], style: .snakeCase, entityPath: "type.name"))
    #expect(model.entities[1].json == EntityJSON(entityValue: "canine"))
    #expect(model.entities[3].json == nil && model.entities[6].json == EntityJSON())
    #expect(attribute("number") == PropertyJSON("id"))
    #expect(attribute("imageURL") == nil && attribute("nickname") == PropertyJSON(mapped: false))
    #expect(attribute("artwork") == PropertyJSON("sprites.\"official-artwork\".front", keepsOnNull: true))
    #expect(attribute("hatched") == PropertyJSON("born_at", date: "dd.MM.yyyy 'at' HH:mm:ss.SSS Z"))
    #expect(attribute("next")?.take == [.lastPathComponent, .number])
    #expect(
      relationship("species")
        == PropertyJSON("species.url", take: [.lastPathComponent], keepsOnNull: true, reference: "number"))
    #expect(relationship("friends")?.members == .add && relationship("owner") == PropertyJSON())
    #expect(model.canonicalJSON().contains(#""number": { "type": "int64", "json": "id" }"#))
    #expect(model.canonicalJSON().contains(#""json": { "key": ["name", "animal"], "style": "kebab-case" }"#))
    let (signature, text) = try (Model(model).storageSignature, model.canonicalJSON())
    for entity in model.entities.indices {
      model.entities[entity].json = nil
      for index in model.entities[entity].attributes.indices { model.entities[entity].attributes[index].json = nil }
      for index in model.entities[entity].relationships.indices {
        model.entities[entity].relationships[index].json = nil
      }
    }
    #expect(try Model(model).storageSignature == signature)
    #expect(model.canonicalJSON() != text && !model.canonicalJSON().contains("json"))
  }

  @Test("what the model tool calls a column is one in the resolved model")
  func oneToOneHomes() throws {
    for optional in [(true, true), (true, false), (false, true), (false, false)] {
      for names in [("A", "B"), ("B", "A")] {
        let text = """
          { "model": "M", "entities": {
            "\(names.0)": { "relationships": { "x": { "destination": "\(names.1)", "inverse": "y", "deleteRule": "cascade",
              "optional": \(optional.0) } }, "unique": ["x"] },
            "\(names.1)": { "relationships": { "y": { "destination": "\(names.0)", "inverse": "x", "deleteRule": "cascade",
              "optional": \(optional.1) } } } } }
          """
        var description = try #require(
          parse(text.replacingOccurrences(of: ", \"unique\": [\"x\"]", with: "")).description)
        let hasColumn = try Model(description).entity(named: names.0)?.property(named: "x")?.column != nil
        #expect(parse(text).hasErrors == !hasColumn)
        description.entities[0].uniqueKeys = [["x"]]
        #expect(((try? Model(description)) != nil) == hasColumn)
      }
    }
  }
}
