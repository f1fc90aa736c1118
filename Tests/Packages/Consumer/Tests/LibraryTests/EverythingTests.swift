import Foundation
import Library
import Testing
import Trellis

@Suite("A package that depends on Trellis") final class EverythingTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "consumer-\(UUID().uuidString)")
  private var file: URL { folder.appending(path: "store.db") }

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func open() throws -> ManagedObjectContext {
    try PersistentContainer(model: .everything, store: .sqlite(at: file)).newContext()
  }

  @Test("every attribute type comes back from the file as it was")
  func attributes() throws {
    let token = UUID()
    let link = try #require(URL(string: "https://example.com/산책?a=b"))
    let amount = try #require(Decimal(string: "12345678901234567890.123456789"))
    do {
      let context = try open()
      let sample = Sample(
        in: context, text: "한글 e\u{301} 👩‍👩‍👧", flag: true, small: .min, medium: .max, large: .min, single: 1.5,
        precise: .pi, amount: amount, moment: Date(timeIntervalSince1970: 1.234567), bytes: Data([0, 1, 255]),
        token: token, link: link, color: .blue, level: .high, words: ["a", "", "\"\\"], numbers: [1, -2],
        address: Address(street: "Main", city: "Seoul"))
      sample.note = "not stored"
      try context.save()
    }
    let sample = try #require(try open().first(Sample.where { $0.token == token }))
    #expect(sample.text.utf8.elementsEqual("한글 e\u{301} 👩‍👩‍👧".utf8))
    #expect(sample.flag && sample.small == .min && sample.medium == .max && sample.large == .min)
    #expect(sample.single == 1.5 && sample.precise == .pi && sample.amount == amount)
    #expect(abs(sample.moment.timeIntervalSince1970 - 1.234567) < 1e-7)
    #expect(sample.bytes == Data([0, 1, 255]) && sample.link == link)
    #expect(sample.color == .blue && sample.level == .high)
    #expect(sample.words == ["a", "", "\"\\"] && sample.numbers == [1, -2])
    #expect(sample.address == Address(street: "Main", city: "Seoul"))
    #expect(sample.note == "" && sample.switch == "a keyword as a name")
    #expect(sample.maybeText == nil && sample.maybeAmount == nil && sample.maybeColor == nil)
  }

  @Test("every shape of a relationship comes back from the file as it was")
  func relationships() throws {
    do {
      let context = try open()
      let ada = Person(in: context, name: "Ada")
      let bob = Person(in: context, name: "Bob")
      let cid = Person(in: context, name: "Cid")
      ada.spouse = bob
      ada.students = [bob, cid]
      ada.friends = [cid]
      ada.passport = Passport(in: context, number: "P1")
      for title in ["one", "two", "three"] { ada.books.append(Book(in: context, title: title)) }
      ada.books.move(from: 2, to: 0)
      let chess = Club(in: context, name: "chess")
      chess.members = [cid, ada, bob]
      chess.animals = [
        Dog(in: context, name: "Rex", breed: "Collie"), Cat(in: context, name: "Tom"),
        Puppy(in: context, name: "Pip", weeks: 3),
      ]
      try context.save()
    }
    let context = try open()
    let ada = try #require(try context.first(Person.where { $0.name == "Ada" }))
    let bob = try #require(try context.first(Person.where { $0.name == "Bob" }))
    #expect(ada.spouse === bob && bob.spouse === ada && bob.mentor === ada)
    #expect(Set(ada.students.map(\.name)) == ["Bob", "Cid"])
    #expect(ada.friends.map(\.name) == ["Cid"] && ada.friends.first?.friends.first === ada)
    #expect(ada.passport?.number == "P1" && ada.passport?.holder === ada)
    #expect(ada.books.map(\.title) == ["three", "one", "two"])
    let chess = try #require(ada.clubs.first)
    #expect(chess.members.map(\.name) == ["Cid", "Ada", "Bob"])
    let animals = try context.fetch(Animal.all.sorted { $0.name.ascending })
    #expect(animals.map(\.name) == ["Pip", "Rex", "Tom"])
    #expect(animals[0] is Puppy && animals[1] is Dog && !(animals[1] is Puppy) && animals[2] is Cat)
    #expect(try context.fetch(Dog.where { $0.breed == "Collie" }).map(\.name) == ["Rex"])
    #expect(try context.fetch(Dog.where { $0.club.name == "chess" }).count == 2)
  }

  @Test("deleting carries out the rules in the file")
  func deleting() throws {
    let context = try open()
    let ada = Person(in: context, name: "Ada")
    ada.passport = Passport(in: context, number: "P1")
    ada.books = [Book(in: context, title: "one")]
    ada.friends = [Person(in: context, name: "Bob")]
    try context.save()
    try context.delete(ada)
    try context.save()
    let other = try open()
    #expect(try other.count(Passport.all) == 0 && other.count(Book.all) == 0)
    #expect(try other.fetch(Person.all).map(\.name) == ["Bob"])
    #expect(try other.fetch(Person.all).first?.friends.isEmpty == true)
  }

  @Test("a broken rule names the object and the property, and nothing is saved")
  func validation() throws {
    let context = try open()
    _ = Club(in: context, name: "empty")
    _ = Person(in: context, name: "")
    _ = Passport(in: context, number: "P")
    let error = #expect(throws: ValidationError.self) { try context.save() }
    #expect(
      Set(error?.failures.map { "\($0.entity).\($0.property)" } ?? []) == [
        "Club.members", "Person.name", "Passport.holder",
      ])
    #expect(try open().count(Club.all) == 0)
  }
}
