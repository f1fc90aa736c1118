import Testing
import TrellisModel
import TrellisStorage
import TrellisStoreTesting
import TrellisTestSupport

@Suite("A store that cannot keep every value") struct LimitedStoreTests {
  private static let first: Int64 = -210_866_803_200_000_000
  private static let dates = StoreLimit.datesBefore(microseconds: first)
  private static let both: Set<StoreLimit> = [.zeroCharacter, dates]

  @Test("it keeps every rule with its limits", arguments: StoreConformance.cases + StoreConformance.limitCases(both))
  func rules(_ rule: ConformanceCase) {
    #expect(StoreConformance(limits: Self.both) { LimitedStore($0, Self.both) }.run(rule) == [])
  }

  @Test("it keeps all rules at once, whichever limits it has", arguments: [[], [.zeroCharacter], [dates], both])
  func allRules(_ limits: Set<StoreLimit>) {
    #expect(StoreConformance(limits: limits) { LimitedStore($0, limits) }.runAll(queries: 40) == [])
  }

  @Test(
    "what it says of comparisons holds for every store", arguments: TestedStore.all,
    StoreConformance.limitCases(both).filter { !$0.name.contains("refused") })
  func comparisons(_ store: TestedStore, _ rule: ConformanceCase) throws {
    #expect(try store.make(TestFolder()).run(rule) == [])
  }

  @Test("each limit adds its rules, and takes none away")
  func additions() {
    #expect(StoreConformance.limitCases([]).isEmpty)
    let names = Self.both.map { StoreConformance.limitCases([$0]).map(\.name) }
    #expect(names.allSatisfy { $0.count >= 5 })
    #expect(StoreConformance.limitCases(Self.both).map(\.name).sorted() == names.flatMap { $0 }.sorted())
    let all = (StoreConformance.cases + StoreConformance.limitCases(Self.both)).map(\.name)
    #expect(Set(all).count == all.count)
    // A later first date includes what an earlier one refuses.
    let late = StoreLimit.datesBefore(microseconds: 0)
    #expect(
      StoreConformance.limitCases([late, Self.dates]).map(\.name) == StoreConformance.limitCases([late]).map(\.name))
  }

  @Test("without its limits it breaks the rules that have such values, and no others")
  func undeclared() {
    let values = [
      "values of every kind come back bit by bit, to the edges of their types",
      "values are updated to every kind of value, and to null",
    ]
    let texts = [
      "a text with a zero character is compared to its end",
      "a search finds words of Korean anywhere, others where a word begins",
    ]
    #expect(broken([], LimitedStore.Fault.none, [.zeroCharacter]) == Set(values + texts))
    #expect(broken([], LimitedStore.Fault.none, [Self.dates]) == Set(values))
    // Each limit stands for itself.
    #expect(broken([Self.dates], LimitedStore.Fault.none, Self.both) == Set(values + texts))
    #expect(broken([.zeroCharacter], LimitedStore.Fault.none, Self.both) == Set(values))
  }

  @Test("a store without the limit breaks the rules of refusals only")
  func unneeded() {
    let places = ["at an insert", "at an update", "as a new value of many rows"]
    #expect(
      broken(Self.both, .none, [])
        == Set(Self.both.flatMap { limit in places.map { "\(limit) is refused \($0), and nothing is changed" } }))
  }

  @Test("a store that changes such values instead of refusing them is found out")
  func dropping() {
    let broken = broken(Self.both, .changesValues, Self.both)
    for limit in Self.both {
      #expect(broken.contains("\(limit) is refused at an insert, and nothing is changed"))
      #expect(broken.contains("\(limit) is refused at an update, and nothing is changed"))
      #expect(broken.contains("\(limit) is refused as a new value of many rows, and nothing is changed"))
    }
  }

  @Test("a store that saves what it can, and refuses the rest, is found out")
  func half() {
    #expect(
      broken(Self.both, .savesTheRest, Self.both)
        == Set(
          Self.both.flatMap { limit in
            ["at an insert", "at an update"].map { "\(limit) is refused \($0), and nothing is changed" }
          }))
  }

  @Test("a store that refuses requests with such values is found out")
  func refusedRequests() {
    let broken = broken(Self.both, .refusesRequests, Self.both)
    #expect(
      broken.isSuperset(of: [
        "a text with U+0000 is compared with others, by every operator",
        "a text with U+0000 is found nowhere, in lists, by unique keys, and among members",
        "a text with U+0000 is part of a computed value", "a text with a zero character is compared to its end",
        "\(Self.dates) is compared with others, by every operator",
      ]))
    #expect(!broken.contains("\(Self.dates) is refused at an insert, and nothing is changed"))
  }

  @Test("a store that refuses more than it says is found out")
  func tooLate() {
    let broken = Set(
      StoreConformance(limits: [Self.dates]) {
        LimitedStore($0, [.datesBefore(microseconds: Self.first + 1)])
      }.runAll(queries: 0).map(\.rule))
    #expect(broken.contains("the first date that the store can keep comes back"))
  }

  /// The rules that a store breaks.
  private func broken(
    _ declared: Set<StoreLimit>, _ fault: LimitedStore.Fault, _ limits: Set<StoreLimit>
  ) -> Set<String> {
    Set(
      StoreConformance(limits: declared) { LimitedStore($0, limits, fault) }.runAll(queries: 0).map(\.rule))
  }
}

/// A store in memory that refuses what a database could not keep.
private final class LimitedStore: Store {
  /// What the store does wrong.
  enum Fault { case none, changesValues, savesTheRest, refusesRequests }

  private let rows: MemoryStore
  private let model: Model
  private let limits: Set<StoreLimit>
  private let fault: Fault

  init(_ model: Model, _ limits: Set<StoreLimit>, _ fault: Fault = .none) {
    rows = MemoryStore(model)
    (self.model, self.limits, self.fault) = (model, limits, fault)
  }

  var name: String { rows.name }
  func connect() throws -> any StoreConnection { LimitedConnection(rows.connect(), model, limits, fault) }
  func reserveKeys(_ count: Int64) throws -> Range<Int64> { try rows.reserveKeys(count) }
  func returnKeys(_ unused: Range<Int64>) { rows.returnKeys(unused) }
}

private final class LimitedConnection: StoreConnection {
  private let rows: any StoreConnection
  private let model: Model
  private let limits: Set<StoreLimit>
  private let fault: LimitedStore.Fault

  init(_ rows: any StoreConnection, _ model: Model, _ limits: Set<StoreLimit>, _ fault: LimitedStore.Fault) {
    (self.rows, self.model, self.limits, self.fault) = (rows, model, limits, fault)
  }

  // MARK: Saving

  func save(_ request: SaveRequest) throws -> SaveOutcome {
    let all = request.inserts.flatMap(\.records) + request.updates.flatMap(\.records)
    let refused = all.compactMap { record in
      let values = LimitedRow(record, model.entities[entity(of: record, in: request)])
      return values.canBeKept(limits) ? nil : values
    }
    guard let first = refused.first else { return try rows.save(request) }
    switch fault {
    case .changesValues:
      for group in request.inserts.indices {
        request.inserts[group].records = request.inserts[group].records.map { changed($0, request) }
      }
      for group in request.updates.indices {
        request.updates[group].records = request.updates[group].records.map { changed($0, request) }
      }
      return try rows.save(request)
    case .savesTheRest:
      let keys = Set(refused.map(\.storedKey))
      request.inserts.removeAll { $0.records.contains { keys.contains($0.storedKey) } }
      request.updates.removeAll { $0.records.contains { keys.contains($0.storedKey) } }
      _ = try rows.save(request)
    case .none, .refusesRequests: break
    }
    throw StoreError(
      .unstorableValue, "A value of \(first.entity.name) cannot be kept.", remedy: "Set another value before saving.")
  }

  private func entity(of record: any StoredRecord, in request: SaveRequest) -> Int {
    let groups = request.inserts.map { ($0.entity, $0.records) } + request.updates.map { ($0.entity, $0.records) }
    return groups.first { $0.1.contains { $0 === record } }?.0 ?? 0
  }

  private func changed(_ record: any StoredRecord, _ request: SaveRequest) -> any StoredRecord {
    let row = LimitedRow(record, model.entities[entity(of: record, in: request)])
    row.replaceRefused(limits)
    return row
  }

  // MARK: Reading

  private func check(_ request: Any) throws {
    guard fault == .refusesRequests else { return }
    let text = String(reflecting: request)
    let dates = limits.compactMap { if case .datesBefore(let date) = $0 { date } else { nil } }
    guard text.contains("\\0") || dates.contains(where: { text.contains("integer(\($0 - 1))") }) else { return }
    throw StoreError(.inputOutput, "The database refuses the request.", remedy: "None.")
  }

  func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    try check(request)
    try rows.fetch(request, body)
  }

  func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    try check(request)
    try rows.fetchKeys(request, body)
  }

  func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try check(request)
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
}

/// A record with the values that it would write, which can be others.
private final class LimitedRow: StoredRecord {
  let entity: Entity
  let storedKey: Int64
  let storedVersion: Int64
  private var values: [StoredValue]

  init(_ record: any StoredRecord, _ entity: Entity) {
    let collector = ValueCollector()
    record.writeRow(to: collector)
    self.entity = entity
    (storedKey, storedVersion, values) = (record.storedKey, record.storedVersion, collector.values)
  }

  private func isKept(_ column: Int, _ limits: Set<StoreLimit>) -> Bool {
    let attribute = entity.properties[entity.columns[column].property].attribute
    return limits.allSatisfy { limit in
      switch (limit, values[column]) {
      case (.zeroCharacter, .text(let text)): !text.utf8.contains(0)
      case (.datesBefore(let first), .integer(let date)): attribute?.type != .date || date >= first
      default: true
      }
    }
  }

  func canBeKept(_ limits: Set<StoreLimit>) -> Bool { values.indices.allSatisfy { isKept($0, limits) } }

  func replaceRefused(_ limits: Set<StoreLimit>) {
    for column in values.indices where !isKept(column, limits) {
      if case .text(let text) = values[column] {
        values[column] = .text(text.replacing("\u{0}", with: ""))
      } else {
        values[column] = .null
      }
    }
  }

  func writeRow(to row: RowWriter) {
    for (column, value) in zip(entity.columns, values) { row.write(value, of: column, in: entity) }
  }

  func writeColumns(of properties: ColumnMask, to row: RowWriter) {
    for (column, value) in zip(entity.columns, values) where properties.contains(column.property) {
      row.write(value, of: column, in: entity)
    }
  }
}

private final class ValueCollector: RowWriter {
  private(set) var values: [StoredValue] = []

  override func null() { values.append(.null) }
  override func integer(_ value: Int64) { values.append(.integer(value)) }
  override func real(_ value: Double) { values.append(.real(value)) }
  override func text(_ value: String) { values.append(.text(value)) }
  override func blob(_ value: UnsafeRawBufferPointer) { values.append(.blob([UInt8](value))) }
}
