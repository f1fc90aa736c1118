import Testing
import Trellis

@Suite("Partners that were both deleted, one after the other, and come back") struct UndeletePartnerTests {
  /// A relationship between two or three objects: how it is made, and how it reads.
  struct Shape: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let link: @Sendable ([Person], [Car]) -> Void

    static let all = [
      Shape(testDescription: "own inverse") { people, _ in people[0].spouse = people[1] },
      Shape(testDescription: "one-to-one") { people, cars in
        people[0].car = cars[0]
        cars[1].driver = people[1]
      },
      Shape(testDescription: "ordered children") { people, _ in
        people[0].children = [people[1], people[2]]
      },
      Shape(testDescription: "friends") { people, _ in
        people[0].friends = [people[1], people[2]]
        people[1].friends.append(people[2])
      },
      Shape(testDescription: "everything") { people, cars in
        people[2].spouse = people[0]
        people[0].car = cars[1]
        people[1].children = [people[2], people[0]]
        people[2].friends = [people[1]]
      },
    ]
  }

  private func picture(_ people: [Person], _ cars: [Car]) -> [String] {
    people.map { person in
      let lists = [person.children.map(\.name).sorted(), person.friends.map(\.name).sorted()]
      return
        "\(person.name): \(person.spouse?.name ?? "-") \(person.car?.name ?? "-") \(person.parent?.name ?? "-") \(lists)"
    } + cars.map { "\($0.name): \($0.driver?.name ?? "-")" }
  }

  @Test(
    "are partners again, in whatever order they come back", arguments: Shape.all, [false, true])
  func anyOrder(_ shape: Shape, isSaved: Bool) throws {
    for order in 0..<36 {
      let container = try PersistentContainer(model: .rivals, store: .memory) { _ in }
      let context = container.newContext()
      let people = ["a", "b", "c"].map { Person(in: context, name: $0) }
      let cars = ["v", "w"].map { Car(in: context, name: $0) }
      shape.link(people, cars)
      let before = picture(people, cars)
      if isSaved { try context.save() }
      for place in Self.permutation(order / 6) { try context.delete(people[place]) }
      for car in cars { try context.delete(car) }
      for car in order.isMultiple(of: 2) ? cars : [] { context.undelete(car) }
      for place in Self.permutation(order % 6) { context.undelete(people[place]) }
      for car in cars { context.undelete(car) }
      #expect(picture(people, cars) == before, "order \(order)")
      try context.save()
      let reader = container.newContext()
      let stored = picture(
        try reader.fetch(Person.all.sorted { $0.name }), try reader.fetch(Car.all.sorted { $0.name }))
      #expect(stored == before, "order \(order), in the store")
      #expect(try container.check() == [])
    }
  }

  private static func permutation(_ number: Int) -> [Int] {
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]][number]
  }

  @Test("a member of a one-way to-many comes back before its owner")
  func oneWay() throws {
    let container = try PersistentContainer(model: .rivals, store: .memory) { _ in }
    let context = container.newContext()
    let person = Person(in: context, name: "p")
    let medals = ["1", "2", "3"].map { Medal(in: context, name: $0) }
    try context.save()
    person.shelf = OrderedToMany(medals)
    try context.delete(medals[1])
    try context.delete(person)
    context.undelete(medals[1])
    context.undelete(person)
    #expect(person.shelf.map(\.name) == ["1", "2", "3"])
    try context.save()
    let reader = container.newContext()
    #expect(try reader.first(Person.all)?.shelf.map(\.name) == ["1", "2", "3"])
  }

  @Test("one that is back alone has no partner, and may take another one")
  func alone() throws {
    let container = try PersistentContainer(model: .rivals, store: .memory) { _ in }
    let context = container.newContext()
    let people = ["a", "b", "c"].map { Person(in: context, name: $0) }
    people[0].spouse = people[1]
    try context.save()
    try context.delete(people[0])
    try context.delete(people[1])
    context.undelete(people[0])
    #expect(people[0].spouse == nil)
    people[0].spouse = people[2]
    context.undelete(people[1])
    #expect(people[0].spouse === people[2] && people[1].spouse == nil && people[2].spouse === people[0])
    try context.save()
    #expect(try container.check() == [])
    try context.delete(people[0])
    try context.delete(people[2])
    context.undelete(people[0])
    try context.save()
    #expect(people[0].spouse == nil)
    #expect(try container.check() == [])
  }
}
