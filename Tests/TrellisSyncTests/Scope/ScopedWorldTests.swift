import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisDynamic
@testable import TrellisRuntime
@testable import TrellisSync

/// Replicas with scopes of random shapes, and random changes on all sides.
@Suite("Scopes under random changes") struct ScopedWorldTests {
  private struct World {
    let server: SyncStore
    let sync: SyncServer
    let scopes: [String: SyncScope]
    let sizes: MessageSizes
    var stores: [SyncStore] = []
    var names: [String] = []
    var random: SeededGenerator

    init(_ text: String, _ scopes: [String: SyncScope], seed: UInt64, _ kind: StoreKind) throws {
      let model = SyncModels.model(text)
      server = try SyncStore(model, kind)
      self.scopes = scopes
      random = SeededGenerator(seed: seed)
      sizes = MessageSizes(
        part: random.below(2) == 0 ? 1 << 20 : 100 << random.below(6),
        inline: random.below(2) == 0 ? 1 << 16 : random.below(10))
      sync = try SyncServer(
        server.container, policy: SyncPolicy(), scopes: { request, _ in scopes[request?.name ?? ""] }, sizes: sizes
      ) {
        Date().microseconds
      }
      for _ in 0..<3 {
        stores.append(try SyncStore(model))
        names.append("")
      }
      for number in stores.indices { names[number] = name() }
    }

    mutating func name() -> String { scopes.keys.sorted()[random.below(scopes.count)] }

    mutating func edit(_ container: PersistentContainer) throws {
      let scribe = Scribe(container)
      for _ in 0..<(1 + random.below(4)) { try scribe.step(&random) }
      // What breaks rules is not saved.
      if scribe.context.hasChanges { try? scribe.context.save() }
    }

    func exchange(_ number: Int) async throws {
      let replica = try Replica(
        stores[number].container, scope: SyncScope.Request(names[number]), sizes: sizes, skew: { 0 })
      try await replica.exchange(with: LocalTransport(to: sync))
    }

    /// Checks that a replica has what is in its scope, and nothing else.
    func differences(_ number: Int) throws -> [String] {
      let context = server.container.newContext()
      let contents = try scopes[names[number]].flatMap { try ResolvedScope($0, in: context) }?.contents(in: context)
      let expected = try StorePicture(context) { contents?.contains($0) ?? true }
      return try stores[number].picture().differences(from: expected)
    }
  }

  private func run(
    _ text: String, _ scopes: [String: SyncScope], seed: UInt64, steps: Int, _ kind: StoreKind
  ) async throws {
    var world = try World(text, scopes, seed: seed, kind)
    for step in 0..<steps {
      let number = world.random.below(world.stores.count)
      switch world.random.below(10) {
      case 0..<3: try world.edit(world.server.container)
      case 3..<6: try world.edit(world.stores[number].container)
      case 6 where world.random.below(4) == 0: world.names[number] = world.name()
      default:
        try await world.exchange(number)
        let findings = try world.stores[number].findings()
        #expect(findings == [], "seed \(seed), step \(step), \(world.names[number])")
        let differences = try world.differences(number)
        #expect(differences == [], "seed \(seed), step \(step), \(world.names[number])")
        if !findings.isEmpty || !differences.isEmpty { return }
      }
    }
    for number in world.stores.indices {
      try await world.exchange(number)
      #expect(try world.differences(number) == [], "seed \(seed), at last, \(world.names[number])")
    }
    #expect(try world.server.findings() == [], "seed \(seed)")
  }

  private static let settings = (
    steps: TestSettings.number("TRELLIS_SYNC_STEPS", or: 600), seed: TestSettings.seed("TRELLIS_SYNC_SEED")
  )

  @Test("Each replica has its part of the server after each exchange, and obeys the model", arguments: 0..<4)
  func parts(_ episode: Int) async throws {
    let seed = Self.settings.seed &+ UInt64(episode)
    let steps = Self.settings.steps / 8
    let kinds = StoreKind.withHistory
    let kind = kinds[episode / 2 % kinds.count]
    func scope(_ parts: [(String, String?)]) -> SyncScope {
      SyncScope(parts.map { (entity: $0.0, format: $0.1, arguments: []) })
    }
    if episode % 2 == 0 {
      try await run(
        SyncModels.lists,
        [
          "done": scope([("Item", "done == YES")]), "tags": scope([("Tag", nil), ("List", "total > 30")]),
          "lists": scope([("List", "items.@count > 1"), ("Item", "person != NIL"), ("Tag", "name < 'text 30'")]),
          "all": .everything,
        ], seed: seed, steps: steps, kind)
    } else {
      try await run(
        SyncModels.shapes,
        [
          "places": scope([("Place", "visits > 20"), ("Note", nil)]),
          "people": scope([("Person", nil), ("Place", "owner != NIL"), ("Visit", "place != NIL")]),
          "players": scope([("Player", "number > 20"), ("Guide", nil), ("Place", "ANY visitors.name > 'text 3'")]),
          "all": .everything,
        ], seed: seed, steps: steps, kind)
    }
  }

  /// A course needs two of its many places, and a place its course.
  private static let counts = """
    {
      "model": "Counts", "history": "values",
      "entities": {
        "Course": {
          "attributes": { "name": "string", "level": { "type": "int64", "default": 0 } },
          "relationships": {
            "seats": { "destination": "Seat", "inverse": "course", "toMany": true, "deleteRule": "cascade", "minCount": 1 },
            "teachers": { "destination": "Teacher", "inverse": "courses", "toMany": true, "minCount": 1, "ordered": true },
            "rooms": { "destination": "Room", "inverse": "courses", "toMany": true, "minCount": 2, "optional": true }
          }
        },
        "Seat": {
          "attributes": { "number": "int64" },
          "relationships": { "course": { "destination": "Course", "inverse": "seats" } }
        },
        "Teacher": {
          "attributes": { "name": "string" },
          "relationships": { "courses": { "destination": "Course", "inverse": "teachers", "toMany": true } }
        },
        "Room": {
          "attributes": { "name": "string" },
          "relationships": { "courses": { "destination": "Course", "inverse": "rooms", "toMany": true } }
        }
      }
    }
    """

  @Test("Objects in a scope have at least as many members as the model wants") func minimumCounts() async throws {
    let model = SyncModels.model(Self.counts)
    let (server, phone) = (try SyncStore(model), try SyncStore(model))
    try server.save { context in
      let teachers = try ["ada", "bo"].map { try context.insert("Teacher", ["name": .text($0)]) }
      let rooms = try ["r", "s", "t"].map { try context.insert("Room", ["name": .text($0)]) }
      for level in 0..<3 {
        let course = try context.insert("Course", ["name": .text("c\(level)"), "level": .integer(Int64(level))])
        try context.insert("Seat", ["number": .integer(Int64(level))]).set("course", course)
        try course.set("teachers", level == 2 ? [teachers[0]] : teachers)
        if level > 0 { try course.set("rooms", Array(rooms.suffix(2))) }
      }
    }
    let scope = SyncScope([(entity: "Course", format: "level > 0", arguments: [])])
    let sync = try SyncServer(server.container, scopes: { _, _ in scope })
    for _ in 0..<2 {
      try await Replica(phone.container, scope: "x").exchange(with: LocalTransport(to: sync))
      #expect(try phone.findings() == [])
      try server.edit("Course", "c2") { try $0.set("level", .integer(0)) }
    }
    #expect(try phone.texts("Course") == ["c1"])
    #expect(try phone.texts("Seat", "number") == ["1"])
    #expect(try phone.texts("Teacher") == ["ada", "bo"])
    #expect(try phone.texts("Room") == ["s", "t"])
  }
}
