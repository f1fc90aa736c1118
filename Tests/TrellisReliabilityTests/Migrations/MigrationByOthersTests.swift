import Testing
import Trellis

@Suite("A container whose file another program has migrated") struct MigrationByOthersTests {
  private let store: ClubStore
  private let container: PersistentContainer

  init() throws {
    store = try ClubStore(.sqlite)
    try store.fill()
    container = try store.open()
  }

  private func migrate() throws {
    try store.damage(
      """
      ALTER TABLE Badge RENAME TO Medal;
      UPDATE _trellis SET value = replace(value, 'Badge', 'Medal') WHERE key IN ('storage', 'modelJSON');
      UPDATE _trellis SET value = 'feedfacefeedface' WHERE key = 'checksum'
      """)
  }

  private func expectMigrated(_ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void) throws {
    let error = try #require(throws: StoreError.self, sourceLocation: location) { try body() }
    #expect(error.code == .migratedByOthers, "\(error)", sourceLocation: location)
  }

  @Test("every use says so from then on, and what is in memory stays readable, unsaved changes too")
  func everyUse() async throws {
    let context = container.newContext()
    let person = try #require(try context.first(Person.where { $0.name == "Ann" }))
    person.name = "Anna"
    _ = Song(in: context)
    try migrate()
    for _ in 0..<2 {
      try expectMigrated { try context.save() }
      try expectMigrated { _ = try context.fetch(Person.all) }
      try expectMigrated { _ = try context.count(Badge.all) }
      try expectMigrated { _ = try container.newContext().fetch(Badge.all) }
      try expectMigrated { _ = try container.check() }
      try expectMigrated { _ = try context.pinned { try $0.count(Person.all) } }
      try expectMigrated { try container.newContext().deleteAll(Song.all) }
    }
    await #expect(throws: StoreError.self) {
      try await container.perform { try $0.count(Person.all) }
    }
    #expect(person.name == "Anna" && context.hasChanges)
    #expect(context.insertedObjects.count == 1)
    context.rollback()
    #expect(person.name == "Ann")
    container.close()
    // Nothing of the former model was written back.
    let error = #expect(throws: StoreError.self) { try store.open() }
    #expect(error?.code == .newerModel)
  }

  @Test("a relationship that is loaded after it reports the failure and is empty")
  func lazyLoading() throws {
    let context = container.newContext()
    let person = try #require(try context.first(Person.where { $0.name == "Eva" }))
    try migrate()
    #expect(person.badges.isEmpty)
    let failure = #expect(throws: ContextError.self) { try context.fetch(Person.all) }
    #expect((failure?.cause as? StoreError)?.code == .migratedByOthers)
    try expectMigrated { _ = try context.fetch(Person.all) }
  }
}
