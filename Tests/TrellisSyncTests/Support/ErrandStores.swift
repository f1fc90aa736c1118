import Trellis
import TrellisTestSupport

@testable import TrellisSync

/// A server with errands of people, and the replicas of some of them.
struct ErrandStores {
  let folder: TestFolder
  let office: PersistentContainer
  private let rights: SyncServer.Rights?
  private let scopes: SyncServer.Scopes?

  /// A server with Ada, who has two errands and a car, and Bo, who has one errand.
  init(rights: SyncServer.Rights? = nil, scopes: SyncServer.Scopes? = nil) throws {
    folder = try TestFolder()
    office = try PersistentContainer(model: .errands, store: .sqlite(at: folder.file("office.sqlite")))
    (self.rights, self.scopes) = (rights, scopes)
    let context = office.newContext()
    let (ada, bo) = (Person(in: context, name: "ada"), Person(in: context, name: "bo"))
    for title in ["tea", "rice"] { _ = Errand(in: context, title: title, person: ada) }
    _ = Errand(in: context, title: "soap", person: bo)
    Car(in: context, plate: "A 1").driver = ada
    try context.save()
  }

  func server() throws -> SyncServer { try SyncServer(office, rights: rights, scopes: scopes) }

  func store(_ name: String) throws -> PersistentContainer {
    try PersistentContainer(model: .errands, store: .sqlite(at: folder.file("\(name).sqlite")))
  }

  /// Exchanges on behalf of a user.
  @discardableResult func exchange(
    _ container: PersistentContainer, from user: String?, scope: SyncScope.Request? = nil
  ) async throws -> ExchangeReport {
    let transport = LocalTransport(to: try server(), from: user)
    return try await Replica(container, scope: scope).exchange(with: transport)
  }

  /// Saves a change of a replica, and exchanges it.
  func change(
    _ container: PersistentContainer, from user: String?, scope: SyncScope.Request? = nil,
    _ change: (ManagedObjectContext) throws -> Void
  ) async throws -> [SyncConflict] {
    let context = container.newContext()
    try change(context)
    try context.save()
    return try await exchange(container, from: user, scope: scope).conflicts
  }

  func titles(_ container: PersistentContainer) throws -> [String] {
    try container.newContext().fetch(Errand.all).map(\.title).sorted()
  }
}

extension ManagedObjectContext {
  func person(_ name: String) throws -> Person {
    guard let found = try first(Person.where { $0.name == name }) else { throw Missing(name: name) }
    return found
  }

  func errand(_ title: String) throws -> Errand {
    guard let found = try first(Errand.where { $0.title == title }) else { throw Missing(name: title) }
    return found
  }
}

private struct Missing: Error { let name: String }
