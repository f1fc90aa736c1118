import Testing
import TrellisModel
import TrellisRuntime
import TrellisTestSupport

@testable import TrellisDynamic
@testable import TrellisSync

/// A server and a replica that know the same objects.
private struct Scene {
  let server: SyncStore
  let phone: SyncStore
  let transport: LocalTransport

  init(partSize: Int = 1 << 20) async throws {
    let model = SyncModels.model(SyncModels.lists)
    (server, phone) = (try SyncStore(model), try SyncStore(model))
    transport = LocalTransport(to: try server.server(partSize: partSize))
    try server.save { context in
      for name in ["a", "b", "c"] {
        let list = try context.insert("List", ["name": .text(name)])
        for text in ["one", "two"] { try context.insert("Item", ["text": .text(name + text)]).set("list", list) }
      }
      for name in ["red", "green", "blue"] { _ = try context.insert("Tag", ["name": .text(name)]) }
    }
    try await exchange()
  }

  @discardableResult func exchange() async throws -> ExchangeReport {
    let report = try await phone.replica().exchange(with: transport)
    let differences = try phone.picture().differences(from: server.picture())
    #expect(differences == [])
    #expect(try phone.findings() == [] && server.findings() == [])
    return report
  }

  /// Deletes what a store's history has so far.
  func forget(_ store: SyncStore) throws {
    // The newest transaction stays, so one comes behind those that are deleted.
    try store.save { context in _ = try context.insert("Person", ["name": .text("later")]) }
    #expect(try store.container.deleteHistory(before: store.container.historyToken()) > 0)
  }

  /// Changes objects at both sides.
  func edit() throws {
    try phone.edit("List", "a") { try $0.set("name", .text("a here")) }
    try phone.save { context in
      let list = try context.objects("List")[0]
      let item = try context.insert("Item", ["text": .text("here")])
      try item.set("list", list)
      try item.add(try context.objects("Tag")[0], to: "tags")
    }
    try server.edit("List", "b") { try $0.set("name", .text("b there")) }
    try server.edit("List", "a") { try $0.set("total", .integer(5)) }
    try server.save { context in
      try context.delete(try #require(try context.objects("List").first { try $0.value("name") == .text("c") }))
      _ = try context.insert("Tag", ["name": .text("there")])
    }
  }

  func expectBoth() throws {
    #expect(try phone.texts("List") == ["a here", "b there"])
    #expect(try phone.texts("List", "total") == ["0", "5"])
    #expect(try phone.texts("Item", "text") == ["aone", "atwo", "bone", "btwo", "here"])
    #expect(try phone.texts("Tag") == ["blue", "green", "red", "there"])
  }
}

@Suite("Histories that do not reach back") struct ExpiryTests {
  @Test(
    "A replica that the server's history does not reach back to gets all objects, below what is unsent",
    arguments: [1 << 20, 100])
  func server(_ partSize: Int) async throws {
    let scene = try await Scene(partSize: partSize)
    try scene.edit()
    try scene.forget(scene.server)
    #expect(try await scene.exchange().conflicts.isEmpty)
    try scene.expectBoth()
  }

  @Test("What both sides have changed is found by its values") func conflicts() async throws {
    let scene = try await Scene()
    try scene.phone.edit("List", "a") { try $0.set("name", .text("phone")) }
    try scene.phone.save { context in
      try context.delete(try #require(try context.objects("Tag").first { try $0.value("name") == .text("red") }))
    }
    try scene.server.edit("List", "a") { try $0.set("name", .text("server")) }
    try scene.forget(scene.server)
    let conflicts = try await scene.exchange().conflicts
    // The server's change is not later than its history begins, which is after the phone's.
    #expect(conflicts.map(\.losses.first?.reason) == [.overruled, nil])
    #expect(conflicts.map(\.reason) == [nil, .changed])
    #expect(try scene.phone.texts("List") == ["b", "c", "server"])
    #expect(try scene.phone.texts("Tag") == ["blue", "green", "red"])
  }

  @Test(
    "A replica whose own history is gone sends what distinguishes it from what the server had",
    arguments: [1 << 20, 100])
  func replica(_ partSize: Int) async throws {
    let scene = try await Scene(partSize: partSize)
    try scene.edit()
    try scene.phone.save { context in
      try context.delete(try #require(try context.objects("Tag").first { try $0.value("name") == .text("blue") }))
      let list = try #require(try context.objects("List").first { try $0.value("name") == .text("b") })
      try list.set("items", Array(try list.members("items").reversed()))
    }
    try scene.forget(scene.phone)
    #expect(try await scene.exchange().conflicts.isEmpty)
    #expect(try scene.phone.texts("List") == ["a here", "b there"])
    #expect(try scene.phone.texts("List", "total") == ["0", "5"])
    #expect(try scene.phone.texts("Item", "text") == ["aone", "atwo", "bone", "btwo", "here"])
    #expect(try scene.phone.texts("Tag") == ["green", "red", "there"])
    #expect(try scene.phone.texts("Person") == ["later"])
    let context = scene.server.container.newContext()
    let list = try #require(try context.objects("List").first { try $0.value("name") == .text("b there") })
    #expect(try list.members("items").map { try $0.value("text") } == [.text("btwo"), .text("bone")])
    let item = try #require(try context.objects("Item").first { try $0.value("text") == .text("here") })
    #expect(try item.members("tags").count == 1)
  }

  @Test("What nobody can tell apart becomes a conflict with both values", arguments: [1 << 20, 100])
  func both(_ partSize: Int) async throws {
    let scene = try await Scene(partSize: partSize)
    try scene.edit()
    try scene.forget(scene.phone)
    try scene.forget(scene.server)
    try await scene.exchange()
    #expect(try scene.phone.texts("List") == ["a", "b there"])
    let conflict = try #require(try scene.phone.replica().conflicts().first)
    #expect(conflict.reason == .unknownHistory)
    let texts = conflict.changes.objects.flatMap(\.values).map(\.value)
    #expect(texts.contains(.text("a here")) && texts.contains(.text("here")))
    // The store goes on as before.
    try scene.phone.edit("List", "a") { try $0.set("name", .text("again")) }
    #expect(try await scene.exchange().conflicts.isEmpty)
    #expect(try scene.server.texts("List") == ["again", "b there"])
  }

  @Test("What the server has taken is not sent again when the history is gone before the server's moment is received")
  func takenBefore() async throws {
    let model = SyncModels.model(SyncModels.lists)
    let (office, phone) = (try SyncStore(model), try SyncStore(model))
    var policy = SyncPolicy(.latest)
    policy["List.total"] = .sum
    let server = try SyncServer(office.container, policy: policy)
    let transport = LocalTransport(to: server)
    try office.save { context in try context.insert("List", ["name": .text("a")]).set("total", .integer(10)) }
    try await phone.replica().exchange(with: transport)

    // One is taken out here and one there. The program ends behind the answer, and its history goes.
    try phone.edit("List", "a") { try $0.set("total", .integer(9)) }
    let replica = try phone.replica()
    #expect(try replica.receive(server.push(#require(try replica.nextPush()))) == [])
    try office.edit("List", "a") { try $0.set("total", .integer(8)) }
    try phone.save { context in _ = try context.insert("Person", ["name": .text("later")]) }
    #expect(try phone.container.deleteHistory(before: phone.container.historyToken()) > 0)

    let conflicts = try await phone.replica().exchange(with: transport).conflicts
    #expect(try office.texts("List", "total") == ["8"] && phone.texts("List", "total") == ["8"])
    // The differences from what the server had become a conflict, since it is not known which side has made them.
    let all = try phone.replica().conflicts()
    #expect(conflicts.isEmpty && all.map(\.reason) == [.unknownHistory])
  }

  @Test("What the server has sent since a save that is not known any more is no change of the replica")
  func mergedSince() async throws {
    let scene = try await Scene()
    try scene.phone.edit("List", "a") { try $0.set("name", .text("a here")) }
    let saved = try scene.phone.container.historyToken()
    try scene.server.save { context in _ = try context.insert("Tag", ["name": .text("there")]) }
    try scene.server.edit("List", "b") { try $0.set("name", .text("b there")) }
    let replica = try scene.phone.replica()
    let request = try #require(try replica.nextPull())
    #expect(try replica.receive(scene.server.server().pull(request)) == .applied)
    #expect(try scene.phone.container.deleteHistory(before: saved) > 0)
    #expect(try await scene.exchange().conflicts.isEmpty)
    #expect(try scene.phone.texts("Tag") == ["blue", "green", "red", "there"])
    #expect(try scene.phone.texts("List") == ["a here", "b there", "c"])
  }

  @Test("A restored replica without a history sends what distinguishes it under keys of its new number")
  func restoredReplica() async throws {
    let scene = try await Scene()
    let copy = scene.phone.folder.file("copy.sqlite")
    try scene.edit()
    try scene.forget(scene.phone)
    try scene.phone.container.backUp(to: copy)
    try scene.phone.save { context in _ = try context.insert("Tag", ["name": .text("lost")]) }
    try await scene.exchange()
    try scene.phone.restore(copy)
    try scene.phone.save { context in _ = try context.insert("Tag", ["name": .text("new")]) }
    try scene.forget(scene.phone)
    try await scene.exchange()
    let tags = try scene.server.texts("Tag")
    #expect(tags == ["blue", "green", "lost", "new", "red", "there"])
    #expect(try scene.phone.texts("List") == ["a here", "b there"])
    #expect(try scene.phone.replica().state().record?.number == 3)
  }

  @Test("A server that was restored from a backup is refused, and nothing is lost") func restoredServer() async throws {
    let scene = try await Scene()
    let copy = scene.server.folder.file("copy.sqlite")
    try scene.server.container.backUp(to: copy)
    try scene.phone.edit("List", "a") { try $0.set("name", .text("new")) }
    try await scene.exchange()
    try scene.server.restore(copy)
    let transport = LocalTransport(to: try scene.server.server())
    await #expect(throws: SyncError.self) { try await scene.phone.replica().exchange(with: transport) }
    #expect(try scene.phone.texts("List") == ["b", "c", "new"])
  }
}
