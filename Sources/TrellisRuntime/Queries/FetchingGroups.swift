import TrellisModel
import TrellisStorage

extension ObjectGraph {

  // MARK: Steps

  /// Iterates over groups of objects. The store answers unless unsaved changes affect the result.
  func forEachGroup(
    of request: GroupRequest, _ rules: FetchRules, _ body: ([StoredValue]) throws -> Void
  ) throws {
    let values = request.keys + request.aggregates.map(\.value)
    if try isStored(request.rows, rules, values) { return try connection().fetchGroups(request, body) }
    var groups = try GroupCollection(request)
    try forEachPresentRow(of: groups.rows, rules, groups.values) { groups.add($0) }
    for group in try groups.results() { try body(group) }
  }

  /// The aggregates over all objects of a request, as one group.
  func aggregated<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, _ aggregates: [GroupAggregate]
  ) throws -> FetchedGroup {
    try prepareFetch()
    var group = FetchedGroup(keyCount: 0)
    let groups = GroupRequest(try request.storeRequest(in: self), keys: [], aggregates: aggregates)
    try forEachGroup(of: groups, request.rules) { group.columns = $0 }
    return group
  }

  /// Iterates over the groups of a request. Throws if a key cannot be read.
  ///
  /// - Parameter body: reads the group's key from the row, and its aggregates.
  func grouped<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, by keys: [ProjectedValue], _ aggregates: [GroupAggregate], _ terms: GroupTerms,
    _ body: (ProjectedRow, FetchedGroup) throws -> Void
  ) throws {
    try prepareFetch()
    let rows = try request.storeRequest(in: self)
    let groups = try terms.request(for: rows, by: keys, aggregates, runtime.model)
    let row = ProjectedRow()
    var group = FetchedGroup(keyCount: keys.count)
    try forEachGroup(of: groups, request.rules) { columns in
      group.columns = columns
      row.values = Array(columns.prefix(keys.count))
      try body(row, group)
      if let problem = row.problem { throw unreadable(problem, keys, rows) }
    }
  }
}

/// The columns of a group. A column that the store leaves out is null.
struct FetchedGroup {
  let keyCount: Int
  var columns: [StoredValue] = []

  init(keyCount: Int) { self.keyCount = keyCount }

  /// An aggregate by its number.
  subscript(number: Int) -> StoredValue {
    let column = keyCount + number
    return columns.indices.contains(column) ? columns[column] : .null
  }
}

// MARK: - Group terms

/// The condition, order and window of a request for groups, before the columns are numbered.
struct GroupTerms {
  let condition: GroupCondition
  let sort: [GroupSortTerm]
  let limit: Int?
  let offset: Int

  /// - Throws: ``StoreError`` if the condition is nested too deep, or a sort key is no key of the groups.
  func request(
    for rows: StoreRequest, by keys: [ProjectedValue], _ aggregates: [GroupAggregate], _ model: Model
  ) throws -> GroupRequest {
    var columns = GroupColumns(keys, aggregates)
    let predicate = try condition.predicate { columns.path(to: $0) }
    var sort: [SortKey] = []
    for term in self.sort {
      switch term.column {
      case .aggregate(let aggregate):
        sort.append(SortKey(columns.path(to: aggregate), descending: term.isDescending, kind: aggregate.kind))
      case .key(let key):
        guard key.query == nil, let path = columns.path(toKey: key.value) else {
          throw Self.noKey(model.name(of: key.value, from: rows.entity), model.entities[rows.entity].name)
        }
        sort.append(
          SortKey(path, descending: key.isDescending, kind: key.kind, options: key.options, language: key.language))
      }
    }
    return GroupRequest(
      rows, keys: keys, aggregates: columns.aggregates, condition: predicate, sort: sort,
      limit: limit.map { max(0, $0) }, offset: max(0, offset))
  }

  private static func noKey(_ name: String, _ entity: String) -> StoreError {
    StoreError(
      .unsupported, "The groups are to be sorted by \(name), which is none of their keys.",
      remedy: "Sort by one of the keys, or by an aggregate such as its minimum.", entity: entity)
  }
}

/// The columns of groups with their numbers. Aggregates that only the condition or the order needs come last.
private struct GroupColumns {
  private let keys: [Operand]
  private(set) var aggregates: [GroupAggregate]

  init(_ keys: [ProjectedValue], _ aggregates: [GroupAggregate]) {
    self.keys = keys.map(\.value)
    self.aggregates = aggregates
  }

  func path(toKey key: Operand) -> PropertyPath? {
    keys.firstIndex(of: key).map { GroupRequest.path(toColumn: $0) }
  }

  mutating func path(to aggregate: GroupAggregate) -> PropertyPath {
    if let place = aggregates.firstIndex(of: aggregate) { return GroupRequest.path(toColumn: keys.count + place) }
    aggregates.append(aggregate)
    return GroupRequest.path(toColumn: keys.count + aggregates.count - 1)
  }
}
