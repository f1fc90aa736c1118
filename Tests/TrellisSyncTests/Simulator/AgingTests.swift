import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import Trellis
@testable import TrellisDynamic
@testable import TrellisRuntime
@testable import TrellisStorage
@testable import TrellisSync

/// A way to a server that loses messages and answers.
private final class FlakyTransport: SyncTransport {
  struct Lost: Error {}

  private let server: SyncServer
  private let random: Locked<SeededGenerator>
  let messageSize: Int

  init(to server: SyncServer, _ sizes: MessageSizes, _ random: SeededGenerator) {
    self.server = server
    messageSize = sizes.part
    self.random = Locked(random)
  }

  func answer(to message: [UInt8]) async throws -> [UInt8] {
    let luck = random.withLock { $0.below(12) }
    if luck == 0 { throw Lost() }
    let answer = server.answer(to: message)
    if luck == 1 { throw Lost() }
    return answer
  }
}

/// Stores whose programs are updated one after the other, whose histories end, and whose exchanges break off.
@Suite("Simulated ages") struct AgingTests {
  /// The lists of the other tests, and what a later version adds to them.
  private static let newer = SyncModels.lists
    .replacing(
      "\"entities\": {",
      with: """
        "entities": {
          "Author": {
            "attributes": { "name": "string" },
            "relationships": { "lists": { "destination": "List", "inverse": "author", "toMany": true } }
          },
        """
    )
    .replacing(
      "\"name\": \"string\", \"total\"",
      with: "\"kind\": { \"type\": \"string\", \"default\": \"plain\" }, \"name\": \"string\", \"total\""
    )
    .replacing(
      "\"items\": { \"destination\": \"Item\", \"inverse\": \"list\"",
      with: """
        "author": { "destination": "Author", "inverse": "lists", "optional": true },
        "items": { "destination": "Item", "inverse": "list"
        """
    )
    .replacing("\"text\": \"string\",", with: "\"note\": \"string?\", \"text\": \"string\",")

  /// The same lists under other names, with one more value.
  private static let renamed = """
    {
      "model": "Lists", "history": "values",
      "entities": {
        "Page": {
          "renamedFrom": "List",
          "attributes": {
            "heading": { "type": "string", "renamedFrom": "name" },
            "name": { "type": "string", "default": "plain" },
            "total": { "type": "int64", "default": 0 }
          },
          "relationships": {
            "lines": { "destination": "Line", "inverse": "page", "toMany": true, "ordered": true, "deleteRule": "cascade",
                       "maxCount": 5, "renamedFrom": "items" }
          }
        },
        "Line": {
          "renamedFrom": "Item",
          "attributes": {
            "text": "string", "struck": { "type": "bool", "default": false, "renamedFrom": "done" },
            "image": { "type": "data?", "externalStorage": true, "renamedFrom": "picture" }
          },
          "relationships": {
            "page": { "destination": "Page", "inverse": "lines", "renamedFrom": "list" },
            "marks": { "destination": "Badge", "inverse": "lines", "toMany": true, "renamedFrom": "tags" },
            "person": { "destination": "Person", "inverse": "lines", "optional": true }
          }
        },
        "Badge": {
          "renamedFrom": "Tag",
          "attributes": { "color": "string?", "word": { "type": "string", "renamedFrom": "name" } },
          "unique": ["word"],
          "relationships": {
            "lines": { "destination": "Line", "inverse": "marks", "toMany": true, "renamedFrom": "items" }
          }
        },
        "Person": {
          "attributes": { "name": "string" },
          "relationships": {
            "lines": { "destination": "Line", "inverse": "person", "toMany": true, "deleteRule": "deny", "renamedFrom": "items" }
          }
        }
      }
    }
    """

  /// The same lists with less: an entity, its relationship, and attributes of each kind are removed.
  private static let lessened = """
    {
      "model": "Lists", "history": "values", "removed": ["Tag"],
      "entities": {
        "List": {
          "removed": ["total"], "attributes": { "name": "string" },
          "relationships": {
            "items": { "destination": "Item", "inverse": "list", "toMany": true, "ordered": true, "deleteRule": "cascade",
                       "maxCount": 5 }
          }
        },
        "Item": {
          "removed": ["done", "picture", "tags"], "attributes": { "note": "string?", "text": "string" },
          "relationships": {
            "list": { "destination": "List", "inverse": "items" },
            "person": { "destination": "Person", "inverse": "items", "optional": true }
          }
        },
        "Person": {
          "attributes": { "name": "string" },
          "relationships": {
            "items": { "destination": "Item", "inverse": "person", "toMany": true, "deleteRule": "deny" }
          }
        }
      }
    }
    """

  /// `TRELLIS_SYNC_AGES` sets the number of worlds, `TRELLIS_SYNC_SEED` the first seed.
  @Test("Replicas with a former model have what it has, and all are equal after the last update") func equal()
    async throws
  {
    let seed = TestSettings.seed("TRELLIS_SYNC_SEED")
    var (exchanges, broken, updates, forgotten, conflicts) = (0, 0, 0, 0, 0)
    for world in 0..<UInt64(TestSettings.number("TRELLIS_SYNC_AGES", or: 3)) {
      var random = SeededGenerator(seed: seed &+ world)
      let comment = Comment(rawValue: "TRELLIS_SYNC_SEED=\(seed &+ world)")
      let startsOld = random.below(2) == 0
      let newer = [Self.newer, Self.renamed, Self.lessened][random.below(3)]
      let server = try SyncStore(SyncModels.model(startsOld ? SyncModels.lists : newer))
      var isServerOld = startsOld
      let stores = try (0..<3).map { _ in try SyncStore(SyncModels.model(SyncModels.lists)) }
      var old: Set<Int> = [0, 1, 2]
      let partSize = random.below(2) == 0 ? 1 << 20 : 50 << random.below(6)
      let inline = random.below(2) == 0 ? 1 << 16 : random.below(10)
      let sizes = MessageSizes(part: random.below(2) == 0 ? 1 << 20 : 100 << random.below(5), inline: inline)
      for _ in 0..<60 {
        let number = random.below(3)
        let store = stores[number]
        switch random.below(12) {
        case 0 where isServerOld:
          try server.update(to: newer)
          isServerOld = false
        case 1 where !isServerOld && old.contains(number) && random.below(3) == 0:
          try store.update(to: newer)
          old.remove(number)
          updates += 1
        case 2:
          let container = random.below(2) == 0 ? server.container : store.container
          let saves = try container.history()
          if !saves.isEmpty {
            forgotten += try container.deleteHistory(before: saves[random.below(saves.count)].token)
          }
        case 3, 4: try edit(server, &random)
        case 5, 6, 7: try edit(store, &random)
        default:
          let transport = FlakyTransport(
            to: try server.server(partSize: partSize, inline: inline), sizes, SeededGenerator(seed: random.next()))
          do {
            conflicts += try await store.replica(skew: 0, sizes: sizes).exchange(with: transport).conflicts.count
            exchanges += 1
          } catch is FlakyTransport.Lost {
            broken += 1
          }
          #expect(try store.findings() == [], comment)
        }
      }
      for _ in 0..<2 {
        for store in stores {
          try await store.replica(skew: 0, sizes: sizes).exchange(
            with: LocalTransport(to: try server.server(partSize: partSize, inline: inline)))
        }
      }
      for number in old {
        try expectSame(stores[number], server, comment)
        if !isServerOld { try stores[number].update(to: newer) }
      }
      for store in stores {
        try await store.replica().exchange(with: LocalTransport(to: try server.server(partSize: partSize)))
      }
      let picture = try server.picture()
      for store in stores {
        let differences = try store.picture().differences(from: picture)
        #expect(differences == [], comment)
        #expect(try store.findings() == [], comment)
      }
      #expect(try server.findings() == [], comment)
    }
    print(
      "sync: \(exchanges) exchanges, \(broken) broken ones, \(updates) updates, \(forgotten) forgotten saves, "
        + "\(conflicts) conflicts")
  }

  private func edit(_ store: SyncStore, _ random: inout SeededGenerator) throws {
    let scribe = Scribe(store.container)
    for _ in 0..<(1 + random.below(4)) { try scribe.step(&random) }
    do { try scribe.context.save() } catch is ValidationError {}
  }

  /// Checks that a store has what the server has, as far as its model has it.
  private func expectSame(_ store: SyncStore, _ server: SyncStore, _ comment: Comment) throws {
    let match = ModelMatch(from: store.container.model, to: server.container.model)
    let expected = try server.picture().named(by: match)
    #expect(try store.picture().kept(by: match).differences(from: expected) == [], comment)
  }
}
