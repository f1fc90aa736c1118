import Foundation
import Testing
@_spi(Generated) import Trellis
import TrellisGenerator
import TrellisModel

/// The functions in the golden files build the predicates that reading the formats gives.
@Suite("Fetch requests of the model") struct RequestTests {
  private let zoo: Model
  private let types: Model
  private let context: ManagedObjectContext

  init() throws {
    zoo = try Model(zooModel)
    types = try Model(typesModel)
    context = try PersistentContainer(model: .zoo, store: .memory).newContext()
  }

  private func read(
    _ request: String, of entity: String, in model: Model, _ bindings: [String: any PredicateArgument] = [:]
  ) throws -> QueryPredicate {
    let number = try #require(model.entity(named: entity)?.index)
    let text = model.description.entities[number].fetchRequests.first { $0.name == request }?.predicate
    return try CheckedFormat(
      try #require(text), of: number, in: model, bindings: bindings.mapValues(\.formatArgument)
    ).predicate
  }

  @Test("objects, lists of objects and folded texts stand where the format has them")
  func objects() throws {
    let keeper = Keeper(in: context)
    let dog = Dog(in: context, name: "Rex")
    let kept = Dog.kept(keeper: keeper, in: [keeper], class: ["A", "b"])
    #expect(
      try kept.predicate == read("kept", of: "Dog", in: zoo, ["keeper": keeper, "in": [keeper], "class": ["A", "b"]]))
    #expect(
      try Keeper.holding(animal: dog, dogs: [dog]).predicate
        == read("holding", of: "Keeper", in: zoo, ["animal": dog, "dogs": [dog]]))
  }

  @Test("sums, subqueries, counts and the time stand where the format has them")
  func calculated() throws {
    #expect(
      try Keeper.busy(legs: 12, breed: "Pug").predicate
        == read("busy", of: "Keeper", in: zoo, ["legs": 12, "breed": "Pug"]))
  }

  @Test("a child has requests of its own and those of its parents, which find objects of every child")
  func inherited() throws {
    #expect(try Dog.pedigree(name: "rex").predicate == read("pedigree", of: "Dog", in: zoo, ["name": "rex"]))
    #expect(try Animal.named(name: "rex").predicate == read("named", of: "Animal", in: zoo, ["name": "rex"]))
    _ = Dog(in: context, name: "Rex")
    _ = Cat(in: context, name: "REX")
    let dogs = try context.fetch(Dog.pedigree(name: "rex"))
    #expect(dogs.map(\.breed) == [nil])
    #expect(try context.count(Dog.named(name: "rex")) == 2)
    #expect(try context.count(Animal.everyone()) == 2)
  }

  @Test("long lists, which are made one element after the other, stand where the format has them")
  func longLists() throws {
    #expect(try Cat.oneOfMany(name: "Tom").predicate == read("oneOfMany", of: "Cat", in: zoo, ["name": "Tom"]))
  }

  @Test("no expression of a generated request has more terms than the compiler reads at once")
  func longExpressions() throws {
    let terms = (0..<1_200).map { "name == 'a\($0)'" }.joined(separator: " OR ")
    let model = ModelDescription(
      name: "M",
      entities: [
        EntityDescription(
          "A", attributes: [AttributeDescription("name", .string)],
          fetchRequests: [FetchRequestDescription("long", predicate: terms)])
      ])
    let text = try generate(model, modelFileName: "M.model.json")
    #expect(text.components(separatedBy: "_list0.append(").count == 1_201)
    #expect(text.contains("predicate: .or(_list0)"))
  }

  @Test("order, limit, offset and prefetch are those of the model")
  func rest() throws {
    let keeper = Keeper(in: context)
    for number in 0..<8 { _ = Dog(in: context, name: "Rex \(number)", keeper: keeper) }
    try context.save()
    let found = try context.fetch(Dog.kept(keeper: keeper, in: [], class: []))
    #expect(found.map(\.name) == ["Rex 2", "Rex 1", "Rex 0"])
    let other = try PersistentContainer(model: .zoo, store: .memory).newContext()
    #expect(try other.fetch(Dog.kept(keeper: keeper, in: [], class: [])).isEmpty)
  }

  @Test("every type can be a parameter: one value, several, or a range")
  func values() throws {
    let uuid = UUID()
    let day = Date(timeIntervalSince1970: 1.5)
    let url = try #require(URL(string: "https://example.org"))
    let home = Address.placeholder
    let one = Plain.equal(
      string: "a", bool: true, int16: 1, int32: 2, int64: 3, float: 0.1, double: 0.1, decimal: 1.5, wholeDecimal: 2,
      date: day, now: day, data: Foundation.Data([1]), uuid: uuid, new: uuid, url: url, weather: .sunny, level: .high,
      kind: .only,
      grade: .a, words: ["a"], numbers: [1], dates: [day], levels: [.low], address: home)
    guard case .or(let terms)? = one.predicate else { throw Mismatch() }
    let arguments: [any AttributeValue] = [
      "a", true, Int16(1), Int32(2), Int64(3), Float(0.1), 0.1, Decimal(1.5), Decimal(2), day, day,
      Foundation.Data([1]), uuid,
      uuid, url, Weather.sunny, Level.high, Kind.only, Grade.a, ["a"], [Int64(1)], [day], [Level.low], home,
    ]
    let found = terms.map { term -> StoredValue? in
      guard case .comparison(let comparison) = term, case .value(let value) = comparison.right else { return nil }
      return value
    }
    #expect(found == arguments.map(\.storedValue))
    #expect(
      try Plain.mixed(number: 3).predicate == read("mixed", of: "Plain", in: types, ["number": 3]))
    let ranged = Plain.ranged(
      string: "a"..."b", int16: 1...2, int64: 3...4, float: 0.25...0.5, decimal: 1...2, date: day...day)
    #expect(
      try ranged.predicate
        == read(
          "ranged", of: "Plain", in: types,
          [
            "string": "a"..."b", "int16": Int16(1)...2, "int64": Int64(3)...4, "float": Float(0.25)...0.5,
            "decimal": Decimal(1)...2, "date": day...day,
          ]))
  }

  private struct Mismatch: Error {}

  @Test("a request of a parent's name gives no file")
  func clash() {
    var model = zooModel
    model.entities[0].fetchRequests = [FetchRequestDescription("named")]
    #expect(throws: GeneratorError.self) { try generate(model, modelFileName: "Zoo.model.json") }
  }

  @Test("a predicate that does not fit the model gives no file")
  func wrong() {
    var model = zooModel
    model.entities[1].fetchRequests = [FetchRequestDescription("wrong", predicate: "nmae == $name")]
    #expect(throws: GeneratorError.self) { try generate(model, modelFileName: "Zoo.model.json") }
    model.entities[1].fetchRequests = [FetchRequestDescription("wrong", sort: [.init("cage")])]
    #expect(throws: GeneratorError.self) { try generate(model, modelFileName: "Zoo.model.json") }
    model.entities[1].fetchRequests = [FetchRequestDescription("wrong", prefetch: ["name"])]
    #expect(throws: GeneratorError.self) { try generate(model, modelFileName: "Zoo.model.json") }
  }
}
