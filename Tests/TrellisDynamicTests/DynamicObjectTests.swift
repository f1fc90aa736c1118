import Foundation
import Testing
import Trellis
import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisTestSupport

@Suite("Objects without generated classes") struct DynamicObjectTests {
  private let place: TestContainer
  private let context: ManagedObjectContext

  init() throws {
    place = try TestContainer(ObjectModel(dynamic: ObjectModel.meadow.description))
    context = place.container.newContext()
  }

  private func failure(_ body: () throws -> Void) -> DynamicError? {
    do {
      try body()
      return nil
    } catch {
      return error as? DynamicError
    }
  }

  @Test("a new object has the defaults of the model")
  func defaults() throws {
    let plant = try context.insert("Plant")
    #expect(plant["small"] == .integer(7) && plant["ratio"] == .real(Double(Float(0.1))))
    #expect(plant["words"] == .text(#"["a"]"#) && plant["mood"] == .text("calm") && plant["large"] == .null)
    #expect(plant["weather"] == .text("sunny") && plant["born"] == .integer(1_767_225_600_000_000))
  }

  @Test("the defaults now and new are taken at each insert")
  func nowAndNew() throws {
    let description = ModelDescription(
      name: "M",
      entities: [
        EntityDescription(
          "E",
          attributes: [
            AttributeDescription("id", .uuid, default: .new), AttributeDescription("made", .date, default: .now),
          ])
      ])
    let context = try PersistentContainer(model: ObjectModel(dynamic: description), store: .memory).newContext()
    let (first, second) = (try context.insert("E"), try context.insert("E"))
    #expect(first["id"] != second["id"])
    let made = try #require(first["made"].integer)
    #expect(abs(Double(made) / 1_000_000 - Date().timeIntervalSince1970) < 60)
  }

  @Test("names that the model does not have are told with the nearest one, and other kinds of properties with theirs")
  func names() throws {
    let plant = try context.insert("Plant")
    #expect(failure { try context.insert("Plnt") }?.code == .unknownEntity)
    #expect(
      failure { try context.insert("Plnt") }?.message.hasSuffix("has no entity 'Plnt'; did you mean 'Plant'?") == true)
    let unknown = try #require(failure { try plant.set("nmae", .text("a")) })
    #expect(unknown.code == .unknownProperty && unknown.entity == "Plant" && unknown.property == "nmae")
    #expect(unknown.message == "Plant has no property 'nmae'; did you mean 'name'?")
    #expect(failure { try plant.set("bed", .integer(1)) }?.code == .otherKind)
    #expect(failure { _ = try plant.members("bed") }?.message == "Plant.bed leads to one object, and not to several.")
    #expect(
      failure { _ = try plant.partner("tags") }?.message == "Plant.tags leads to several objects, and not to one.")
    #expect(failure { _ = try plant.partner("name") }?.code == .otherKind)
    #expect(plant["tags"] == .null && plant["nothing"] == .null)
  }

  @Test("an attribute without a default needs a value, and nothing is inserted without")
  func missing() throws {
    let error = try #require(failure { try context.insert("Tag") })
    #expect(error.code == .missingValue && error.property == "name")
    #expect(error.message == "Tag.name needs a value: it is neither optional nor has a default.")
    #expect(!context.hasChanges)
  }

  @Test("an abstract entity has no objects")
  func abstract() throws {
    let description = ModelDescription(name: "M", entities: [EntityDescription("E", isAbstract: true)])
    let context = try PersistentContainer(model: ObjectModel(dynamic: description), store: .memory).newContext()
    #expect(failure { try context.insert("E") }?.code == .abstractEntity)
  }

  @Test(
    "a value of another type or beyond its range is refused, and the object stays as it is",
    arguments: [
      ("name", StoredValue.null), ("name", .integer(1)), ("flag", .integer(2)), ("small", .integer(32_768)),
      ("medium", .integer(1 << 31)), ("large", .real(1)), ("ratio", .real(.nan)), ("ratio", .real(1e39)),
      ("weight", .real(.nan)), ("price", .text("1,5")), ("price", .text("1e400")), ("born", .integer(.max)),
      ("born", .integer(.min)), ("token", .blob([1])), ("site", .text("")), ("weather", .integer(1)),
      ("level", .integer(3)), ("words", .text("[1]")), ("words", .text("{")), ("words", .text(#"["a",null]"#)),
      ("numbers", .text("[9223372036854775808]")), ("photo", .text("a")),
    ])
  func values(_ name: String, _ value: StoredValue) throws {
    let plant = try context.insert("Plant")
    let before = plant[name]
    let error = try #require(failure { try plant.set(name, value) })
    #expect(error.code == .wrongValue && error.property == name)
    #expect(error.message.hasPrefix("Plant.\(name) must be "))
    #expect(plant[name] == before)
    #expect(failure { try context.insert("Plant", [name: value]) } == error)
  }

  @Test("a value is kept in its one stored form")
  func forms() throws {
    let plant = try context.insert("Plant")
    try plant.set("price", .text("+01.50"))
    try plant.set("ratio", .real(0.1))
    try plant.set("words", .text(#"[ "b", "a/c" ]"#))
    try plant.set("weather", .text("foggy"))
    #expect(plant["price"] == .text("1.5") && plant["ratio"] == .real(Double(Float(0.1))))
    #expect(plant["words"] == .text(#"["b","a/c"]"#) && plant["weather"] == .text("foggy"))
  }

  @Test("a partner has to be of the destination, and of the same context")
  func partners() throws {
    let (plant, tag) = (try context.insert("Plant"), try context.insert("Tag", ["name": .text("a")]))
    let error = try #require(failure { try plant.set("bed", tag) })
    #expect(error.code == .wrongPartner)
    #expect(error.message == "Plant.bed must lead to objects of Bed, and Tag#2 is none.")
    #expect(failure { try plant.add(plant, to: "tags") }?.code == .wrongPartner)
    #expect(failure { try plant.set("tags", [tag, plant]) }?.code == .wrongPartner)
    let other = place.container.newContext()
    let foreign = try other.insert("Tag", ["name": .text("b")])
    #expect(throws: ContextError.self) { try plant.add(foreign, to: "tags") }
    #expect(try plant.members("tags").isEmpty)
    try context.delete(tag)
    #expect(throws: ContextError.self) { try plant.add(tag, to: "tags") }
    #expect(throws: ContextError.self) { try tag.set("name", .text("c")) }
    #expect(place.errors.all.isEmpty)
  }

  @Test("members keep their order, and both ends agree")
  func members() throws {
    let plants = try (0..<4).map { try context.insert("Plant", ["name": .text("p\($0)")]) }
    let tags = try (0..<3).map { try context.insert("Tag", ["name": .text("t\($0)")]) }
    for plant in plants { try plant.set("tags", tags) }
    try tags[0].add(plants[3], to: "plants", at: 0)
    try tags[1].remove(plants[1], from: "plants")
    try context.save()
    let reader = place.container.newContext()
    let first = try #require(try reader.object("Tag", tags[0].key))
    #expect(try first.members("plants").map { $0["name"] } == ["p3", "p0", "p1", "p2"].map(StoredValue.text))
    #expect(try reader.object("Plant", plants[1].key)?.memberKeys("tags") == [tags[0].key, tags[2].key])
    #expect(try reader.object("Tag", plants[0].key) == nil)
  }

  @Test("requests have formats, arguments and sort keys by name")
  func requests() throws {
    for number in 0..<5 {
      try context.insert("Tree", ["name": .text("t\(number)"), "height": .integer(Int64(number))])
    }
    try context.insert("Plant", ["name": .text("t9")])
    try context.save()
    let arguments = [FormatArgument.value(.text("t"), .text)]
    let names = try context.objects(
      "Plant", where: "name BEGINSWITH %@", arguments, sortedBy: ["-name"], limit: 2, offset: 1)
    #expect(names.map { $0["name"] } == [.text("t4"), .text("t3")])
    #expect(try context.count("Tree", where: "height > 2") == 2)
    #expect(throws: PredicateFormatError.self) { try context.objects("Plant", where: "hieght > 2") }
    #expect(throws: PredicateFormatError.self) { try context.objects("Plant", sortedBy: ["tag"]) }
  }

  @Test("a broken rule names the entity, the object and the property")
  func rules() throws {
    let bed = try context.insert("Bed")
    let plant = try context.insert("Plant", ["name": .text("too long a name"), "small": .integer(2_000)])
    let error = try #require(throws: ValidationError.self) { try context.save() }
    #expect(
      Set(error.failures.map { "\($0.object).\($0.property) \($0.rule)" }) == [
        "Plant#2.name maximumLength", "Plant#2.small maximum", "Bed#1.gardener required",
      ])
    #expect(AnyObjectID(plant).description == "Plant#2" && "\(bed)" == "Bed#1")
  }

  @Test("two contexts that change the same value are in conflict, and a policy settles it")
  func conflict() throws {
    let plant = try context.insert("Plant", ["name": .text("a")])
    try context.save()
    let other = place.container.newContext()
    let same = try #require(try other.object("Plant", plant.key))
    try same.set("name", .text("b"))
    try other.save()
    try plant.set("name", .text("c"))
    #expect(throws: SaveConflict.self) { try context.save() }
    try context.save(mergePolicy: .objectTrump)
    #expect(try place.container.newContext().object("Plant", plant.key)?["name"] == .text("c"))
  }

  @Test("two containers of different models are open at once, and each object is of its own")
  func twoModels() throws {
    let animals = ModelDescription(
      name: "Zoo", entities: [EntityDescription("Animal", attributes: [AttributeDescription("name", .string)])])
    let zoo = try TestContainer(ObjectModel(dynamic: animals))
    let inZoo = zoo.container.newContext()
    let animal = try inZoo.insert("Animal", ["name": .text("cat")])
    let plant = try context.insert("Plant")
    #expect(type(of: animal) == type(of: plant))
    #expect("\(animal)" == "Animal#1" && "\(plant)" == "Plant#1")
    #expect(AnyObjectID(animal) != AnyObjectID(plant))
    #expect(throws: ContextError.self) { try inZoo.delete(plant) }
    #expect(throws: ContextError.self) { try plant.set("twin", animal) }
    try inZoo.save()
    try context.save()
    #expect(try inZoo.objects("Animal").count == 1 && context.objects("Plant").count == 1)
  }

  @Test("an object keeps its name and its values when its context is gone")
  func gone() throws {
    var context: ManagedObjectContext? = place.container.newContext()
    let plant = try #require(try context?.insert("Plant", ["name": .text("a")]))
    try context?.save()
    context = nil
    #expect("\(plant)" == "Plant#1" && plant["name"] == .text("a"))
    #expect(throws: ContextError.self) { try plant.set("name", .text("b")) }
    #expect(throws: ContextError.self) { try plant.members("tags") }
  }

  @Test("large data is in a file beside the store, and is read from it")
  func external() throws {
    let folder = try TestFolder()
    let model = ObjectModel(dynamic: ObjectModel.meadow.description)
    let store = StoreConfiguration.sqlite(at: folder.file("store.sqlite"), filesAbove: 10)
    let container = try PersistentContainer(model: model, store: store)
    let context = container.newContext()
    let bytes = (0..<100).map { UInt8($0) }
    let plant = try context.insert("Plant", ["photo": .blob(bytes)])
    try context.save()
    let reader = container.newContext()
    let found = try #require(try reader.object("Plant", plant.key))
    guard case .file(let file) = found["photo"] else {
      Issue.record("\(found["photo"])")
      return
    }
    #expect(file.size == 100)
    let attribute = try #require(found.entity?.property(named: "photo")?.attribute)
    #expect(try ValueText(attribute).text(found["photo"]) == Base64Text.text(bytes))
    try found.set("photo", found["photo"])
    #expect(!reader.hasChanges)
    let copy = try reader.insert("Plant", ["photo": found["photo"]])
    try reader.save()
    #expect(try container.newContext().object("Plant", copy.key)?["photo"] == .file(file))
  }

  @Test("a store that was written with generated classes is read without them, and the other way round")
  func sameStore() throws {
    let folder = try TestFolder()
    let store = StoreConfiguration.sqlite(at: folder.file("store.sqlite"))
    let key: Int64
    do {
      let context = try PersistentContainer(model: .meadow, store: store).newContext()
      let tag = Tag(in: context, name: "커피")
      let tree = Tree(in: context, name: "elm", level: .high)
      tree.tags.append(tag)
      try context.save()
      key = AnyObjectID(tree).key
    }
    do {
      let model = ObjectModel(dynamic: ObjectModel.meadow.description)
      let context = try PersistentContainer(model: model, store: store).newContext()
      let tree = try #require(try context.object("Plant", key))
      #expect("\(tree)" == "Tree#\(key)" && tree["level"] == .integer(2))
      #expect(try tree.members("tags").map { $0["name"] } == [.text("커피")])
      try tree.set("name", .text("oak"))
      try context.save()
    }
    let context = try PersistentContainer(model: .meadow, store: store).newContext()
    #expect(try context.fetch(Tree.all).map(\.name) == ["oak"])
  }
}
