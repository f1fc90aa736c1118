import Synchronization
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisSync

@Suite("Rights of users at a server") struct RightsTests {
  /// Everybody may change what is theirs: their own errands, and their own name and car.
  private static let own: SyncServer.Rights = { access in
    func owner(_ object: ManagedObject?) -> String? {
      switch object {
      case let errand as Errand: errand.person?.name
      case let car as Car: car.driver?.name
      case let person as Person: person.name
      default: nil
      }
    }
    for object in [access.before, access.after] {
      if let object, owner(object) != access.user { return false }
    }
    return true
  }

  @Test("What the user may change is saved at the server") func allowed() async throws {
    let stores = try ErrandStores(rights: Self.own)
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: "ada")
    let conflicts = try await stores.change(phone, from: "ada") { context in
      try context.errand("tea").title = "green tea"
      try context.delete(context.errand("rice"))
      _ = Errand(in: context, title: "bread", person: try context.person("ada"))
    }
    #expect(conflicts.isEmpty)
    #expect(try stores.titles(stores.office) == ["bread", "green tea", "soap"])
  }

  @Test("What the user may not change is refused as a whole save, once, and stays as a conflict")
  func refused() async throws {
    let stores = try ErrandStores(rights: Self.own)
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: "ada")
    let conflicts = try await stores.change(phone, from: "ada") { context in
      try context.errand("tea").title = "green tea"
      try context.errand("soap").title = "foam"
    }
    #expect(conflicts.map(\.reason) == [.notAllowed])
    let key = try stores.office.newContext().errand("soap").objectID.key
    #expect(conflicts.first?.failures == ["The user may not change title of Errand#\(key)."])
    #expect(try stores.titles(stores.office) == ["rice", "soap", "tea"])
    #expect(try stores.titles(phone) == ["rice", "soap", "tea"])
    #expect(try await stores.exchange(phone, from: "ada").conflicts.isEmpty)
    #expect(try Replica(phone).conflicts() == conflicts)
    #expect(conflicts.first?.changes.objects.count == 2)
  }

  @Test("Inserts and deletes are asked about, and a refused one is taken back") func insertsAndDeletes() async throws {
    let stores = try ErrandStores(rights: Self.own)
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: "ada")
    var conflicts = try await stores.change(phone, from: "ada") { context in
      _ = Errand(in: context, title: "nails", person: try context.person("bo"))
    }
    conflicts += try await stores.change(phone, from: "ada") { try $0.delete($0.errand("soap")) }
    #expect(conflicts.map(\.reason) == [.notAllowed, .notAllowed])
    #expect(try stores.titles(phone) == ["rice", "soap", "tea"])
  }

  @Test("An object may not be given to somebody by whom it could not be changed then, nor be taken")
  func moves() async throws {
    let stores = try ErrandStores(rights: Self.own)
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: "ada")
    for (title, name) in [("tea", "bo"), ("soap", "ada")] {
      let conflicts = try await stores.change(phone, from: "ada") {
        try $0.errand(title).person = try $0.person(name)
      }
      #expect(conflicts.map(\.reason) == [.notAllowed])
    }
  }

  @Test("Rights are asked under the server's state, not under that of the replica") func serverState() async throws {
    let stores = try ErrandStores(rights: Self.own)
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: "ada")
    let context = stores.office.newContext()
    try context.errand("tea").person = try context.person("bo")
    try context.save()
    let conflicts = try await stores.change(phone, from: "ada") { try $0.errand("tea").title = "mine" }
    #expect(conflicts.map(\.reason) == [.notAllowed])
    #expect(try stores.titles(phone) == ["rice", "soap", "tea"])
  }

  @Test("A delete is asked about for each object that it takes along, also if the replica does not have it")
  func cascades() async throws {
    let asked = Mutex<[String]>([])
    let stores = try ErrandStores(rights: { access in
      asked.withLock { $0.append("\(access.kind) \(access.entity)") }
      return access.kind != .delete || (access.before as? Errand)?.done != true
    })
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: "ada")
    let context = stores.office.newContext()
    _ = Errand(in: context, title: "stamps", done: true, person: try context.person("bo"))
    try context.save()
    let conflicts = try await stores.change(phone, from: "ada") { try $0.delete($0.person("bo")) }
    #expect(conflicts.map(\.reason) == [.notAllowed])
    #expect(asked.withLock { $0.sorted() } == ["delete Errand", "delete Errand", "delete Person"])
    #expect(try stores.titles(phone) == ["rice", "soap", "stamps", "tea"])
  }

  @Test("A new object that is united with one of the server is asked about as a change of that one")
  func unions() async throws {
    let asked = Mutex<[String]>([])
    let stores = try ErrandStores(rights: { access in
      guard access.entity == "Person" else { return true }
      asked.withLock { $0.append("\(access.kind) \((access.before as? Person)?.name ?? "-")") }
      return access.kind == .insert
    })
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: "ada")
    let context = stores.office.newContext()
    _ = Person(in: context, name: "cy")
    try context.save()
    let conflicts = try await stores.change(phone, from: "ada") { _ = Person(in: $0, name: "cy") }
    #expect(conflicts.map(\.reason) == [.notAllowed])
    #expect(asked.withLock { $0 } == ["insert -", "update cy"])
    #expect(try phone.newContext().fetch(Person.all).count == 3)
  }

  @Test("Both ends of a pair are asked about, and the object that loses a partner of its own") func ends() async throws
  {
    let asked = Mutex<[String]>([])
    let stores = try ErrandStores(rights: { access in
      asked.withLock { $0.append("\(access.kind) \(access.entity) \(access.properties.sorted())") }
      return true
    })
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: nil)
    _ = try await stores.change(phone, from: nil) { try $0.errand("tea").helpers.append($0.person("bo")) }
    #expect(asked.withLock { $0.sorted() } == ["update Errand [\"helpers\"]", "update Person [\"helps\"]"])
    asked.withLock { $0 = [] }
    _ = try await stores.change(phone, from: nil) { context in
      let car = Car(in: context, plate: "B 2")
      car.driver = try context.person("ada")
    }
    let cars = asked.withLock { $0.filter { $0.contains("Car") } }
    #expect(cars.sorted() == ["insert Car [\"driver\", \"plate\"]", "update Car [\"driver\"]"])
  }

  @Test("A replica belongs to the user of its first message") func otherUser() async throws {
    let stores = try ErrandStores()
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: "ada")
    for user in ["bo", nil] {
      await #expect(throws: SyncError.otherUser) { try await stores.exchange(phone, from: user) }
    }
    try await stores.exchange(phone, from: "ada")
    let state = try Replica(phone).state()
    let identity = try #require(state.record?.identity)
    let server = try stores.server()
    let model = phone.model.checksum
    #expect(throws: SyncError.otherUser) {
      try server.register(RegisterRequest(identity: identity, model: model), from: "bo")
    }
  }

  @Test("An error of the question fails the request, and the replica sends the save again") func failing() async throws
  {
    struct Failed: Error {}
    let fails = Mutex(true)
    let stores = try ErrandStores(rights: { _ in
      if fails.withLock({ $0 }) { throw Failed() }
      return true
    })
    let phone = try stores.store("phone")
    try await stores.exchange(phone, from: nil)
    await #expect(throws: SyncError.self) {
      _ = try await stores.change(phone, from: nil) { try $0.errand("tea").title = "later" }
    }
    fails.withLock { $0 = false }
    #expect(try await stores.exchange(phone, from: nil).sent == 1)
    #expect(try stores.titles(stores.office) == ["later", "rice", "soap"])
  }
}
