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
}
