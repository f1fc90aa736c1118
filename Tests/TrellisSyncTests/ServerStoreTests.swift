import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@testable import TrellisDynamic
@testable import TrellisSync

@Suite("Servers on every kind of store") struct ServerStoreTests {
  @Test("Replicas of a server on any store with a history are equal", arguments: StoreKind.withHistory)
  func equal(_ kind: StoreKind) async throws {
    let model = SyncModels.model(SyncModels.lists)
    let server = try SyncStore(model, kind)
    let stores = [try SyncStore(model), try SyncStore(model)]
    let transport = LocalTransport(to: try server.server())
    for (number, store) in stores.enumerated() {
      try store.save { context in
        let list = try context.insert("List", ["name": .text("list \(number)")])
        let tag = try context.insert("Tag", ["name": .text("tag")])
        for text in ["one", "two"] {
          let item = try context.insert("Item", ["text": .text(text)])
          try item.set("list", list)
          try item.add(tag, to: "tags")
        }
      }
    }
    func exchange() async throws {
      for store in stores + stores { try await store.replica().exchange(with: transport) }
    }
    try await exchange()
    try stores[0].edit("Tag") { try $0.set("color", .text("red")) }
    try stores[1].edit("Tag") { try $0.set("color", .text("blue")) }
    try stores[1].save { context in
      let list = try context.objects("List")[0]
      try list.set("items", Array(try list.members("items").reversed()))
    }
    try server.edit("List", "list 0") { try $0.set("total", .integer(4)) }
    try await exchange()
    let picture = try server.picture()
    #expect(try server.texts("Tag", "color") == ["blue"])
    for store in stores {
      let differences = try store.picture().differences(from: picture)
      #expect(differences == [])
    }
    for store in stores + [server] {
      let findings = try store.findings()
      #expect(findings == [])
    }
  }

  @Test("Keys of other stores are a finding unless the store is one of a replica set", arguments: StoreKind.withHistory)
  func keys(_ kind: StoreKind) throws {
    let store = try SyncStore(SyncModels.model(SyncModels.lists), kind)
    let tag = try #require(store.container.model.entity(named: "Tag"))
    let name = try #require(tag.property(named: "name")?.index)
    try store.save { context in
      _ = try GraphWriter(context).insert(7 * KeyReservation.replicaSpace + 1, tag.index, [(name, .text("a"))])
    }
    let findings = try store.container.check()
    #expect(findings.map(\.code) == [.unreservedKey])
    _ = try store.server().register(RegisterRequest(identity: "a", model: store.container.model.checksum))
    #expect(try store.findings() == [])
  }
}
