import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("Deletes of all rows on a server", .enabled(if: TestServer.isThere, "needs a server"))
struct DeleteStatementTests {
  /// More by TRELLIS_DELETIONS; a seed by TRELLIS_DELETIONS_SEED.
  private let rounds = TestSettings.number("TRELLIS_DELETIONS", or: 60)
  private let seed = TestSettings.seed("TRELLIS_DELETIONS_SEED")

  @Test("a server deletes, clears and refuses what a store that reads every row does, in random models")
  func agrees() throws {
    print("random deletes: seed \(seed), \(rounds) models")
    var (statements, refused, updated) = (0, 0, 0)
    for round in 0..<rounds {
      let seed = seed &+ UInt64(round)
      var world = try RandomDeletions(seed)
      let filling = world.filling()
      let memory = try StoreConfiguration.memory.open(world.model)
      let server = try #require(
        try StoreConfiguration.postgres(TestServer.url, schema: TestServer.newSchema(), connections: 1).open(
          world.model)
          as? PostgresStore)
      defer { server.close() }
      try memory.connect().save(filling)
      try server.connect().save(filling)
      var former = [try world.picture(server.connect()).versions, try world.picture(memory.connect()).versions]
      for _ in 0..<4 {
        let delete = try world.delete()
        if try DeleteStatement(delete, server) != nil { statements += 1 }
        let expected = try DeletionOutcome { try memory.connect().deleteAll(delete, in: world.model) }
        let found = try DeletionOutcome { try server.connect().deleteAll(delete, in: world.model) }
        try #require(found == expected, "seed \(seed): \(delete.request)")
        let (left, right) = (try world.picture(server.connect()), try world.picture(memory.connect()))
        try #require(left.lines == right.lines, "seed \(seed): \(delete.request)")
        // A row that loses several references may have a version more for each.
        let changed = zip([left.versions, right.versions], former).map { now, before in
          Set(now.keys.filter { now[$0] != before[$0] })
        }
        try #require(changed[0] == changed[1], "seed \(seed): \(delete.request)")
        former = [left.versions, right.versions]
        if !expected.denials.isEmpty { refused += 1 }
        updated += expected.updated.count
      }
    }
    print("\(statements) deletes were statements, \(refused) were refused, \(updated) rows lost a reference")
    #expect(statements > rounds && updated > rounds / 10)
  }

  // MARK: Histories and others

  private static func model() throws -> Model {
    var description = ModelDescription(
      name: "Desk",
      entities: [
        EntityDescription(
          "Folder", attributes: [AttributeDescription("name", .string, keptInHistory: true)],
          relationships: [
            RelationshipDescription("pages", to: "Page", inverse: "folder", deleteRule: .cascade, toMany: true)
          ]),
        EntityDescription(
          "Page", attributes: [AttributeDescription("text", .string)],
          relationships: [
            RelationshipDescription("folder", to: "Folder", inverse: "pages", optional: true),
            RelationshipDescription("marks", to: "Mark", inverse: "page", toMany: true),
          ]),
        EntityDescription(
          "Mark", attributes: [AttributeDescription("color", .string)],
          relationships: [RelationshipDescription("page", to: "Page", inverse: "marks", optional: true)]),
      ])
    description.history = .changes
    return try Model(description)
  }

  /// A folder 1 with the pages 11 to 13, each with a mark, 21 to 23.
  private func desk() throws -> (PostgresStore, Model) {
    let model = try Self.model()
    let store = try #require(
      try StoreConfiguration.postgres(TestServer.url, schema: TestServer.newSchema(), connections: 3).open(model)
        as? PostgresStore)
    let request = SaveRequest()
    func rows(_ entity: String, _ keys: ClosedRange<Int64>, _ values: (Int64) -> [String: StoredValue]) throws {
      let entity = try #require(model.entities.first { $0.name == entity })
      request.inserts.append(
        .init(entity: entity.index, records: keys.map { PlainRecord(entity, key: $0, values($0)) }))
    }
    try rows("Folder", 1...1) { _ in ["name": .text("tax")] }
    try rows("Page", 11...13) { ["text": .text("\($0)"), "folder": .integer(1)] }
    try rows("Mark", 21...23) { ["color": .text("red"), "page": .integer($0 - 10)] }
    try store.connect().save(request)
    return (store, model)
  }

  @Test("a delete of many is one transaction of the history, with cascades, cleared references and kept values")
  func history() throws {
    let (store, model) = try desk()
    let connection = try #require(try store.connect() as? PostgresConnection)
    let now = try connection.position(of: .now)
    var delete = BatchDelete(request: StoreRequest(entity: 0))
    delete.author = "cleaner"
    let outcome = try connection.deleteAll(delete, in: model)
    #expect(outcome.found == 1 && outcome.deleted.map(\.key) == [1, 11, 12, 13])
    #expect(outcome.updated.map(\.key).sorted() == [21, 22, 23])
    var entries: [HistoryEntry] = []
    for _ in 0..<200 where entries.isEmpty {
      try connection.history(after: now, atMost: 9) { if $0.author == "cleaner" { entries.append($0) } }
      if entries.isEmpty { Thread.sleep(forTimeInterval: 0.05) }
    }
    let entry = try #require(entries.first)
    #expect(entries.count == 1)
    let changes = try RecordedChanges(try #require(entry.record)).rows
    let deleted = changes.filter { $0.kind == .deleted || $0.kind == .kept }
    #expect(deleted.flatMap(\.keys).sorted() == [1, 11, 12, 13])
    #expect(deleted.flatMap(\.keptValues) == [[.text("tax")]])
    let page = try #require(model.entities[2].property(named: "page")).index
    #expect(changes.filter { $0.hasChange(of: page) }.flatMap(\.keys).sorted() == [21, 22, 23])
  }

  @Test("rows that others add between the search and the delete are deleted too, or the delete waits for them")
  func addedByOthers() throws {
    for round in 0..<40 {
      let (store, model) = try desk()
      defer { store.close() }
      let page = model.entities[1]
      let done = DispatchSemaphore(value: 0)
      let failure = Locked<StoreError.Code?>(nil)
      Thread.detachNewThread {
        Thread.sleep(forTimeInterval: Double(round) * 0.000_2)
        let request = SaveRequest()
        request.inserts = [
          .init(
            entity: 1,
            records: (0..<20).map {
              PlainRecord(page, key: 100 + $0, ["text": .text("new"), "folder": .integer(1)])
            })
        ]
        let outcome = code { try store.connect().save(request) }
        failure.withLock { $0 = outcome }
        done.signal()
      }
      let outcome = try store.connect().deleteAll(BatchDelete(request: StoreRequest(entity: 0)), in: model)
      done.wait()
      let told = failure.withLock { $0 }
      // Either all new pages came before and went with their folder, or they came too late for it.
      #expect(told == nil ? outcome.deleted.count == 24 : told == .danglingReference && outcome.deleted.count == 4)
      #expect(try store.connect().count(StoreRequest(entity: 1)) == 0)
    }
  }

  @Test("a delete of many beside others that change the same rows loses nothing, whatever waits for whom")
  func besideOthers() throws {
    let (store, model) = try desk()
    let mark = model.entities[2]
    let failures = Failures()
    DispatchQueue.concurrentPerform(iterations: 3) { thread in
      do {
        for number in 0..<30 {
          let key = Int64(1_000 * (thread + 1) + number)
          let request = SaveRequest()
          request.inserts = [
            .init(entity: 2, records: [PlainRecord(mark, key: key, ["color": .text("c\(thread)")])])
          ]
          try store.connect().save(request)
          guard number % 5 == 4 else { continue }
          let path = PropertyPath(variable: 0).appending(try #require(mark.property(named: "color")).index)
          let own = StoreRequest(
            entity: 2,
            predicate: .comparison(
              Comparison(.path(path), .equal, .value(.text("c\(thread)")), kind: .text)))
          let outcome = try store.connect().deleteAll(BatchDelete(request: own), in: model)
          #expect(outcome.found == 5 && outcome.deleted.count == 5)
        }
      } catch {
        failures.add(error)
      }
    }
    #expect(failures.all.isEmpty, "\(failures.all.first.map { "\($0)" } ?? "")")
    #expect(try store.connect().count(StoreRequest(entity: 2)) == 3)
  }
}
