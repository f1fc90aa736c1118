import Testing
import TrellisModel
import TrellisRuntime

@testable import TrellisDynamic
@testable import TrellisSync

/// The rows of the table in SyncConflicts.md.
@Suite("Conflicts of replicas") struct ConflictTests {
  /// A server with a list, two items, a tag and a person, and two replicas that know them.
  private struct Scene {
    let server: SyncStore
    let phone: SyncStore
    let desktop: SyncStore
    let transport: LocalTransport

    init(policy: SyncPolicy = SyncPolicy()) async throws {
      let model = SyncModels.model(SyncModels.lists)
      (server, phone, desktop) = (try SyncStore(model), try SyncStore(model), try SyncStore(model))
      transport = LocalTransport(to: try server.server(policy))
      try server.save { context in
        let list = try context.insert("List", ["name": .text("list")])
        for text in ["one", "two"] { try context.insert("Item", ["text": .text(text)]).set("list", list) }
        _ = try context.insert("Tag", ["name": .text("tag")])
        _ = try context.insert("Person", ["name": .text("person")])
      }
      try await exchange()
    }

    func exchange() async throws {
      for store in [phone, desktop, phone] { try await store.replica().exchange(with: transport) }
    }

    /// The desktop's change is at the server when the phone sends its own.
    func run(
      phone change: (ManagedObjectContext) throws -> Void,
      desktop other: (ManagedObjectContext) throws -> Void
    ) async throws -> [SyncConflict] {
      try desktop.save(other)
      try phone.save(change)
      try await desktop.replica().exchange(with: transport)
      let conflicts = try await phone.replica().exchange(with: transport).conflicts
      try await exchange()
      let picture = try server.picture()
      for store in [phone, desktop] { #expect(try store.picture() == picture) }
      for store in [phone, desktop, server] { #expect(try store.findings() == []) }
      return conflicts
    }
  }

  @Test("Two properties of an object both count") func properties() async throws {
    let scene = try await Scene()
    let conflicts = try await scene.run(
      phone: { try $0.objects("List")[0].set("name", .text("new")) },
      desktop: { try $0.objects("List")[0].set("total", .integer(3)) })
    #expect(conflicts.isEmpty)
    #expect(try scene.server.texts("List") == ["new"] && scene.server.texts("List", "total") == ["3"])
  }

  @Test("The later value wins, and the policy may decide otherwise") func policies() async throws {
    for (policy, name) in [(SyncPolicy.Decision.latest, "phone"), (.server, "desktop"), (.replica, "phone")] {
      let scene = try await Scene(policy: SyncPolicy(policy))
      let conflicts = try await scene.run(
        phone: { try $0.objects("List")[0].set("name", .text("phone")) },
        desktop: { try $0.objects("List")[0].set("name", .text("desktop")) })
      #expect(try scene.server.texts("List") == [name])
      #expect(conflicts.isEmpty == (name == "phone"))
    }
  }

  @Test("What both delete stays deleted") func bothDelete() async throws {
    let scene = try await Scene()
    let conflicts = try await scene.run(
      phone: { try $0.delete($0.objects("Tag")[0]) }, desktop: { try $0.delete($0.objects("Tag")[0]) })
    #expect(conflicts.isEmpty)
    #expect(try scene.server.texts("Tag").isEmpty)
  }

  @Test("A delete takes along what its delete rule says, also what others have added") func cascade() async throws {
    let scene = try await Scene()
    let conflicts = try await scene.run(
      phone: { try $0.delete($0.objects("List")[0]) },
      desktop: { context in
        try context.insert("Item", ["text": .text("three")]).set("list", try context.objects("List")[0])
      })
    #expect(conflicts.isEmpty)
    #expect(try scene.server.texts("Item", "text").isEmpty)
  }

  @Test("A delete that others deny meanwhile is refused") func denial() async throws {
    let scene = try await Scene()
    let conflicts = try await scene.run(
      phone: { try $0.delete($0.objects("Person")[0]) },
      desktop: { try $0.objects("Item")[0].set("person", try $0.objects("Person")[0]) })
    #expect(conflicts.map(\.reason) == [.brokenRules])
    #expect(try scene.phone.texts("Person") == ["person"])
  }

  @Test("A reference to what others have deleted is nil, and refused if it is required") func references() async throws
  {
    var scene = try await Scene()
    var conflicts = try await scene.run(
      phone: { try $0.objects("Item")[0].set("person", try $0.objects("Person")[0]) },
      desktop: { try $0.delete($0.objects("Person")[0]) })
    #expect(conflicts.flatMap(\.losses).map(\.reason) == [.partnerGone])
    scene = try await Scene()
    conflicts = try await scene.run(
      phone: { context in
        try context.insert("Item", ["text": .text("three")]).set("list", try context.objects("List")[0])
      }, desktop: { try $0.delete($0.objects("List")[0]) })
    #expect(conflicts.map(\.reason) == [.partnerGone])
  }

  @Test("Members that both add are members, unless they are deleted") func members() async throws {
    var scene = try await Scene()
    var conflicts = try await scene.run(
      phone: { try $0.objects("Item")[0].add(try $0.objects("Tag")[0], to: "tags") },
      desktop: { context in
        try context.objects("Item")[0].add(try context.insert("Tag", ["name": .text("other")]), to: "tags")
      })
    #expect(conflicts.isEmpty)
    let context = scene.server.container.newContext()
    #expect(try context.objects("Item")[0].members("tags").count == 2)
    scene = try await Scene()
    conflicts = try await scene.run(
      phone: { try $0.objects("Item")[0].add(try $0.objects("Tag")[0], to: "tags") },
      desktop: { try $0.delete($0.objects("Tag")[0]) })
    #expect(conflicts.flatMap(\.losses).map(\.reason) == [.partnerGone])
  }

  @Test("An order keeps members that others have added") func orders() async throws {
    let scene = try await Scene()
    let conflicts = try await scene.run(
      phone: { try $0.objects("List")[0].set("items", Array(try $0.objects("List")[0].members("items").reversed())) },
      desktop: { context in
        try context.insert("Item", ["text": .text("three")]).set("list", try context.objects("List")[0])
      })
    #expect(conflicts.isEmpty)
    let context = scene.server.container.newContext()
    let items = try context.objects("List")[0].members("items")
    #expect(try items.map { try $0.value("text") } == [.text("two"), .text("three"), .text("one")])
  }

  @Test("Objects with the same unique key are one, with the later values") func unions() async throws {
    let scene = try await Scene()
    let conflicts = try await scene.run(
      phone: { context in
        let tag = try context.insert("Tag", ["name": .text("new"), "color": .text("red")])
        try context.objects("Item")[0].add(tag, to: "tags")
      },
      desktop: { context in
        let tag = try context.insert("Tag", ["name": .text("new"), "color": .text("blue")])
        try context.objects("Item")[1].add(tag, to: "tags")
      })
    #expect(conflicts.isEmpty)
    let context = scene.server.container.newContext()
    let tags = try context.objects("Tag").filter { try $0.value("name") == .text("new") }
    #expect(try tags.map { try $0.value("color") } == [.text("red")])
    #expect(try tags.first?.members("items").count == 2)
  }

  @Test("A unique value that others have taken is refused") func takenValue() async throws {
    let scene = try await Scene()
    let conflicts = try await scene.run(
      phone: { try $0.objects("Tag")[0].set("name", .text("new")) },
      desktop: { _ = try $0.insert("Tag", ["name": .text("new")]) })
    #expect(conflicts.map(\.reason) == [.brokenRules])
  }
}
