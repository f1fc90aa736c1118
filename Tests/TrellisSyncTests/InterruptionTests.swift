import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisDynamic
@testable import TrellisSync

/// Steps in whose middle another program saves.
@Suite("Steps that others interrupt") struct InterruptionTests {
  @Test("A server decides again if another process changes meanwhile what it decides about") func deciding()
    async throws
  {
    let model = SyncModels.model(SyncModels.lists)
    let (office, phone) = (try SyncStore(model), try SyncStore(model))
    try office.save { context in _ = try context.insert("List", ["name": .text("a")]) }
    let interruption = Interruption()
    let server = try SyncServer(office.container, policy: SyncPolicy()) {
      interruption.clockIsRead()
      return 0
    }
    let transport = LocalTransport(to: server)
    try await phone.replica().exchange(with: transport)
    try phone.save { context in for list in try context.objects("List") { try context.delete(list) } }
    let other = try office.another()
    // The history is read before the second time that the clock is read in a push, and the objects are read after it.
    interruption.plan(after: 1) {
      let context = other.newContext()
      for list in try context.objects("List") { try list.set("total", .integer(5)) }
      try context.save()
    }
    let conflicts = try await phone.replica().exchange(with: transport).conflicts
    #expect(interruption.hasHappened && interruption.failure == nil)
    #expect(conflicts.map(\.reason) == [.changed])
    #expect(try office.texts("List", "total") == ["5"] && phone.texts("List", "total") == ["5"])
  }

  @Test("What a program saves while an answer is taken stays and is sent") func receiving() async throws {
    let model = SyncModels.model(SyncModels.lists)
    let (office, phone) = (try SyncStore(model), try SyncStore(model))
    let transport = LocalTransport(to: try office.server())
    try office.save { context in
      for name in ["a", "b"] { _ = try context.insert("List", ["name": .text(name)]) }
    }
    let interruption = Interruption()
    let replica = try phone.replica(skew: 0, interruption)
    try await replica.exchange(with: transport)
    try office.edit("List") { try $0.set("total", .integer(1)) }
    let server = try office.server()
    let answer = try server.pull(try #require(try replica.nextPull()))
    interruption.plan(after: 1) { try phone.edit("List", "a") { try $0.set("total", .integer(2)) } }
    #expect(try replica.receive(answer) == .applied)
    #expect(interruption.hasHappened && interruption.failure == nil)
    #expect(try phone.texts("List", "total") == ["1", "2"])
    try await replica.exchange(with: transport)
    #expect(try office.texts("List", "total") == ["1", "2"])
    #expect(try phone.picture() == office.picture())
  }
}
