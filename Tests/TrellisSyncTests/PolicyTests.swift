import Testing
import TrellisModel
import TrellisRuntime
import TrellisTestSupport

@testable import TrellisDynamic
@testable import TrellisSync

@Suite("Policies of a model and of a server's program") struct PolicyTests {
  private static let accounts = """
    {
      "model": "Accounts", "history": "values",
      "composites": { "Money": { "attributes": {
        "amount": { "type": "decimal", "default": 0, "sync": { "conflict": "sum" } },
        "currency": { "type": "string", "default": "KRW" } } } },
      "entities": {
        "Account": {
          "attributes": {
            "name": "string", "balance": { "type": "decimal", "sync": { "conflict": "sum" } },
            "small": { "type": "int16", "default": 0, "sync": { "conflict": "sum" } },
            "limit": { "type": "int64", "default": 0, "sync": { "conflict": "server" } }, "note": "string?", "gift": "Money",
            "day": { "type": "date", "default": "2026-01-01" }
          },
          "relationships": {
            "owner": { "destination": "Owner", "inverse": "account", "optional": true },
            "bank": { "destination": "Bank", "inverse": "accounts", "optional": true, "sync": { "conflict": "latest" } }
          },
          "sync": { "conflict": "replica" }
        },
        "Savings": { "parent": "Account", "sync": { "conflict": "server" } },
        "Owner": {
          "relationships": {
            "account": { "destination": "Account", "inverse": "owner", "optional": true, "sync": { "conflict": "server" } }
          }
        },
        "Bank": { "relationships": { "accounts": { "destination": "Account", "inverse": "bank", "toMany": true } } }
      }
    }
    """

  @Test("A name in the program's policy counts first, then the model's word of the property, then that of the entity")
  func order() throws {
    let model = try Model(SyncModels.description(Self.accounts))
    func decision(_ policy: SyncPolicy, _ entity: String, _ property: String) throws -> SyncDecision {
      let entity = try #require(model.entity(named: entity))
      return policy.decision(entity.index, try #require(entity.property(named: property)), in: model)
    }
    var policy = SyncPolicy(.latest)
    #expect(try decision(policy, "Account", "balance") == .sum)
    #expect(try decision(policy, "Account", "limit") == .server)
    #expect(try decision(policy, "Account", "note") == .replica)
    #expect(try decision(policy, "Account", "gift.amount") == .sum)
    #expect(try decision(policy, "Account", "gift.currency") == .replica)
    #expect(try decision(policy, "Account", "bank") == .latest)
    #expect(try decision(policy, "Account", "owner") == .server)
    #expect(try decision(policy, "Savings", "note") == .server)
    #expect(try decision(policy, "Savings", "balance") == .sum)
    policy["Account.note"] = .latest
    policy["Account.limit"] = .sum
    #expect(try decision(policy, "Account", "note") == .latest)
    #expect(try decision(policy, "Savings", "note") == .latest)
    #expect(try decision(policy, "Account", "limit") == .sum)
    policy["Savings"] = .replica
    #expect(try decision(policy, "Savings", "balance") == .replica)
    let plain = try Model(SyncModels.description(SyncModels.lists))
    let list = try #require(plain.entity(named: "List"))
    let name = try #require(list.property(named: "name"))
    #expect(SyncPolicy(.server).decision(list.index, name, in: plain) == .server)
  }

  /// Changes an account at a server and on a replica that does not know it yet.
  private func run(
    _ values: [String: StoredValue], _ there: [String: StoredValue], _ here: [String: StoredValue],
    _ policy: SyncPolicy = SyncPolicy()
  ) async throws -> (account: [String: StoredValue], conflicts: [SyncConflict]) {
    let model = SyncModels.model(Self.accounts)
    let (server, phone) = (try SyncStore(model), try SyncStore(model))
    let transport = LocalTransport(to: try server.server(policy))
    let new: [String: StoredValue] = ["name": .text("a"), "balance": .text("0")]
    try server.save { context in _ = try context.insert("Account", new.merging(values) { _, new in new }) }
    try await phone.replica().exchange(with: transport)
    try phone.edit("Account") { account in for (name, value) in here { try account.set(name, value) } }
    try server.edit("Account") { account in for (name, value) in there { try account.set(name, value) } }
    let conflicts = try await phone.replica().exchange(with: transport).conflicts
    #expect(try phone.picture().differences(from: server.picture()) == [])
    let context = server.container.newContext()
    var found: [String: StoredValue] = [:]
    for object in try context.objects("Account") { for name in here.keys { found[name] = try object.value(name) } }
    return (found, conflicts)
  }

  @Test("Both changes of a number count, whatever its type, if the model says so") func sums() async throws {
    let result = try await run(
      ["balance": .text("10.10"), "small": .integer(5), "gift.amount": .text("1")],
      ["balance": .text("9.85"), "small": .integer(4), "gift.amount": .text("3")],
      ["balance": .text("10.2"), "small": .integer(9), "gift.amount": .text("0.5")])
    #expect(result.account == ["balance": .text("9.95"), "small": .integer(8), "gift.amount": .text("2.5")])
    #expect(result.conflicts.isEmpty)
  }

  @Test("Two equal changes of a number count twice") func equalSums() async throws {
    let result = try await run(["small": .integer(10)], ["small": .integer(9)], ["small": .integer(9)])
    #expect(result.account == ["small": .integer(8)])
    #expect(result.conflicts.isEmpty)
  }

  @Test("A sum that the type does not have is decided as the later change") func tooLarge() async throws {
    let result = try await run(["small": .integer(0)], ["small": .integer(32_000)], ["small": .integer(1_000)])
    #expect([.integer(32_000), .integer(1_000)].contains(result.account["small"]))
    #expect(result.conflicts.allSatisfy { $0.reason == nil })
  }

  @Test("What is no number has no sum, although it is stored as one") func dates() async throws {
    let day = Int64(86_400_000_000)
    var policy = SyncPolicy()
    policy["Account"] = .sum
    let result = try await run(
      ["day": .integer(10 * day)], ["day": .integer(12 * day)], ["day": .integer(13 * day)], policy)
    #expect([.integer(12 * day), .integer(13 * day)].contains(result.account["day"]))
  }

  @Test("The words of an entity decide about its properties") func entities() async throws {
    let result = try await run(
      ["note": .text("old"), "limit": .integer(1)], ["note": .text("server"), "limit": .integer(2)],
      ["note": .text("phone"), "limit": .integer(3)])
    #expect(result.account == ["note": .text("phone"), "limit": .integer(2)])
    #expect(result.conflicts.flatMap(\.losses).map(\.property) == ["limit"])
  }
}
