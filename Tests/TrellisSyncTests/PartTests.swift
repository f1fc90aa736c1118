import Testing
import TrellisModel
import TrellisRuntime
import TrellisTestSupport

@testable import TrellisDynamic
@testable import TrellisSync

@Suite("Answers in parts") struct PartTests {
  /// Objects that require each other, in an order of keys that does not help.
  private static let knots = """
    {
      "model": "Knots", "history": "values",
      "entities": {
        "Club": {
          "attributes": { "name": "string" }, "unique": ["name"],
          "relationships": {
            "members": { "destination": "Member", "inverse": "club", "toMany": true, "minCount": 2, "ordered": true },
            "president": { "destination": "Member", "inverse": "presides", "optional": true },
            "friends": { "destination": "Club", "toMany": true },
            "rival": { "destination": "Club", "optional": true }
          }
        },
        "Member": {
          "attributes": { "name": "string" },
          "relationships": {
            "club": { "destination": "Club", "inverse": "members" },
            "presides": { "destination": "Club", "inverse": "president", "optional": true },
            "mentor": { "destination": "Member", "inverse": "pupils", "optional": true },
            "pupils": { "destination": "Member", "inverse": "mentor", "toMany": true, "ordered": true }
          }
        }
      }
    }
    """

  private static func fill(_ context: ManagedObjectContext) throws {
    var clubs: [DynamicObject] = []
    for number in 0..<8 { clubs.append(try context.insert("Club", ["name": .text("club \(number)")])) }
    var members: [DynamicObject] = []
    for number in 0..<40 {
      let member = try context.insert("Member", ["name": .text("member \(number)")])
      try member.set("club", clubs[7 - number % 8])
      members.append(member)
    }
    for (number, club) in clubs.enumerated() {
      try club.set("president", try club.members("members").last)
      try club.set("rival", clubs[7 - number])
      try club.set("friends", [clubs[(number + 3) % 8], clubs[(number + 5) % 8]])
    }
    for number in 0..<20 { try members[number].set("mentor", members[39 - number]) }
  }

  @Test(
    "A first download obeys the model after each part, and goes on after a crash at each of them",
    arguments: [50, 300, 2_000])
  func first(_ partSize: Int) async throws {
    let model = SyncModels.model(Self.knots)
    let (server, phone) = (try SyncStore(model), try SyncStore(model))
    try server.save { try Self.fill($0) }
    let syncServer = try server.server(partSize: partSize)
    var replica = try phone.replica()
    let registration = try #require(try replica.registration())
    try replica.receive(try syncServer.register(registration))
    var counts: [Int] = []
    for _ in 0..<1_000 {
      let request = try #require(try replica.nextPull())
      let answer = try syncServer.pull(request)
      counts.append(answer.states.count)
      let reception = try replica.receive(answer)
      #expect(try phone.findings() == [])
      if reception == .applied { break }
      #expect(reception == .part)
      // A part that comes again is known.
      #expect(try replica.receive(answer) == .outdated)
      #expect(try replica.state().record?.download?.staged == 0)
      try phone.restart()
      replica = try phone.replica()
    }
    #expect(counts.count > 1)
    let differences = try phone.picture().differences(from: server.picture())
    #expect(differences == [])
    #expect(try replica.isSettled)
  }

  @Test("Parts that do not obey the rules by themselves wait for the next ones") func staged() async throws {
    let model = SyncModels.model(SyncModels.lists)
    let (server, phone) = (try SyncStore(model), try SyncStore(model))
    try server.save { context in
      for number in 0..<20 { _ = try context.insert("Tag", ["name": .text("tag \(number)")]) }
    }
    let whole = LocalTransport(to: try server.server())
    try await phone.replica().exchange(with: whole)
    // Each tag gets the name of the next one.
    for step in 0..<2 {
      try server.save { context in
        for (number, tag) in try context.objects("Tag").enumerated() {
          try tag.set("name", .text(step == 0 ? "tag \(number) new" : "tag \((number + 1) % 20)"))
        }
      }
    }
    let syncServer = try server.server(partSize: 100)
    let replica = try phone.replica()
    var staged: Int64 = 0
    for _ in 0..<200 {
      let reception = try replica.receive(try syncServer.pull(try #require(try replica.nextPull())))
      #expect(try phone.findings() == [])
      if reception == .applied { break }
      staged = max(staged, try replica.state().record?.download?.staged ?? 0)
      let names = Set(try phone.texts("Tag"))
      #expect(names.count == 20)
    }
    #expect(staged > 1)
    let differences = try phone.picture().differences(from: server.picture())
    #expect(differences == [])
    #expect(try phone.container.notes(beginningWith: "replica.part.") == [:])
  }

  @Test("What is saved during a download stays on top of it, and is sent after it") func unsent() async throws {
    let model = SyncModels.model(Self.knots)
    let (server, phone) = (try SyncStore(model), try SyncStore(model))
    try server.save { try Self.fill($0) }
    let syncServer = try server.server(partSize: 200)
    let replica = try phone.replica()
    try replica.receive(try syncServer.register(try #require(try replica.registration())))
    var number = 0
    for _ in 0..<1_000 {
      let reception = try replica.receive(try syncServer.pull(try #require(try replica.nextPull())))
      if reception == .applied { break }
      number += 1
      try phone.save { context in
        let clubs = try context.objects("Club")
        if let club = clubs.last {
          try club.set("name", .text("mine \(number)"))
          try context.insert("Member", ["name": .text("new \(number)")]).set("club", club)
        }
      }
      #expect(try replica.nextPush() == nil)
      #expect(try phone.findings() == [])
    }
    try await replica.exchange(with: LocalTransport(to: syncServer))
    let differences = try phone.picture().differences(from: server.picture())
    #expect(differences == [])
    #expect(try replica.conflicts().isEmpty)
    let names = try server.texts("Member")
    #expect(names.count { $0.hasPrefix("new") } > 1)
  }

  @Test("A download whose moment the server has deleted begins anew") func expired() async throws {
    let model = SyncModels.model(Self.knots)
    let (server, phone) = (try SyncStore(model), try SyncStore(model))
    try server.save { try Self.fill($0) }
    let syncServer = try server.server(partSize: 200)
    let replica = try phone.replica()
    try replica.receive(try syncServer.register(try #require(try replica.registration())))
    for _ in 0..<3 {
      #expect(try replica.receive(try syncServer.pull(try #require(try replica.nextPull()))) == .part)
    }
    try server.save { context in for member in try context.objects("Member") { try member.set("name", .text("x")) } }
    try server.container.deleteHistory(before: server.container.historyToken())
    try await replica.exchange(with: LocalTransport(to: syncServer))
    let differences = try phone.picture().differences(from: server.picture())
    #expect(differences == [])
  }
}
