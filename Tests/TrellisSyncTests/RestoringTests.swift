import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import Trellis
@testable import TrellisDynamic
@testable import TrellisSync

@Suite("Replicas that are restored or copied") struct RestoringTests {
  @Test("A restored replica goes on, and what it made since does not replace what its former self has made")
  func restored() async throws {
    let model = SyncModels.model(SyncModels.lists)
    let (office, phone) = (try SyncStore(model), try SyncStore(model))
    let transport = LocalTransport(to: try office.server())
    func insert(_ name: String) throws {
      try phone.save { context in _ = try context.insert("List", ["name": .text(name)]) }
    }
    try insert("a")
    try await phone.replica().exchange(with: transport)
    let copy = phone.folder.file("copy.sqlite")
    try phone.container.backUp(to: copy)
    try insert("b")
    try await phone.replica().exchange(with: transport)
    try phone.restore(copy)
    #expect(try phone.texts("List") == ["a"])
    try insert("c")
    try phone.edit("List", "a") { try $0.set("total", .integer(5)) }
    let replica = try phone.replica()
    try await replica.exchange(with: transport)
    let names = try office.texts("List")
    #expect(names == ["a", "b", "c"])
    #expect(try replica.conflicts().isEmpty)
    #expect(try phone.picture() == office.picture())
    #expect(try replica.state().record?.number == 3)
    #expect(try office.findings() == [] && phone.findings() == [])
  }

  @Test("What the former self of a copy has made keeps its members") func formerSelf() async throws {
    let model = SyncModels.model(SyncModels.lists)
    let (office, phone) = (try SyncStore(model), try SyncStore(model))
    let transport = LocalTransport(to: try office.server())
    try office.save { context in
      let list = try context.insert("List", ["name": .text("old")])
      try context.insert("Item", ["text": .text("i")]).set("list", list)
    }
    try await phone.replica().exchange(with: transport)
    try phone.save { context in _ = try context.insert("List", ["name": .text("new")]) }
    let copy = phone.folder.file("copy.sqlite")
    try phone.container.backUp(to: copy)
    try await phone.replica().exchange(with: transport)
    try office.save { context in
      let list = try context.objects("List").first { try $0.value("name") == .text("new") }
      try context.objects("Item")[0].set("list", list)
    }
    try phone.restore(copy)
    try await phone.replica().exchange(with: transport)
    #expect(try office.texts("List") == ["new", "new", "old"])
    let differences = try phone.picture().differences(from: office.picture())
    #expect(differences == [])
  }

  @Test("Conflicts from before a restore do not keep those of the copy from coming") func conflicts() async throws {
    let model = SyncModels.model(SyncModels.lists)
    let (office, phone) = (try SyncStore(model), try SyncStore(model))
    let transport = LocalTransport(to: try office.server())
    try office.save { context in
      for name in ["a", "b", "c"] { _ = try context.insert("List", ["name": .text(name)]) }
    }
    func refuse(_ name: String) async throws {
      try await phone.replica().exchange(with: transport)
      try office.edit("List", name) { try $0.set("total", .integer(1)) }
      try phone.save { context in
        for list in try context.objects("List") where try list.value("name") == .text(name) { try context.delete(list) }
      }
      #expect(try await phone.replica().exchange(with: transport).conflicts.map(\.reason) == [.changed])
    }
    try await refuse("a")
    let copy = phone.folder.file("copy.sqlite")
    try phone.container.backUp(to: copy)
    try phone.edit("List", "b") { try $0.set("total", .integer(7)) }
    try await phone.replica().exchange(with: transport)
    try phone.restore(copy)
    try await refuse("b")
    let replica = try phone.replica()
    let conflicts = try replica.conflicts()
    #expect(conflicts.map(\.sequence) == [1, 1])
    for conflict in conflicts { try replica.remove(conflict) }
    #expect(try replica.conflicts().isEmpty)
    #expect(try phone.picture() == office.picture())
  }

  @Test("A restored replica that has nothing to send goes on under another number") func idle() async throws {
    let model = SyncModels.model(SyncModels.lists)
    let (office, phone) = (try SyncStore(model), try SyncStore(model))
    let transport = LocalTransport(to: try office.server())
    try phone.save { context in _ = try context.insert("List", ["name": .text("a")]) }
    try await phone.replica().exchange(with: transport)
    let copy = phone.folder.file("copy.sqlite")
    try phone.container.backUp(to: copy)
    try phone.save { context in _ = try context.insert("List", ["name": .text("b")]) }
    try await phone.replica().exchange(with: transport)
    try phone.restore(copy)
    try await phone.replica().exchange(with: transport)
    #expect(try phone.texts("List") == ["a", "b"])
    #expect(try phone.replica().state().record?.number == 3)
  }

  @Test("A conflict of a replica and one of what it was before it got another number are both kept")
  func conflictsOfFormerSelf() async throws {
    let model = SyncModels.model(SyncModels.lists)
    let (office, phone) = (try SyncStore(model), try SyncStore(model))
    let transport = LocalTransport(to: try office.server())
    let replica = try phone.replica()
    for name in ["a", "b"] {
      try office.save { context in _ = try context.insert("List", ["name": .text(name)]) }
      try await replica.exchange(with: transport)
      try office.save { context in
        for list in try context.objects("List") where try list.value("name") == .text(name) { try context.delete(list) }
      }
      try phone.edit("List", name) { try $0.set("total", .integer(5)) }
      try await replica.exchange(with: transport)
      // As after a restore.
      try replica.renew()
    }
    let kept = try replica.conflicts()
    #expect(kept.map(\.reason) == [.deleted, .deleted] && kept.map(\.sequence) == [1, 1])
    for conflict in kept { try replica.remove(conflict) }
    #expect(try replica.conflicts().isEmpty)
  }
}
