import TrellisModel
import TrellisStorage

/// Says what an ``InterferingStore`` does beside its work.
final class Interference: Sendable {
  private struct State {
    var fails = false
    var planted: [String: StoredValue] = [:]
    var rival: (@Sendable () throws -> Void)?
  }

  private let state = Locked(State())

  struct Failure: Error {}

  /// Whether every call fails.
  var fails: Bool {
    get { state.withLock { $0.fails } }
    set { state.withLock { $0.fails = newValue } }
  }

  /// Lets every row hold a value in a column, as if another program had written it.
  func plant(_ value: StoredValue?, in column: String) { state.withLock { $0.planted[column] = value } }

  /// What somebody else does before each save; the saves of that are let through.
  func setRival(_ rival: (@Sendable () throws -> Void)?) { state.withLock { $0.rival = rival } }

  func letRivalGoFirst() throws {
    let rival = state.withLock { $0.rival }
    guard let rival else { return }
    setRival(nil)
    defer { setRival(rival) }
    try rival()
  }

  func pass() throws { if fails { throw Failure() } }

  func planted(_ columns: [String]) -> [Int: StoredValue] {
    state.withLock { state in
      guard !state.planted.isEmpty else { return [:] }
      return Dictionary(
        uniqueKeysWithValues: columns.enumerated().compactMap { number, name in
          state.planted[name].map { (number, $0) }
        })
    }
  }
}

/// A store that does as it is told, and otherwise is the one that it wraps.
final class InterferingStore: Store {
  private let store: any Store
  private let interference: Interference
  private let model: Model

  init(_ store: any Store, _ interference: Interference, _ model: Model) {
    self.store = store
    self.interference = interference
    self.model = model
  }

  var name: String { store.name }

  func connect() throws -> any StoreConnection {
    try interference.pass()
    return InterferingConnection(try store.connect(), interference, model)
  }

  func reserveKeys(_ count: Int64) throws -> Range<Int64> { try store.reserveKeys(count) }
  func returnKeys(_ unused: Range<Int64>) { store.returnKeys(unused) }
}

final class InterferingConnection: StoreConnection {
  private let connection: any StoreConnection
  private let interference: Interference
  private let model: Model

  init(_ connection: any StoreConnection, _ interference: Interference, _ model: Model) {
    self.connection = connection
    self.interference = interference
    self.model = model
  }

  private func show(_ row: RowReader, _ body: (RowReader) throws -> Void) throws {
    let columns = model.entities[row.entity].columns.map(\.name)
    let planted = interference.planted(columns)
    try body(planted.isEmpty ? row : PlantedReader(row, planted))
  }

  func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    try interference.pass()
    try connection.fetch(request) { try show($0, body) }
  }

  func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    try interference.pass()
    try connection.fetchKeys(request, body)
  }

  func count(_ request: StoreRequest) throws -> Int {
    try interference.pass()
    return try connection.count(request)
  }

  func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    try interference.pass()
    try connection.rows(of: entity, keys: keys) { try show($0, body) }
  }

  func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    try interference.pass()
    try connection.members(of: relationship, owners: owners) { owner, row in try show(row) { try body(owner, $0) } }
  }

  func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try interference.pass()
    try connection.memberKeys(of: relationship, owners: owners, body)
  }

  func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws {
    try interference.pass()
    try connection.lastPlaces(of: relationship, owners: owners, body)
  }

  func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try interference.pass()
    try connection.fetchValues(request, of: paths, body)
  }

  func plan(of request: StoreRequest) throws -> QueryPlan { try connection.plan(of: request) }

  func save(_ request: SaveRequest) throws -> SaveOutcome {
    try interference.pass()
    try interference.letRivalGoFirst()
    return try connection.save(request)
  }
}

/// A row in which some columns hold other values.
private final class PlantedReader: RowReader {
  private let row: RowReader
  private let planted: [Int: StoredValue]
  private var held: [UnsafeMutableRawBufferPointer] = []

  init(_ row: RowReader, _ planted: [Int: StoredValue]) {
    self.row = row
    self.planted = planted
    super.init()
    key = row.key
    version = row.version
    entity = row.entity
  }

  deinit { for buffer in held { buffer.deallocate() } }

  override func isNull(_ column: Int) -> Bool { planted[column]?.isNull ?? row.isNull(column) }

  override func integer(_ column: Int) -> Int64 {
    guard let value = planted[column] else { return row.integer(column) }
    if case .integer(let number) = value { return number }
    report(column, "there is no integer")
    return 0
  }

  override func real(_ column: Int) -> Double {
    guard let value = planted[column] else { return row.real(column) }
    if case .real(let number) = value { return number }
    report(column, "there is no real")
    return 0
  }

  override func text(_ column: Int) -> String {
    guard let value = planted[column] else { return row.text(column) }
    if case .text(let text) = value { return text }
    report(column, "there is no text")
    return ""
  }

  override func bytes(_ column: Int) -> UnsafeRawBufferPointer {
    switch planted[column] {
    case nil: return row.bytes(column)
    case .text(let text): return keep(Array(text.utf8))
    case .blob(let bytes): return keep(bytes)
    default:
      report(column, "there are no bytes")
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
  }

  private func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, bytes.count), alignment: 16)
    buffer.copyBytes(from: bytes)
    held.append(buffer)
    return UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count])
  }
}
