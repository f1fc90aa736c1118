public import TrellisModel

extension StoreConnection {
  public func fetchGroups(_ request: GroupRequest, _ body: ([StoredValue]) throws -> Void) throws {
    try collectGroups(request, body)
  }

  /// Reads the values of all rows and groups them in memory.
  package func collectGroups(_ request: GroupRequest, _ body: ([StoredValue]) throws -> Void) throws {
    var groups = try GroupCollection(request)
    try fetchValues(groups.rows, of: groups.values) { groups.add($0) }
    for group in try groups.results() { try body(group) }
  }
}

extension GroupRequest {
  /// Whether a key or an aggregate depends on data that may lie in a file.
  package func mayReadFiles(_ model: Model) -> Bool {
    let values = keys + aggregates.filter { $0.function != .rows && $0.function != .count }.map(\.value)
    return values.contains { $0.path.map { model.mayLieInFile($0, from: rows.entity) } == true }
  }
}

extension Model {
  fileprivate func mayLieInFile(_ path: PropertyPath, from entity: Int) -> Bool {
    var entity = entity
    for step in path.steps {
      guard entities.indices.contains(entity), entities[entity].properties.indices.contains(step) else { return false }
      switch entities[entity].properties[step] {
      case .attribute(let attribute): return attribute.description.isExternal
      case .relationship(let relationship): entity = relationship.destination
      }
    }
    return false
  }
}

/// The groups of a request, built row by row in memory.
package struct GroupCollection {
  private let request: GroupRequest
  private let keyCount: Int
  private let keyKinds: [ValueKind]
  private var places: [[StoredValue]: Int] = [:]
  private var groups: [CollectedGroup] = []

  /// - Throws: ``StoreError`` if there are too many sort keys.
  package init(_ request: GroupRequest) throws(StoreError) {
    try request.checkSortKeys()
    self.request = request
    keyCount = request.keys.count
    keyKinds = request.keys.map(\.kind)
    if keyCount == 0 { groups.append(CollectedGroup(keys: [], request.aggregates)) }
  }

  /// The request for the rows to add.
  package var rows: StoreRequest {
    var rows = request.rows
    if rows.limit == nil && rows.offset == 0 { rows.sort = [] }
    return rows
  }

  /// The values of a row: the keys, then those of the aggregates.
  package var values: [ProjectedValue] { request.keys + request.aggregates.map(\.value) }

  /// Adds the values of a row.
  package mutating func add(_ values: [StoredValue]) {
    let place = keyCount == 0 ? 0 : place(of: values.prefix(keyCount))
    groups[place].add(values.dropFirst(keyCount), request.aggregates)
  }

  private mutating func place(of keys: ArraySlice<StoredValue>) -> Int {
    let same = zip(keys, keyKinds).map { ValueOrder.normalized($0, kind: $1) }
    if let place = places[same] { return place }
    places[same] = groups.count
    groups.append(CollectedGroup(keys: Array(keys), request.aggregates))
    return groups.count - 1
  }

  /// The groups that meet the condition, in order, between offset and limit.
  ///
  /// - Throws: ``StoreError`` if the condition is nested too deep.
  package func results() throws -> [[StoredValue]] {
    try request.selected(from: groups.map { $0.columns(request.aggregates) })
  }
}

extension GroupRequest {
  /// The groups that meet the condition, in order, between offset and limit.
  ///
  /// - Parameter groups: The columns of all groups.
  /// - Throws: ``StoreError`` if the condition is nested too deep.
  package func selected(from groups: [[StoredValue]]) throws -> [[StoredValue]] {
    var found = groups.map(GroupRow.init)
    try StoreError.evaluating {
      if let condition {
        let evaluator = try PredicateEvaluator(condition)
        found = try found.filter { try evaluator.matches($0) }
      }
      found = try SortOrder(order).sorted(found)
    }
    return found.dropFirst(max(0, offset)).prefix(max(0, limit ?? .max)).map(\.columns)
  }
}

/// A group that rows are added to.
private struct CollectedGroup {
  private let keys: [StoredValue]
  private var states: [AggregateState]

  init(keys: [StoredValue], _ aggregates: [GroupAggregate]) {
    self.keys = keys
    states = aggregates.map { AggregateState($0.function) }
  }

  mutating func add(_ values: ArraySlice<StoredValue>, _ aggregates: [GroupAggregate]) {
    for (place, value) in values.enumerated() { states[place].add(value, aggregates[place].value.kind) }
  }

  func columns(_ aggregates: [GroupAggregate]) -> [StoredValue] {
    keys + zip(states, aggregates).map { $0.result(of: $1) }
  }
}

/// The intermediate state of an aggregate.
private struct AggregateState {
  private let function: GroupAggregate.Function
  private var count: Int64 = 0
  private var extreme = StoredValue.null
  private var seen: Set<StoredValue> = []
  private var sum: NumberSum?

  init(_ function: GroupAggregate.Function) {
    self.function = function
    if function == .sum || function == .average { sum = NumberSum() }
  }

  mutating func add(_ value: StoredValue, _ kind: ValueKind) {
    guard !ValueOrder.isNil(value) || function == .rows else { return }
    switch function {
    case .rows, .count: count += 1
    case .distinctCount: seen.insert(ValueOrder.normalized(value, kind: kind))
    case .minimum: if extreme.isNull || ValueOrder.compare(value, extreme, kind: kind) < 0 { extreme = value }
    case .maximum: if extreme.isNull || ValueOrder.compare(value, extreme, kind: kind) > 0 { extreme = value }
    case .sum, .average: sum?.add(value, kind: kind)
    }
  }

  func result(of aggregate: GroupAggregate) -> StoredValue {
    switch function {
    case .rows, .count: .integer(count)
    case .distinctCount: .integer(Int64(seen.count))
    case .minimum, .maximum: extreme
    case .sum: sum?.total(aggregate.value.kind) ?? .null
    case .average: sum?.mean(aggregate.value.kind) ?? .null
    }
  }
}

/// A group as an object that conditions and sort keys are evaluated on: its columns are its properties.
private struct GroupRow: QueryObject {
  let columns: [StoredValue]

  // The keys of groups differ, and they are the last sort keys, so there are no ties.
  var queryKey: Int64 { 0 }
  var queryEntityName: String { "" }
  func queryValue(_ column: Int) -> StoredValue { columns.indices.contains(column) ? columns[column] : .null }
  func queryPartner(_ column: Int) -> GroupRow? { nil }
  func queryMembers(_ column: Int) -> [GroupRow] { [] }
}
