import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisDynamic
@testable import TrellisRuntime
@testable import TrellisStorage
@testable import TrellisSync

/// A server, a replica that has registered, and a context of the replica from before the registration.
private struct Scene {
  let server: SyncStore
  let phone: SyncStore
  let transport: LocalTransport
  let context: ManagedObjectContext

  init() async throws {
    let model = SyncModels.model(SyncModels.lists)
    (server, phone) = (try SyncStore(model), try SyncStore(model))
    transport = LocalTransport(to: try server.server())
    context = phone.container.newContext()
    // The context has taken keys for further objects.
    let tags = try (0..<9).map { try context.insert("Tag", ["name": .text("early \($0)")]) }
    for tag in tags.dropFirst() { try context.delete(tag) }
    try context.save()
    try await exchange()
  }

  @discardableResult func exchange() async throws -> ExchangeReport {
    try await phone.replica().exchange(with: transport)
  }

  func expectEqual() throws {
    let differences = try phone.picture().differences(from: server.picture())
    #expect(differences == [])
    #expect(try phone.findings() == [] && server.findings() == [])
    let number = try phone.replica().state().record?.number
    for key in try server.picture().objects.keys { #expect(key / KeyReservation.replicaSpace == number) }
  }
}

@Suite("Objects with keys from before the registration") struct ForeignKeyTests {
  @Test("They are sent under keys of the replica, with their links") func sent() async throws {
    let scene = try await Scene()
    let list = try scene.context.insert("List", ["name": .text("list")])
    let item = try scene.context.insert("Item", ["text": .text("item")])
    try item.set("list", list)
    #expect(list.key < KeyReservation.replicaSpace)
    try scene.context.save()
    try scene.phone.edit("List") { try $0.set("total", .integer(3)) }
    try scene.phone.save { context in
      try context.objects("Item")[0].add(try context.objects("Tag")[0], to: "tags")
    }
    #expect(try await scene.exchange().conflicts.isEmpty)
    #expect(try scene.server.texts("List", "total") == ["3"])
    let context = scene.server.container.newContext()
    #expect(try context.objects("Item")[0].members("tags").count == 1)
    #expect(try context.objects("List")[0].members("items").count == 1)
    try scene.expectEqual()
  }

  @Test("One that is deleted before it was sent is no conflict") func deleted() async throws {
    let scene = try await Scene()
    let list = try scene.context.insert("List", ["name": .text("list")])
    try scene.context.save()
    try scene.context.delete(list)
    try scene.context.save()
    #expect(try await scene.exchange().conflicts.isEmpty)
    #expect(try scene.server.texts("List").isEmpty)
    try scene.expectEqual()
  }

  @Test("One that has the key of a received object is another object") func received() async throws {
    let scene = try await Scene()
    let tag = try scene.context.insert("Tag", ["name": .text("late")])
    try scene.context.save()
    let replica = try scene.phone.replica()
    // The answer is taken before the replica has sent anything.
    let request = try #require(try replica.nextPull())
    let server = try scene.server.server()
    guard case .pulled(var answer) = try SyncMessage(server.answer(to: SyncMessage.pull(request).bytes)) else {
      Issue.record("The server does not answer.")
      return
    }
    let model = scene.phone.container.model
    let entity = try #require(model.entity(named: "Tag"))
    let name = try #require(entity.property(named: "name"))
    answer.states.append(
      ObjectState(
        key: tag.key, entity: entity.index, isWhole: true, values: [.init(property: name.index, value: .text("other"))],
        lists: []))
    #expect(try replica.receive(answer) == .applied)
    #expect(try scene.phone.texts("Tag") == ["early 0", "late", "other"])
    #expect(try scene.phone.findings() == [])
  }

  @Test("What an undo brings back is sent") func undone() async throws {
    let scene = try await Scene()
    try scene.phone.save { context in try context.delete(context.objects("Tag")[0]) }
    let save = try #require(try scene.phone.container.history().last)
    try await scene.exchange()
    #expect(try scene.server.texts("Tag").isEmpty)
    try scene.phone.save { context in
      let former = try scene.phone.container.newContext(asOf: scene.phone.container.historyToken(before: save))
      let tag = try former.objects("Tag")[0]
      let entity = try #require(context.model.entity(named: "Tag"))
      let values = try entity.properties.map { $0.name == "name" ? try tag.value("name") : StoredValue.null }
      _ = try ObjectWriter(context).reinsert(entity.index, key: 77, values, after: 0)
    }
    #expect(try await scene.exchange().conflicts.isEmpty)
    #expect(try scene.server.texts("Tag") == ["early 0"])
    try scene.expectEqual()
  }
}
