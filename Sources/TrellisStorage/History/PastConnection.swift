package import TrellisModel

/// What runs reads that see a store as it was after a transaction.
package protocol PastMoment: AnyObject {
  /// The name of the store.
  var name: String { get }
  var trace: StatementTrace? { get set }
  /// Runs a closure whose reads see the same former rows.
  ///
  /// - Throws: ``StoreError`` with the code `historyExpired` if the former rows are not kept any more; errors of `body`.
  func reading<Result>(_ body: (any StoreConnection) throws -> Result) throws -> Result
}

/// A context's connection to a store as it was after a transaction. It cannot save.
package final class PastConnection: StoreConnection {
  private let moment: any PastMoment

  package init(_ moment: any PastMoment) { self.moment = moment }

  package var trace: StatementTrace? {
    get { moment.trace }
    set { moment.trace = newValue }
  }

  private func reading<Result>(_ body: (any StoreConnection) throws -> Result) throws -> Result {
    do { return try moment.reading(body) } catch let error as StoreError { throw named(error) }
  }

  /// A table without former rows names itself in the error of a statement.
  private func named(_ error: StoreError) -> StoreError {
    guard let start = error.message.range(of: HistoryError.missingPrefix) else { return error }
    let name = error.message[start.upperBound...].prefix { !". ;\"".contains($0) }
    return HistoryError.noValues(String(name), moment.name)
  }

  // MARK: Reading

  package func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    try reading { try $0.fetch(request, body) }
  }

  package func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    try reading { try $0.fetchKeys(request, body) }
  }

  package func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try reading { try $0.fetchValues(request, of: paths, body) }
  }

  package func fetchGroups(_ request: GroupRequest, _ body: ([StoredValue]) throws -> Void) throws {
    try reading { try $0.fetchGroups(request, body) }
  }

  package func plan(of request: StoreRequest) throws -> QueryPlan { try reading { try $0.plan(of: request) } }

  package func count(_ request: StoreRequest) throws -> Int { try reading { try $0.count(request) } }

  package func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    try reading { try $0.rows(of: entity, keys: keys, body) }
  }

  package func holders(
    of key: UniqueKey, values: [[StoredValue]], in model: Model, _ body: (_ number: Int, RowReader) throws -> Void
  ) throws {
    try reading { try $0.holders(of: key, values: values, in: model, body) }
  }

  package func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    try reading { try $0.members(of: relationship, owners: owners, body) }
  }

  package func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try reading { try $0.memberKeys(of: relationship, owners: owners, body) }
  }

  package func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws {
    try reading { try $0.lastPlaces(of: relationship, owners: owners, body) }
  }

  package func memberPlaces(
    of relationship: RelationshipNumber, owner: Int64, members: [Int64],
    _ body: (_ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try reading { try $0.memberPlaces(of: relationship, owner: owner, members: members, body) }
  }

  /// The moment is always the same.
  package func pin() throws {}
  package func unpin() {}

  // MARK: Writing

  package func save(_ request: SaveRequest) throws -> SaveOutcome { throw HistoryError.past(moment.name) }

  package func updateAll(_ update: BatchUpdate, in model: Model) throws -> BatchOutcome {
    throw HistoryError.past(moment.name)
  }

  package func deleteAll(_ delete: BatchDelete, in model: Model) throws -> BatchOutcome {
    throw HistoryError.past(moment.name)
  }
}
