import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisSync

@Suite("Scopes of replicas") struct ScopeTests {
  /// `open`: errands that are not done. `mine`: the user's errands. `cars`: cars, and nothing else.
  private static let scopes: SyncServer.Scopes = { request, user in
    switch request?.name {
    case nil: .everything
    case "open": SyncScope(Errand.where { $0.done == false })
    case "mine": user.map { user in SyncScope(Errand.where { $0.person.name == user }) }
    case "of": user == "boss" ? SyncScope(Errand.where { $0.person.name == request?["name"] ?? "" }) : nil
    case "cars": SyncScope(Car.all)
    case "both": SyncScope(Car.all, Person.where { $0.name == "ada" })
    case "recent": SyncScope(Errand.where("title != %@ AND now() > now()", "x"))
    default: nil
    }
  }

  private func expectWhole(_ store: PersistentContainer) throws {
    let findings = try store.check().map { "\($0)" }
    #expect(findings == [])
  }

  @Test("A replica gets the objects of its scope with what they require, and nothing else") func first() async throws {
    let stores = try ErrandStores(scopes: Self.scopes)
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: "bo", scope: "mine")
    let context = phone.newContext()
    #expect(try stores.titles(phone) == ["soap"])
    #expect(try context.fetch(Person.all).map(\.name) == ["bo"])
    #expect(try context.fetch(Car.all).isEmpty)
    try expectWhole(phone)
  }

  private func drivers(_ store: PersistentContainer) throws -> [String?] {
    let context = store.newContext()
    return try context.fetch(Car.all).map { $0.driver?.name }
  }

  @Test("A reference to an object outside is nil, and comes when the object enters") func references() async throws {
    let stores = try ErrandStores(scopes: Self.scopes)
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: "ada", scope: "cars")
    #expect(try drivers(phone) == [nil])
    try await stores.exchange(phone, from: "ada", scope: "both")
    #expect(try drivers(phone) == ["ada"])
    try await stores.exchange(phone, from: "ada", scope: "cars")
    #expect(try drivers(phone) == [nil])
    #expect(try drivers(stores.office) == ["ada"])
    try expectWhole(phone)
  }

  @Test("An object that leaves the scope leaves the replica, and is deleted nowhere") func leaving() async throws {
    let stores = try ErrandStores(scopes: Self.scopes)
    let (phone, desktop) = (try stores.store("phone"), try stores.store("desktop"))
    try await stores.exchange(phone, from: nil, scope: "open")
    try await stores.exchange(desktop, from: nil)
    let conflicts = try await stores.change(desktop, from: nil) { context in
      try context.errand("soap").done = true
      try context.errand("tea").done = true
    }
    #expect(conflicts.isEmpty)
    try await stores.exchange(phone, from: nil, scope: "open")
    #expect(try stores.titles(phone) == ["rice"])
    // Bo was there because of the errand only.
    #expect(try phone.newContext().fetch(Person.all).map(\.name) == ["ada"])
    try expectWhole(phone)
    #expect(try await stores.exchange(phone, from: nil, scope: "open").sent == 0)
    try await stores.exchange(desktop, from: nil)
    #expect(try stores.titles(desktop) == ["rice", "soap", "tea"])
    #expect(try stores.titles(stores.office) == ["rice", "soap", "tea"])
  }

  @Test("An object that enters the scope comes whole, with its partners") func entering() async throws {
    let stores = try ErrandStores(scopes: Self.scopes)
    let phone = try stores.store("phone")
    let context = stores.office.newContext()
    let soap = try context.errand("soap")
    soap.done = true
    soap.helpers.append(try context.person("ada"))
    try context.save()
    try await stores.exchange(phone, from: nil, scope: "open")
    #expect(try stores.titles(phone) == ["rice", "tea"])
    soap.done = false
    try context.save()
    try await stores.exchange(phone, from: nil, scope: "open")
    let there = phone.newContext()
    let found = try there.errand("soap")
    #expect(found.person?.name == "bo")
    #expect(found.helpers.map(\.name) == ["ada"])
    try expectWhole(phone)
  }

  @Test("A new object outside of the replica's own scope is sent, and leaves") func ownOutside() async throws {
    let stores = try ErrandStores(scopes: Self.scopes)
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: nil, scope: "open")
    let conflicts = try await stores.change(phone, from: nil, scope: "open") { context in
      _ = Errand(in: context, title: "sweep", done: true, person: try context.person("ada"))
      _ = Errand(in: context, title: "dust", person: try context.person("ada"))
    }
    #expect(conflicts.isEmpty)
    #expect(try stores.titles(stores.office) == ["dust", "rice", "soap", "sweep", "tea"])
    #expect(try stores.titles(phone) == ["dust", "rice", "tea", "soap"].sorted())
    #expect(try await stores.exchange(phone, from: nil, scope: "open").sent == 0)
    #expect(try stores.titles(stores.office).contains("sweep"))
  }

  @Test("What is not sent keeps an object until it has its answer") func unsent() async throws {
    let stores = try ErrandStores(scopes: Self.scopes)
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: nil, scope: "open")
    let context = stores.office.newContext()
    try context.errand("tea").done = true
    try context.save()
    let replica = try Replica(phone, scope: "open")
    let question = try #require(try replica.nextPull())
    let answer = try stores.server().pull(question)
    let edit = phone.newContext()
    try edit.errand("tea").title = "green tea"
    try edit.save()
    #expect(try replica.receive(answer) == .applied)
    #expect(try stores.titles(phone) == ["green tea", "rice", "soap"])
    try await stores.exchange(phone, from: nil, scope: "open")
    #expect(try stores.titles(phone) == ["rice", "soap"])
    #expect(try stores.titles(stores.office) == ["green tea", "rice", "soap"])
  }

  @Test("A store that joins sends what it has, and keeps what is in its scope") func joining() async throws {
    let stores = try ErrandStores(scopes: Self.scopes)
    let phone = try stores.store("phone")
    let context = phone.newContext()
    let ada = Person(in: context, name: "ada")
    _ = Errand(in: context, title: "old", done: true, person: ada)
    _ = Errand(in: context, title: "new", person: ada)
    Car(in: context, plate: "C 3").driver = ada
    try context.save()
    try await stores.exchange(phone, from: nil, scope: "open")
    #expect(try stores.titles(phone) == ["new", "rice", "soap", "tea"])
    #expect(try phone.newContext().fetch(Car.all).isEmpty)
    #expect(try stores.titles(stores.office) == ["new", "old", "rice", "soap", "tea"])
    #expect(try stores.office.newContext().fetch(Person.all).map(\.name).sorted() == ["ada", "bo"])
    try expectWhole(phone)
  }

  @Test("With another scope than before, other objects come and go") func otherScope() async throws {
    let stores = try ErrandStores(scopes: Self.scopes)
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: "boss", scope: SyncScope.Request("of", ["name": "ada"]))
    #expect(try stores.titles(phone) == ["rice", "tea"])
    try await stores.exchange(phone, from: "boss", scope: SyncScope.Request("of", ["name": "bo"]))
    #expect(try stores.titles(phone) == ["soap"])
    try await stores.exchange(phone, from: "boss")
    #expect(try stores.titles(phone) == ["rice", "soap", "tea"])
    #expect(try phone.newContext().fetch(Car.all).count == 1)
    try await stores.exchange(phone, from: "boss", scope: SyncScope.Request("of", ["name": "bo"]))
    #expect(try stores.titles(phone) == ["soap"])
    #expect(try stores.titles(stores.office) == ["rice", "soap", "tea"])
    try expectWhole(phone)
  }

  @Test("The server decides which scopes a user gets, and nothing is lost by a refusal") func refused() async throws {
    let stores = try ErrandStores(scopes: Self.scopes)
    let phone = try stores.store("phone")
    let asked = SyncScope.Request("of", ["name": "bo"])
    for (user, request) in [("ada", asked), (nil, "mine"), ("ada", "unknown")] as [(String?, SyncScope.Request)] {
      let store = try stores.store("\(user ?? "-") \(request.name)")
      await #expect(throws: SyncError.notAllowed) { try await stores.exchange(store, from: user, scope: request) }
      #expect(try stores.titles(store).isEmpty)
    }
    await #expect(throws: SyncError.wrongScope) { try await stores.exchange(phone, from: nil, scope: "recent") }
    let open = try ErrandStores()
    let other = try open.store("other")
    await #expect(throws: SyncError.notAllowed) { try await open.exchange(other, from: nil, scope: "open") }
  }

  @Test("A question for an object outside of the scope brings nothing of it") func probing() async throws {
    let stores = try ErrandStores(scopes: Self.scopes)
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: "bo", scope: "mine")
    let replica = try Replica(phone, scope: "mine")
    var question = try #require(try replica.nextPull())
    let keys = try stores.office.newContext().fetch(Errand.all).map(\.objectID.key)
    question.also = keys
    let answer = try stores.server().pull(question, from: "bo")
    #expect(answer.states.map(\.key) == [try stores.office.newContext().errand("soap").objectID.key])
    #expect(answer.gone.isEmpty)
  }
}
