import Testing
import TrellisModel
import TrellisStorage
import TrellisStoreTesting

// The sample of Docs/WritingAStore.md.

final class TellingStore: Store {
  private let rows: MemoryStore
  private let tell: @Sendable (_ inserted: Int, _ updated: Int, _ deleted: Int) -> Void

  init(_ model: Model, tell: @escaping @Sendable (_ inserted: Int, _ updated: Int, _ deleted: Int) -> Void) {
    rows = MemoryStore(model, name: "telling")
    self.tell = tell
  }

  var name: String { rows.name }
  func connect() throws -> any StoreConnection { TellingConnection(rows.connect(), tell) }
  func reserveKeys(_ count: Int64) throws -> Range<Int64> { try rows.reserveKeys(count) }
  func returnKeys(_ unused: Range<Int64>) { rows.returnKeys(unused) }
}

final class TellingConnection: StoreConnection {
  private let rows: any StoreConnection
  private let tell: (_ inserted: Int, _ updated: Int, _ deleted: Int) -> Void

  init(_ rows: any StoreConnection, _ tell: @escaping (_ inserted: Int, _ updated: Int, _ deleted: Int) -> Void) {
    self.rows = rows
    self.tell = tell
  }

  func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws { try rows.fetch(request, body) }

  func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    try rows.fetchKeys(request, body)
  }

  func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try rows.fetchValues(request, of: paths, body)
  }

  func plan(of request: StoreRequest) throws -> QueryPlan { try rows.plan(of: request) }

  func count(_ request: StoreRequest) throws -> Int { try rows.count(request) }

  func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    try rows.rows(of: entity, keys: keys, body)
  }

  func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    try rows.members(of: relationship, owners: owners, body)
  }

  func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try rows.memberKeys(of: relationship, owners: owners, body)
  }

  func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws {
    try rows.lastPlaces(of: relationship, owners: owners, body)
  }

  func save(_ request: SaveRequest) throws -> SaveOutcome {
    let outcome = try rows.save(request)
    tell(
      request.inserts.reduce(0) { $0 + $1.records.count }, request.updates.reduce(0) { $0 + $1.records.count },
      request.deletes.reduce(0) { $0 + $1.keys.count } + outcome.cascaded.count)
    return outcome
  }
}

extension StoreConfiguration {
  static func telling(_ tell: @escaping @Sendable (Int, Int, Int) -> Void) -> StoreConfiguration {
    StoreConfiguration { model in TellingStore(model, tell: tell) }
  }
}

@Suite("The guide to writing a store") struct GuideStoreTests {
  @Test("the sample store passes the kit whole, and tells of its saves")
  func conforms() {
    let saves = Locked(0)
    #expect(StoreConformance { model in TellingStore(model) { _, _, _ in saves.withLock { $0 += 1 } } }.runAll() == [])
    #expect(saves.withLock { $0 } > 50)
  }
}
