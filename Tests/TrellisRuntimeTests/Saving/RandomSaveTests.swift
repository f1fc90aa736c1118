import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Saves of contexts that are in each other's way") struct RandomSaveTests {
  /// `TRELLIS_SAVE_RUNS` makes it longer, `TRELLIS_SAVE_SEED` plays one run again.
  static var seeds: [UInt64] {
    if let seed: UInt64 = TestSettings.number("TRELLIS_SAVE_SEED") { return [seed] }
    return Array(1...TestSettings.number("TRELLIS_SAVE_RUNS", or: 12))
  }

  @Test("end as saved and right, as a conflict or as a broken rule, whoever did what", arguments: seeds)
  func alternating(seed: UInt64) throws {
    LinkFindings.demandNone()
    try SaveRun(seed: seed).run(rounds: 12)
  }

  @Test("do so when many save at once", arguments: StoreKind.inPlace)
  func atOnce(_ kind: StoreKind) async throws {
    let rounds = TestSettings.number("TRELLIS_SAVE_ROUNDS", or: 15)
    let file = TemporaryFile()
    let store: StoreConfiguration =
      kind == .memory ? .memory(named: UUID().uuidString) : .sqlite(at: file.url, durability: .relaxed)
    let container = try PersistentContainer(model: .rivals, store: store) { _ in }
    try RandomPeople(seed: 1).fill(container.newContext())
    try await LinkFindings.ignore { try await saveAtOnce(container, store, rounds) }
    #expect(try container.faults() == [])
  }

  private func saveAtOnce(_ container: PersistentContainer, _ store: StoreConfiguration, _ rounds: Int) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 1...4 {
        // Two of them hear of each other.
        let own = writer < 3 ? container : try PersistentContainer(model: .rivals, store: store) { _ in }
        group.addTask {
          var people = RandomPeople(seed: UInt64(writer))
          for _ in 0..<rounds {
            let context = own.newContext()
            for _ in 0..<3 {
              for _ in 0..<3 { try people.change(context) }
              try people.save(context, "writer \(writer)")
              await Task.yield()
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

extension PersistentContainer {
  /// What is wrong in the store. Members that several writers have put at one place are not: their age decides.
  fileprivate func faults() throws -> [String] {
    try check().map(\.description)
  }
}

/// Two or three contexts of one store, in two containers, that have unsaved changes at once.
private struct SaveRun {
  private let seed: UInt64
  private let file = TemporaryFile()
  private let containers: [PersistentContainer]
  private var contexts: [ManagedObjectContext]
  private var people: RandomPeople

  init(seed: UInt64) throws {
    self.seed = seed
    people = RandomPeople(seed: seed)
    let file = file
    let store: StoreConfiguration =
      seed.isMultiple(of: 2) ? .memory(named: UUID().uuidString) : .sqlite(at: file.url, durability: .relaxed)
    containers = try (0..<2).map { _ in try PersistentContainer(model: .rivals, store: store) { _ in } }
    contexts = [containers[0].newContext(), containers[1].newContext()]
    if seed % 3 == 0 { contexts.append(containers[0].newContext()) }
    try people.fill(contexts[0])
  }

  func run(rounds: Int) throws {
    var run = self
    for round in 0..<rounds {
      for context in contexts { for _ in 0..<run.people.upTo(3) { try run.people.change(context) } }
      for number in contexts.indices.shuffled(using: &run.people.generator) {
        try run.people.save(contexts[number], "seed \(seed), round \(round), context \(number)")
        let findings = try containers[0].faults()
        #expect(findings == [], "seed \(seed), round \(round), context \(number)")
        if !findings.isEmpty { return }
      }
    }
  }
}

/// People, and what they do by chance.
private struct RandomPeople {
  var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func upTo(_ most: Int) -> Int { Int.random(in: 0...most, using: &generator) }
  private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &generator) == 0 }

  func fill(_ context: ManagedObjectContext) throws {
    for number in 0..<5 { _ = Person(in: context, name: "\(number)", nick: "\(number)") }
    for number in 0..<3 {
      _ = Car(in: context, name: "\(number)")
      _ = Hobby(in: context, name: "\(number)")
      _ = Medal(in: context, name: "\(number)")
    }
    _ = Door(in: context, garage: Garage(in: context))
    try context.save()
  }

  /// Saves under a policy by chance; what is refused is settled in one way or another.
  mutating func save(_ context: ManagedObjectContext, _ place: String) throws {
    let policy = MergePolicy.allCases[upTo(4)]
    do {
      do {
        try context.save(mergePolicy: policy)
      } catch is ValidationError where chance(2) {
        try context.saveValidChanges(mergePolicy: policy)
      }
    } catch is ValidationError {
      if chance(2) { context.rollback() }
    } catch is SaveConflict {
      if chance(2) { context.rollback() }
    } catch let error as StoreError where error.code == .contended {
      context.rollback()
    } catch {
      Issue.record("\(place), \(policy): \(error)")
      context.reset()
    }
  }

  private mutating func one<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, _ context: ManagedObjectContext
  ) throws -> Columns.Object? {
    try context.fetch(request).randomElement(using: &generator)
  }

  private mutating func some<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, _ context: ManagedObjectContext
  ) throws -> [Columns.Object] {
    Array(try context.fetch(request).shuffled(using: &generator).prefix(upTo(3)))
  }

  mutating func change(_ context: ManagedObjectContext) throws {
    let person = try one(Person.all, context) ?? Person(in: context, name: "new")
    switch upTo(25) {
    case 0: person.name = "\(upTo(99))"
    case 1, 2: person.nick = chance(4) ? nil : "\(upTo(5))"
    case 3, 4: person.spouse = chance(4) ? nil : try one(Person.all, context)
    case 5, 6: person.car = chance(4) ? nil : try one(Car.all, context)
    case 7: try one(Car.all, context)?.driver = person
    case 8, 9: person.parent = chance(4) ? nil : try one(Person.all, context)
    case 10: person.children = OrderedToMany(try some(Person.all, context))
    case 11: person.boss = chance(3) ? nil : try one(Person.all, context)
    case 12: person.friends = ToMany(try some(Person.all, context))
    case 13: person.hobbies = OrderedToMany(try some(Hobby.all, context))
    case 14: person.medals = ToMany(try some(Medal.all, context))
    case 15: person.shelf = OrderedToMany(try some(Medal.all, context))
    case 16: person.pride = chance(3) ? nil : try one(Medal.all, context)
    case 17: try one(Car.all, context)?.garage = chance(3) ? nil : try one(Garage.all, context)
    case 18: try one(Garage.all, context)?.door = try one(Door.all, context)
    case 19: _ = Person(in: context, name: "new", nick: "\(upTo(5))", parent: person)
    case 20: Person(in: context, name: "new").spouse = person
    case 21: _ = Door(in: context, garage: Garage(in: context))
    case 22: try replace(context)
    default: try delete(context)
    }
  }

  private mutating func replace(_ context: ManagedObjectContext) throws {
    _ = Car(in: context, driver: try one(Person.all, context))
    _ = Medal(in: context)
    try one(Hobby.all, context)?.people = ToMany(try some(Person.all, context))
  }

  private mutating func delete(_ context: ManagedObjectContext) throws {
    let victim: ManagedObject? =
      switch upTo(6) {
      case 0...2: try one(Person.all, context)
      case 3: try one(Car.all, context)
      case 4: try one(Garage.all, context)
      case 5: try one(Medal.all, context)
      default: try one(Hobby.all, context)
      }
    guard let victim else { return }
    try context.delete(victim)
    if chance(4) { context.undelete(victim) }
  }
}
