import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("The guide to rollouts", .enabled(if: TestServer.isThere, "needs a server"))
struct RolloutGuideTests {
  private static let guide = GuideText("Rollouts.md")

  func migrateAtOnce(_ url: String) throws -> PersistentContainer {
    try PersistentContainer(
      model: .library, store: .postgres(url, schema: "library", migration: .automatic.stoppingFormerPrograms()))
  }

  func fillNames(_ library: PersistentContainer) async throws -> Int {
    var filled = 0
    while true {
      let count = try await library.perform { context in
        try context.saveRetrying {
          let readers = try context.fetch(Reader.where { $0.lastName == nil }.limit(500))
          for reader in readers {
            let words = reader.name.split(separator: " ")
            reader.firstName = words.dropLast().joined(separator: " ")
            reader.lastName = words.last.map(String.init) ?? ""
          }
          return readers.count
        }
      }
      if count == 0 { return filled }
      filled += count
    }
  }

  @Test("each sample stands in this test") func compiled() throws {
    #expect(try Self.guide.samples(missingFrom: #filePath) == [])
  }

  /// The three versions of the page.
  private func models() throws -> [Model] {
    try Self.guide.blocks("json").map { text in
      let file = ModelFile.parse(Array(text.utf8), path: "Library.model.json")
      return try Model(try #require(file.description, "\(file.rendered())"))
    }
  }

  private func save(_ store: any Store, _ key: Int64, _ values: [String: StoredValue], of model: Model) throws {
    let request = SaveRequest()
    request.inserts = [.init(entity: 0, records: [PlainRecord(model.entities[0], key: key, values)])]
    try store.connect().save(request)
  }

  @Test("the versions of the page replace each other, and no call fails") func versions() async throws {
    let models = try models()
    try #require(models.count == 3)
    let own = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Library.model.json")
    #expect(try Self.guide.blocks("json")[1] + "\n" == String(contentsOf: own, encoding: .utf8))
    let schema = TestServer.newSchema()
    func open(_ version: Int, _ migration: MigrationPolicy = .automatic) throws -> any Store {
      try StoreConfiguration.postgres(TestServer.url, schema: schema, connections: 2, migration: migration)
        .open(models[version - 1])
    }
    let first = try open(1)
    _ = try first.reserveKeys(100)
    try save(first, 1, ["name": .text("Ada Lovelace")], of: models[0])
    // Expanded, beside the first version.
    let library = try PersistentContainer(
      model: .library, store: .postgres(TestServer.url, schema: schema, connections: 2))
    try save(first, 2, ["name": .text("Grace Hopper")], of: models[0])
    try await library.perform { context in
      _ = Reader(in: context, name: "Alan Turing", firstName: "Alan", lastName: "Turing")
      try context.save()
    }
    #expect(try first.connect().count(StoreRequest(entity: 0)) == 3)
    first.close()
    #expect(try await fillNames(library) == 2)
    // Contracted, beside the second version.
    let third = try open(3)
    try save(third, 4, ["firstName": .text("Edsger"), "lastName": .text("Dijkstra")], of: models[2])
    let readers = try await library.perform { context in
      try context.fetch(Reader.all.sorted { $0.lastName }).map {
        "\($0.lastName ?? "-"), \($0.firstName ?? "-"), \($0.name)"
      }
    }
    #expect(
      readers == [
        "Dijkstra, Edsger, ", "Hopper, Grace, Grace Hopper", "Lovelace, Ada, Ada Lovelace", "Turing, Alan, Alan Turing",
      ])
    library.close()
    try open(3).close()
    #expect(try third.connect().count(StoreRequest(entity: 0)) == 4)
    try save(third, 5, ["lastName": .text("Liskov")], of: models[2])
    third.close()
    #expect(throws: StoreError.self) { try open(2).close() }
  }

  @Test("what has to be stopped is stopped at once, if the policy says so") func atOnce() throws {
    let models = try models()
    let url = TestServer.url
    let schema = "library"
    let connection = try ServerConnection(try ServerAddress(url).keywords(timeout: 10), preparesStatements: false)
    let drop = ServerStatement("DROP SCHEMA IF EXISTS \(schema) CASCADE")
    _ = try connection.run(drop)
    defer { _ = try? connection.run(drop) }
    var strict = models[1].description
    strict.entities[0].attributes = strict.entities[0].attributes.map { attribute in
      AttributeDescription(attribute.name, .string, default: .value(.text("")))
    }
    let open = try StoreConfiguration.postgres(url, schema: schema).open(try Model(strict))
    defer { open.close() }
    let error = try #require(throws: StoreError.self) {
      try PersistentContainer(model: .library, store: .postgres(url, schema: schema)).close()
    }
    #expect(error.code == .formerPrograms && error.remedy.contains("stoppingFormerPrograms()"), "\(error)")
    try migrateAtOnce(url).close()
    #expect(throws: StoreError.self) { try open.connect().count(StoreRequest(entity: 0)) }
  }
}
