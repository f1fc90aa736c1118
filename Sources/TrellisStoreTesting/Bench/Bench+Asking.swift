import TrellisModel
import TrellisStorage

extension Bench {
  // MARK: Queries

  /// A path of dotted names. The empty text is the object itself.
  func path(_ entity: String, _ names: String, variable: Int = 0) throws -> PropertyPath {
    var path = PropertyPath(variable: variable)
    var current = try self.entity(entity)
    for name in names.split(separator: ".") {
      let property = try property(current, String(name))
      path = path.appending(property.index)
      if let relationship = property.relationship { current = model.entities[relationship.destination] }
    }
    return path
  }

  func compare(
    _ entity: String, _ names: String, _ relation: ComparisonOperator, _ value: StoredValue, _ kind: ValueKind,
    _ options: TextOptions = [], variable: Int = 0
  ) throws -> QueryPredicate {
    .comparison(
      Comparison(
        .path(try path(entity, names, variable: variable)), relation, .value(value), kind: kind, options: options))
  }

  func sort(
    _ entity: String, _ names: String, _ kind: ValueKind, descending: Bool = false, _ options: TextOptions = []
  ) throws -> SortKey {
    SortKey(try path(entity, names), descending: descending, kind: kind, options: options)
  }

  func request(
    _ entity: String, _ predicate: QueryPredicate? = nil, sort: [SortKey] = [], limit: Int? = nil, offset: Int = 0,
    subentities: Bool = true
  ) throws -> StoreRequest {
    StoreRequest(
      entity: try self.entity(entity).index, includesSubentities: subentities, predicate: predicate, sort: sort,
      limit: limit, offset: offset)
  }

  // MARK: Answers

  /// The keys that a request returns, after checking that fetch, keys and count agree.
  func keys(_ request: StoreRequest, line: Int = #line) throws -> [Int64] {
    var fetched: [Int64] = []
    try connection.fetch(request) { fetched.append($0.key) }
    var keys: [Int64] = []
    try connection.fetchKeys(request) { key, _ in keys.append(key) }
    expect(keys, is: fetched, line: line)
    expect(try connection.count(request), is: fetched.count, line: line)
    return fetched
  }

  /// Checks that exactly these records match, in the order of their keys.
  func expect(
    _ entity: String, _ predicate: QueryPredicate, matches expected: [Record], line: Int = #line
  ) throws {
    expect(try keys(request(entity, predicate), line: line), is: expected.map(\.storedKey).sorted(), line: line)
  }

  /// All rows of an entity, by key.
  func rows(_ entity: String, on connection: (any StoreConnection)? = nil) throws -> [RowImage] {
    var rows: [RowImage] = []
    try (connection ?? self.connection).fetch(request(entity)) { rows.append(RowImage($0, model)) }
    return rows
  }

  /// Checks that the store has exactly these rows of an entity.
  func expectRows(_ entity: String, _ records: [Record], line: Int = #line) throws {
    let expected = records.sorted { $0.storedKey < $1.storedKey }.map { RowImage($0) }
    expect(try rows(entity), is: expected, line: line)
  }

  /// The members of one owner by key, after checking that rows and keys agree.
  func members(_ entity: String, _ name: String, of owner: Record, line: Int = #line) throws -> [Int64] {
    let number = try relationship(entity, name)
    var read: [Int64] = []
    try connection.members(of: number, owners: [owner.storedKey]) { _, row in read.append(row.key) }
    var keys: [Int64] = []
    try connection.memberKeys(of: number, owners: [owner.storedKey]) { _, member, _ in keys.append(member) }
    expect(keys, is: read, line: line)
    return keys
  }

  /// The current row of a record. Nil if there is none.
  func row(_ record: Record) throws -> RowImage? {
    var found: RowImage?
    try connection.rows(of: record.entity.index, keys: [record.storedKey]) { found = RowImage($0, model) }
    return found
  }
}
