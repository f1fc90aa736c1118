import Testing
import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisTestSupport

@testable import TrellisDynamic
@testable import TrellisSync

/// What a change costs on its way.
@Suite("The cost of exchanges") struct CostTests {
  /// A server with lists, and a replica that knows them.
  private struct Scene {
    let office: SyncStore
    let phone: SyncStore
    let server: SyncServer
    let replica: Replica

    init(lists: Int) async throws {
      let model = SyncModels.model(SyncModels.lists)
      (office, phone) = (try SyncStore(model), try SyncStore(model))
      server = try office.server()
      replica = try phone.replica()
      try office.save { context in
        for number in 0..<lists { _ = try context.insert("List", ["name": .text("list \(number)")]) }
      }
      try await replica.exchange(with: LocalTransport(to: server))
    }
  }

  @Test("A change takes few bytes on the wire") func bytes() async throws {
    let scene = try await Scene(lists: 100)
    try scene.phone.edit("List") { try $0.set("total", .integer(5)) }
    let edits = try #require(try scene.replica.nextPush())
    try scene.replica.receive(try scene.server.push(edits))
    try scene.phone.save { context in
      for number in 0..<100 { _ = try context.insert("List", ["name": .text("list \(number)")]) }
    }
    let inserts = try #require(try scene.replica.nextPush())
    let sizes = [edits, inserts].map { SyncMessage.push($0).bytes.count }
    print("sync: bytes of a push of 100 values \(sizes[0]), of 100 new objects \(sizes[1])")
    #expect(sizes[0] < 100 * 18 + 300 && sizes[1] < 100 * 30 + 300)
  }

  /// `valgrind --tool=callgrind --toggle-collect='*measured*'` counts the instructions of either side.
  @Test("Changes through the server and saved directly are the same") func instructions() async throws {
    let count = TestSettings.number("TRELLIS_SYNC_COST", or: 5)
    let scene = try await Scene(lists: count)
    let isDirect = TestSettings.number("TRELLIS_SYNC_DIRECT", or: 0) == 1
    if isDirect {
      try measuredDirectly(scene.office.container.newContext, count)
    } else {
      try prepare(scene.phone.container.newContext, count)
      try measuredPush(scene.server, try #require(try scene.replica.nextPush()))
    }
    let totals = try scene.office.texts("List", "total")
    #expect(totals == (0..<count).map { "\($0 + 1)" }.sorted())
  }

  /// A save for each object, which is read before, in a context of its own.
  @inline(never) private func edit(_ context: () -> ManagedObjectContext, _ count: Int) throws {
    let keys = try context().objects("List").map(\.key).sorted()
    for (number, key) in keys.enumerated() {
      let context = context()
      let entity = try #require(context.model.entity(named: "List")).index
      let list = try #require(try context.objects([key], entity: entity)[key] as? DynamicObject)
      try list.set("total", .integer(Int64(number + 1)))
      try context.save()
    }
  }

  @inline(never) private func measuredDirectly(_ context: () -> ManagedObjectContext, _ count: Int) throws {
    try edit(context, count)
  }

  @inline(never) private func prepare(_ context: () -> ManagedObjectContext, _ count: Int) throws {
    try edit(context, count)
  }

  @inline(never) private func measuredPush(_ server: SyncServer, _ request: PushRequest) throws {
    let answer = try server.push(request)
    #expect(answer.outcomes.allSatisfy { $0.verdict == .accepted })
  }
}
