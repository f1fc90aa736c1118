import Testing
import TrellisModel
import TrellisStorage

@Suite("Matching a stored model with the current one") struct ModelMatchTests {
  private func model(_ entities: [EntityDescription], removed: [String] = []) throws -> Model {
    try Model(ModelDescription(name: "Diary", entities: entities, removed: removed))
  }

  private func entry(
    _ attributes: [AttributeDescription], removed: [String] = [], name: String = "Entry", from: [String] = []
  ) -> EntityDescription {
    EntityDescription(name, attributes: attributes, renamedFrom: from, removed: removed)
  }

  /// `new: old` for each property, `new: -` for a new one.
  private func told(_ match: ModelMatch, _ entity: Int = 0) -> [String] {
    match.current.entities[entity].properties.map {
      "\($0.name): \(match.origin(of: $0.index, in: entity)?.name ?? "-")"
    }
  }

  private func losses(_ match: ModelMatch) -> [String] {
    Migration(match).losses.filter { !$0.isConsented }.map { loss in
      let entity = match.stored.entities[loss.entity]
      let name =
        switch loss.subject {
        case .rows: entity.name
        case .values(let number), .pairs(let number): "\(entity.name).\(entity.properties[number].name)"
        }
      return "\(name) → \(loss.likelyName ?? "?")"
    }
  }

  @Test("a property is found by its name, and otherwise by its newest former name that is stored")
  func formerNames() throws {
    let now = try model([
      entry([.init("caption", .string, renamedFrom: ["headline", "title"]), .init("stars", .int16)])
    ])
    for former in ["title", "headline", "caption"] {
      let match = try ModelMatch(from: model([entry([.init(former, .string)])]), to: now)
      #expect(told(match) == ["caption: \(former)", "stars: -"] && losses(match) == [])
    }
  }

  @Test("swapped names are matched once: a store that was written after the swap is as it is")
  func swapped() throws {
    let before = try model([entry([.init("a", .string), .init("b", .string)])])
    let after = try model([entry([.init("a", .string, renamedFrom: ["b"]), .init("b", .string, renamedFrom: ["a"])])])
    #expect(told(ModelMatch(from: before, to: after)) == ["a: b", "b: a"])
    #expect(told(ModelMatch(from: after, to: after)) == ["a: a", "b: b"])
  }

  @Test("a name that is used again belongs to a new property, from whatever version")
  func reused() throws {
    let first = try model([entry([.init("title", .string)])])
    let second = try model([entry([.init("headline", .string, renamedFrom: ["title"]), .init("title", .int16)])])
    let third = try model([
      entry([.init("caption", .string, renamedFrom: ["headline", "title"]), .init("title", .int16)])
    ])
    #expect(told(ModelMatch(from: first, to: second)) == ["headline: title", "title: -"])
    #expect(told(ModelMatch(from: second, to: third)) == ["caption: headline", "title: title"])
    #expect(told(ModelMatch(from: first, to: third)) == ["caption: title", "title: -"])
  }

  @Test("an entity and its property can be renamed in one step")
  func both() throws {
    let before = try model([entry([.init("text", .string)], name: "Note")])
    let after = try model([entry([.init("content", .string, renamedFrom: ["text"])], from: ["Note"])])
    let match = ModelMatch(from: before, to: after)
    #expect(match.origins == [0] && match.successors == [0] && told(match) == ["content: text"])
  }

  @Test("what is gone is a loss unless the model consents, and the likely rename has the same type and a near name")
  func lost() throws {
    let before = try model([
      entry([.init("distributionListId", .string), .init("mood", .string), .init("rank", .int16)]),
      entry([.init("name", .string)], name: "Tag"),
    ])
    let after = try model([
      entry([.init("distributionListID", .string), .init("place", .int16)], removed: ["mood"])
    ])
    #expect(
      losses(ModelMatch(from: before, to: after)) == [
        "Entry.distributionListId → distributionListID", "Entry.rank → place", "Tag → ?",
      ])
    let consenting = try model(
      [
        entry(
          [.init("distributionListID", .string, renamedFrom: ["distributionListId"])], removed: ["mood", "rank"])
      ], removed: ["Tag"])
    #expect(losses(ModelMatch(from: before, to: consenting)) == [])
  }

  @Test("a property that moves to a parent is the same property")
  func moved() throws {
    let before = try model([
      EntityDescription("Animal"), EntityDescription("Dog", parent: "Animal", attributes: [.init("name", .string)]),
    ])
    let after = try model([
      EntityDescription("Animal", attributes: [.init("name", .string)]), EntityDescription("Dog", parent: "Animal"),
    ])
    let match = ModelMatch(from: before, to: after)
    #expect(told(match, 0) == ["name: -"] && told(match, 1) == ["name: name"] && losses(match) == [])
  }

  @Test(
    "a property that moves to an entity above gets a new name, and its former name is used again",
    arguments: [
      AttributeType.int64, .url,
    ])
  func movedAndReused(type: AttributeType) throws {
    let before = try model([
      EntityDescription("Animal"), EntityDescription("Dog", attributes: [.init("name", .url)]),
    ])
    let animal = EntityDescription("Animal", attributes: [.init("title", .url, renamedFrom: ["name"])])
    let after = try model([
      animal, EntityDescription("Dog", parent: "Animal", attributes: [.init("name", type, optional: true)]),
    ])
    #expect(told(ModelMatch(from: before, to: after), 1) == ["title: name", "name: -"])
  }

  @Test("a former name of a sibling's property that moved up is not that of a property which stays")
  func siblingMoved() throws {
    func dog(_ type: AttributeType) -> EntityDescription {
      EntityDescription("Dog", parent: "Animal", attributes: [.init("name", type)])
    }
    for type in [AttributeType.data, .float] {
      let before = try model([
        EntityDescription("Animal"), dog(type),
        EntityDescription("Cat", parent: "Animal", attributes: [.init("name", .data)]),
      ])
      let after = try model([
        EntityDescription("Animal", attributes: [.init("title", .data, optional: true, renamedFrom: ["name"])]),
        dog(type), EntityDescription("Cat", parent: "Animal"),
      ])
      let match = ModelMatch(from: before, to: after)
      #expect(told(match, 1) == ["title: -", "name: name"] && told(match, 2) == ["title: name"])
    }
  }

  @Test("what an entity calls its own former names is not about an entity that became its child")
  func ownPast() throws {
    let dog = EntityDescription("Dog", attributes: [.init("name", .string)])
    for past in ["name", "title"] {
      let before = try model([EntityDescription("Animal", attributes: [.init(past, .string)]), dog])
      let after = try model([
        EntityDescription("Animal", attributes: [.init("title", .string, renamedFrom: ["name"])]),
        EntityDescription("Dog", parent: "Animal", attributes: dog.attributes),
      ])
      let match = ModelMatch(from: before, to: after)
      #expect(told(match, 0) == ["title: \(past)"] && told(match, 1) == ["title: -", "name: name"])
    }
  }

  @Test("an inverse that is gone loses nothing while the other end holds the links")
  func oneWay() throws {
    let both = try model([
      EntityDescription(
        "Entry", relationships: [.init("images", to: "Image", inverse: "entry", toMany: true, optional: true)]),
      EntityDescription("Image", relationships: [.init("entry", to: "Entry", inverse: "images", optional: true)]),
    ])
    let one = try model([
      EntityDescription("Entry"),
      EntityDescription("Image", relationships: [.init("entry", to: "Entry", optional: true)]),
    ])
    #expect(losses(ModelMatch(from: both, to: one)) == [])
    #expect(losses(ModelMatch(from: one, to: both)) == [])
  }
}
