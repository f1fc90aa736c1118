import Testing
import TrellisModel
import TrellisRuntime
import TrellisTestSupport

@testable import TrellisDynamic
@testable import TrellisSync

/// A server and replicas that exchange one after the other.
private struct Office {
  let server: SyncStore
  let stores: [SyncStore]
  let replicas: [Replica]
  let transport: LocalTransport

  init(_ model: String = SyncModels.lists, _ count: Int = 2, policy: SyncPolicy = SyncPolicy()) throws {
    let model = SyncModels.model(model)
    server = try SyncStore(model)
    stores = try (0..<count).map { _ in try SyncStore(model) }
    replicas = try stores.map { try $0.replica() }
    transport = LocalTransport(to: try server.server(policy))
  }

  @discardableResult func exchange(_ number: Int) async throws -> ExchangeReport {
    try await replicas[number].exchange(with: transport)
  }

  func exchangeAll() async throws {
    for _ in 0..<2 { for number in replicas.indices { try await exchange(number) } }
  }

  /// Checks that all stores are equal, and obey their model.
  func expectEqual(_ comment: Comment? = nil) throws {
    let picture = try server.picture()
    for store in stores {
      let differences = try store.picture().differences(from: picture)
      #expect(differences == [], comment)
    }
    for store in stores + [server] {
      let findings = try store.findings()
      #expect(findings == [], comment)
    }
  }
}

@Suite("Exchanges of replicas") struct ExchangeTests {
  @Test("What one replica saves, the others show after their exchanges") func values() async throws {
    let office = try Office()
    try await office.exchangeAll()
    try office.stores[0].save { context in
      let list = try context.insert("List", ["name": .text("food")])
      for text in ["tea", "rice"] {
        let item = try context.insert("Item", ["text": .text(text)])
        try item.set("list", list)
      }
      let tag = try context.insert("Tag", ["name": .text("green")])
      try list.members("items")[0].add(tag, to: "tags")
    }
    try await office.exchangeAll()
    #expect(try office.stores[1].texts("Item", "text") == ["rice", "tea"])
    try office.expectEqual()

    try office.stores[1].edit("List") { try $0.set("name", .text("drinks")) }
    try office.stores[1].edit("List") { try $0.set("items", Array(try $0.members("items").reversed())) }
    try office.stores[0].edit("List") { try $0.set("total", .integer(7)) }
    try await office.exchangeAll()
    #expect(try office.server.texts("List") == ["drinks"])
    #expect(try office.server.texts("List", "total") == ["7"])
    try office.expectEqual()

    try office.stores[0].save { context in
      for list in try context.objects("List") { try context.delete(list) }
    }
    try await office.exchangeAll()
    #expect(try office.stores[1].texts("Item", "text").isEmpty)
    try office.expectEqual()
  }

  @Test("A store with objects joins, and is united by unique keys") func joining() async throws {
    let office = try Office()
    for (number, store) in office.stores.enumerated() {
      try store.save { context in
        let list = try context.insert("List", ["name": .text("list \(number)")])
        let item = try context.insert("Item", ["text": .text("item \(number)")])
        try item.set("list", list)
        let tag = try context.insert("Tag", ["name": .text("green")])
        try item.add(tag, to: "tags")
      }
    }
    try await office.exchangeAll()
    try office.expectEqual()
    #expect(try office.server.texts("Tag") == ["green"])
    #expect(try office.server.texts("List") == ["list 0", "list 1"])
  }

  @Test("The later of two changes of a property wins, and the other one is a conflict") func latest() async throws {
    let office = try Office()
    try office.stores[0].save { context in _ = try context.insert("List", ["name": .text("a")]) }
    try await office.exchangeAll()
    try office.stores[0].edit("List") { try $0.set("name", .text("early")) }
    try office.stores[1].edit("List") { try $0.set("name", .text("late")) }
    try await office.exchange(1)
    let report = try await office.exchange(0)
    try await office.exchangeAll()
    #expect(try office.server.texts("List") == ["late"])
    #expect(report.conflicts.map(\.losses.first?.reason) == [.overruled])
    #expect(try office.replicas[0].conflicts() == report.conflicts)
    try office.expectEqual()
  }

  @Test("What breaks rules together with the server's objects is refused and kept") func refusal() async throws {
    let office = try Office()
    try office.stores[0].save { context in
      let list = try context.insert("List", ["name": .text("a")])
      for number in 0..<4 { try context.insert("Item", ["text": .text("\(number)")]).set("list", list) }
    }
    try await office.exchangeAll()
    for (number, store) in office.stores.enumerated() {
      try store.save { context in
        let item = try context.insert("Item", ["text": .text("new \(number)")])
        try item.set("list", try context.objects("List")[0])
      }
    }
    try await office.exchange(0)
    let report = try await office.exchange(1)
    #expect(report.conflicts.map(\.reason) == [.brokenRules])
    try await office.exchangeAll()
    #expect(try office.server.texts("Item", "text") == ["0", "1", "2", "3", "new 0"])
    try office.expectEqual()
    let conflict = try #require(try office.replicas[1].conflicts().first)
    #expect(conflict.changes.objects.map(\.kind) == [.inserted])
    try office.replicas[1].remove(conflict)
    #expect(try office.replicas[1].conflicts().isEmpty)
  }

  @Test("A delete of what others have changed is refused") func deleting() async throws {
    let office = try Office()
    try office.stores[0].save { context in
      let list = try context.insert("List", ["name": .text("a")])
      try context.insert("Item", ["text": .text("i")]).set("list", list)
    }
    try await office.exchangeAll()
    try office.stores[0].edit("List") { try $0.set("name", .text("b")) }
    try office.stores[1].save { context in for list in try context.objects("List") { try context.delete(list) } }
    try await office.exchange(0)
    #expect(try await office.exchange(1).conflicts.map(\.reason) == [.changed])
    try await office.exchangeAll()
    #expect(try office.stores[1].texts("Item", "text") == ["i"])
    try office.expectEqual()
  }

  @Test("A change of what others have deleted is refused") func changingDeleted() async throws {
    let office = try Office()
    try office.stores[0].save { context in _ = try context.insert("List", ["name": .text("a")]) }
    try await office.exchangeAll()
    try office.stores[0].save { context in for list in try context.objects("List") { try context.delete(list) } }
    try office.stores[1].edit("List") { try $0.set("name", .text("b")) }
    try await office.exchange(0)
    #expect(try await office.exchange(1).conflicts.map(\.reason) == [.deleted])
    try await office.exchangeAll()
    #expect(try office.stores[1].texts("List").isEmpty)
    try office.expectEqual()
  }

  @Test("Both changes of a number count if the policy is a sum") func sums() async throws {
    var policy = SyncPolicy()
    policy["List.total"] = .sum
    let office = try Office(policy: policy)
    try office.stores[0].save { context in _ = try context.insert("List", ["name": .text("a"), "total": .integer(10)]) }
    try await office.exchangeAll()
    try office.stores[0].edit("List") { try $0.set("total", .integer(15)) }
    try office.stores[1].edit("List") { try $0.set("total", .integer(8)) }
    try await office.exchangeAll()
    #expect(try office.server.texts("List", "total") == ["13"])
    try office.expectEqual()
  }

  @Test("Contexts of the app merge what an exchange brings") func contexts() async throws {
    let office = try Office()
    try await office.exchangeAll()
    try office.stores[0].save { context in _ = try context.insert("List", ["name": .text("a")]) }
    try await office.exchangeAll()
    let context = office.stores[1].container.newContext()
    let list = try context.objects("List")[0]
    try office.stores[0].edit("List") { try $0.set("name", .text("b")) }
    try await office.exchangeAll()
    context.mergeChanges()
    #expect(try list.value("name") == .text("b"))
  }
}
