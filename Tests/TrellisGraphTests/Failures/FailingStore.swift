import TrellisModel
import TrellisStorage

/// A store that fails when it is told to, and otherwise is the one that it wraps.
final class FailingStore: Store {
  private let store: any Store
  private let failure: FailureSwitch

  init(_ store: any Store, _ failure: FailureSwitch) {
    self.store = store
    self.failure = failure
  }

  var name: String { store.name }

  func connect() throws -> any StoreConnection {
    try failure.passCall()
    return FailingConnection(try store.connect(), failure)
  }

  func reserveKeys(_ count: Int64) throws -> Range<Int64> { try store.reserveKeys(count) }
  func returnKeys(_ unused: Range<Int64>) { store.returnKeys(unused) }
}

extension StoreConfiguration {
  /// The same store, failing when told to.
  func failing(_ failure: FailureSwitch) -> StoreConfiguration {
    StoreConfiguration { model in FailingStore(try self.open(model), failure) }
  }
}

final class FailingConnection: StoreConnection {
  private let connection: any StoreConnection
  private let failure: FailureSwitch

  init(_ connection: any StoreConnection, _ failure: FailureSwitch) {
    self.connection = connection
    self.failure = failure
  }

  func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    try failure.passCall()
    try connection.fetch(request, body)
  }

  func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    try failure.passCall()
    try connection.fetchKeys(request, body)
  }

  func count(_ request: StoreRequest) throws -> Int {
    try failure.passCall()
    return try connection.count(request)
  }

  func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    try failure.passCall()
    try connection.rows(of: entity, keys: keys, body)
  }

  func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try failure.passCall()
    try connection.fetchValues(request, of: paths, body)
  }

  func plan(of request: StoreRequest) throws -> QueryPlan { try connection.plan(of: request) }

  func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    try failure.passCall()
    try connection.members(of: relationship, owners: owners, body)
  }

  func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try failure.passCall()
    try connection.memberKeys(of: relationship, owners: owners, body)
  }

  func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws {
    try failure.passCall()
    try connection.lastPlaces(of: relationship, owners: owners, body)
  }

  func memberPlaces(
    of relationship: RelationshipNumber, owner: Int64, members: [Int64],
    _ body: (_ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try failure.passCall()
    try connection.memberPlaces(of: relationship, owner: owner, members: members, body)
  }

  func save(_ request: SaveRequest) throws -> SaveOutcome {
    try failure.passCall()
    guard let number = failure.takeRecord() else { return try connection.save(request) }
    let broken = request.copy()
    guard broken.breakRecord(number) else { return try connection.save(request) }
    failure.countFailure()
    return try connection.save(broken)
  }
}

extension SaveRequest {
  /// Makes the n-th thing that the request writes impossible to write, so that the store itself gives up in the middle.
  ///
  /// - Returns: whether there is an n-th.
  fileprivate func breakRecord(_ number: Int) -> Bool {
    var number = number
    for group in inserts.indices {
      if number < inserts[group].records.count {
        inserts[group].records[number] = BrokenRecord(inserts[group].records[number])
        return true
      }
      number -= inserts[group].records.count
    }
    for group in updates.indices {
      if number < updates[group].records.count {
        updates[group].records[number] = BrokenRecord(updates[group].records[number])
        return true
      }
      number -= updates[group].records.count
    }
    for group in deletes.indices {
      if number < deletes[group].versions.count {
        deletes[group].versions[number] += 1000
        return true
      }
      number -= deletes[group].versions.count
    }
    for group in pairs.indices {
      if number < pairs[group].added.count {
        pairs[group].added[number].first = .max
        return true
      }
      number -= pairs[group].added.count
    }
    return false
  }
}

/// A record that no store can write: its version is not the row's, and a new one writes a value too many.
private final class BrokenRecord: StoredRecord {
  private let record: any StoredRecord

  init(_ record: any StoredRecord) { self.record = record }

  var storedKey: Int64 { record.storedKey }
  var storedVersion: Int64 { record.storedVersion + 1000 }

  func writeRow(to row: RowWriter) {
    record.writeRow(to: row)
    row.text("one too many")
  }

  func writeColumns(of properties: ColumnMask, to row: RowWriter) { record.writeColumns(of: properties, to: row) }
}
