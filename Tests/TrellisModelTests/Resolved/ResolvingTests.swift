import Testing
import TrellisModel

@Suite("Resolving a model") struct ResolvingTests {
  static let diary = ModelDescription(
    name: "Diary",
    entities: [
      EntityDescription(
        "EmotionDiary", attributes: [AttributeDescription("content", .string)],
        relationships: [
          RelationshipDescription("images", to: "DiaryImage", inverse: "diary", toMany: true, ordered: true),
          RelationshipDescription("tags", to: "Tag", inverse: "diaries", toMany: true),
        ]),
      EntityDescription(
        "DiaryImage", attributes: [AttributeDescription("path", .string)],
        relationships: [RelationshipDescription("diary", to: "EmotionDiary", inverse: "images", optional: true)]),
      EntityDescription(
        "Tag", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("diaries", to: "EmotionDiary", inverse: "tags", toMany: true)]),
    ])

  @Test("a one-to-many lies on the child, with its order beside it")
  func oneToMany() throws {
    let model = try Model(Self.diary)
    let image = try #require(model.entity(named: "DiaryImage"))
    #expect(image.columns.map(\.name) == ["path", "diary", "_diary_order"])
    #expect(image.property(named: "diary")?.relationship?.home == .column(1, order: 2))
    #expect(model.entity(named: "EmotionDiary")?.property(named: "images")?.relationship?.home == .inverseColumn)
  }

  @Test("a many-to-many lies in a table named after its alphabetically first side")
  func manyToMany() throws {
    let model = try Model(Self.diary)
    let table = try #require(model.joinTables.first)
    #expect(table.name == "_EmotionDiary_tags")
    #expect(table.first.column == "diaries" && table.partnerColumn == "tags")
    #expect(table.first.property == 2 && table.second?.property == 1)
  }

  @Test("a one-to-one lies on the required side")
  func oneToOne() throws {
    let model = try Model(
      ModelDescription(
        name: "M",
        entities: [
          EntityDescription(
            "Answer",
            relationships: [RelationshipDescription("question", to: "Question", inverse: "answer", optional: true)]),
          EntityDescription(
            "Question", relationships: [RelationshipDescription("answer", to: "Answer", inverse: "question")]),
        ]))
    #expect(model.entity(named: "Answer")?.columns.isEmpty == true)
    #expect(model.entity(named: "Question")?.columns.map(\.name) == ["answer"])
  }

  @Test("a child entity's columns follow its parent's and carry its name")
  func inheritance() throws {
    let model = try Model(
      ModelDescription(
        name: "M",
        entities: [
          EntityDescription("Dog", parent: "Animal", attributes: [AttributeDescription("breed", .string)]),
          EntityDescription("Animal", isAbstract: true, attributes: [AttributeDescription("name", .string)]),
        ]))
    let dog = try #require(model.entity(named: "Dog"))
    #expect(dog.columns.map(\.name) == ["name", "Dog.breed"])
    #expect(dog.firstOwnColumn == 1 && dog.root == 1)
    #expect(model.entities[1].subtree == [1, 0])
  }

  @Test("parents in a circle are refused")
  func circle() {
    let description = ModelDescription(
      name: "M", entities: [EntityDescription("A", parent: "B"), EntityDescription("B", parent: "A")])
    #expect(throws: SchemaError.self) { try Model(description) }
  }

  private static func refusal(_ entities: EntityDescription...) -> String? {
    do throws(SchemaError) {
      _ = try Model(ModelDescription(name: "M", entities: entities))
      return nil
    } catch { return error.description }
  }

  @Test("two entities of one name are refused")
  func repeatedEntity() {
    #expect(Self.refusal(EntityDescription("A"), EntityDescription("A")) == "two entities are named A")
  }

  @Test("a parent and a destination that do not exist are refused")
  func unknownEntities() {
    #expect(Self.refusal(EntityDescription("A", parent: "B")) == "there is no entity named B")
    let owner = EntityDescription("A", relationships: [RelationshipDescription("b", to: "B", toMany: true)])
    #expect(Self.refusal(owner) == "there is no entity named B")
  }

  @Test("an inverse that neither the destination nor an ancestor of it declares is refused")
  func missingInverse() {
    let owner = EntityDescription("A", relationships: [RelationshipDescription("b", to: "B", inverse: "a")])
    #expect(
      Self.refusal(owner, EntityDescription("B", attributes: [AttributeDescription("a", .string)]))
        == "A.b names the inverse B.a, which does not exist")
    let base = EntityDescription(
      "Base", relationships: [RelationshipDescription("a", to: "A", inverse: "b", toMany: true)])
    #expect(Self.refusal(owner, EntityDescription("B", parent: "Base"), base) == nil)
  }

  @Test("two properties of one name are refused, also if one of them is inherited", arguments: [2, 40])
  func repeatedProperty(count: Int) {
    let attributes = (0..<count).map { AttributeDescription("a\($0)", .string) }
    #expect(
      Self.refusal(EntityDescription("A", attributes: attributes + [attributes[1]]))
        == "A has two properties named a1")
    let child = EntityDescription("B", parent: "A", relationships: [RelationshipDescription("a0", to: "A")])
    #expect(Self.refusal(child, EntityDescription("A", attributes: attributes)) == "B has two properties named a0")
  }

  @Test("a key or an index over what is in no row is refused")
  func unstoredKey() {
    let attributes = [AttributeDescription("kept", .string), AttributeDescription("shown", .string, transient: true)]
    let members = RelationshipDescription("members", to: "A", toMany: true)
    for name in ["shown", "members", "missing"] {
      let message = "a key or an index names \(name), which is no stored property"
      let keyed = EntityDescription(
        "A", attributes: attributes, relationships: [members], uniqueKeys: [["kept", name]])
      #expect(Self.refusal(keyed) == message)
      let indexed = EntityDescription(
        "A", attributes: attributes, relationships: [members], indexes: [IndexDescription([.init(name)])])
      #expect(Self.refusal(indexed) == message)
    }
    let child = EntityDescription("B", parent: "A", uniqueKeys: [["kept"]])
    #expect(Self.refusal(child, EntityDescription("A", attributes: attributes)) == nil)
  }

  @Test("an inherited inverse has its number in the destination's descendants too")
  func inheritedInverse() throws {
    let model = try Model(
      ModelDescription(
        name: "M",
        entities: [
          EntityDescription("A", relationships: [RelationshipDescription("b", to: "B", inverse: "a", optional: true)]),
          EntityDescription("B", parent: "Base", attributes: [AttributeDescription("own", .string)]),
          EntityDescription(
            "Base", attributes: [AttributeDescription("first", .string)],
            relationships: [RelationshipDescription("a", to: "A", inverse: "b", toMany: true)]),
        ]))
    let relationship = try #require(model.entity(named: "A")?.property(named: "b")?.relationship)
    #expect(relationship.inverse == 1)
    #expect(model.inverse(of: relationship)?.name == "a")
  }
}
