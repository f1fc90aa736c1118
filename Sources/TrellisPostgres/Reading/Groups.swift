package import TrellisModel
package import TrellisStorage

/// A request for groups as a statement that returns all groups, each once. Their condition, order and limit are applied in
/// memory, where averages are exact.
private struct ServerGroupStatement {
  let statement: ServerStatement
  /// The number of the first column of each aggregate. Sums and averages have two: the sum and the number of values.
  let places: [Int]

  /// - Returns: nil if the server's groups or aggregates would not be exact.
  init?(_ request: GroupRequest, _ store: PostgresStore, _ dates: DateBounds) throws {
    let isWindow = request.rows.limit != nil || request.rows.offset > 0
    var rows = request.rows
    if !isWindow { rows.sort = [] }
    var translated = try TranslatedRequest(
      rows, store, dates, isOrdered: isWindow, ordersFoldedTexts: false)
    guard translated.isExact else { return nil }
    var values: [(sql: String, type: ServerType)] = []
    for projected in request.keys + request.aggregates.map(\.value) {
      guard let value = try translated.conditions.value(projected.value, projected.kind) else { return nil }
      values.append((value.sql, value.type))
    }
    // An inner statement computes each value once, and has the limit of the rows.
    let window = translated.window(rows)
    let inner = values.enumerated().map { "\($1.sql) AS v\($0)" }
    let selected = inner.isEmpty ? "1" : inner.joined(separator: ", ")
    var columns = request.keys.indices.map { "v\($0)" }
    var places: [Int] = []
    for (number, aggregate) in request.aggregates.enumerated() {
      let place = request.keys.count + number
      guard
        let texts = Self.aggregate(
          aggregate.function, "v\(place)", values[place].type, store.functions)
      else { return nil }
      places.append(columns.count)
      columns += texts
    }
    self.places = places
    var text =
      "SELECT \(columns.isEmpty ? "1" : columns.joined(separator: ", ")) "
      + "FROM (SELECT \(selected) FROM \(translated.source)\(window)) AS r"
    if !request.keys.isEmpty { text += " GROUP BY \(request.keys.indices.map { "v\($0)" }.joined(separator: ", "))" }
    statement = ServerStatement(text, translated.conditions.parameters)
  }

  private static func aggregate(
    _ function: GroupAggregate.Function, _ value: String, _ type: ServerType, _ functions: ServerFunctions?
  ) -> [String]? {
    switch function {
    case .rows: return ["count(*)"]
    case .count: return ["count(\(value))"]
    case .distinctCount: return ["count(DISTINCT \(value))"]
    case .minimum, .maximum:
      guard type.hasExtremes || type == .double else { return nil }
      return ["\(function == .minimum ? "min" : "max")(\(value))"]
    case .sum, .average:
      // The server's own sum of reals depends on their order.
      if type == .double { return functions.map { [$0.realTotal(value), "count(\(value))"] } }
      guard type.kind == .integer || type == .numeric else { return nil }
      return ["sum(\(ExactConditions.widened(value, type)))::numeric", "count(\(value))"]
    }
  }

  /// The columns of a group.
  func columns(_ result: ServerResult, _ row: Int, of request: GroupRequest) -> [StoredValue] {
    var columns = request.keys.indices.map { result.value(row, $0) }
    for (aggregate, place) in zip(request.aggregates, places) {
      switch aggregate.function {
      case .rows, .count, .distinctCount, .minimum, .maximum: columns.append(result.value(row, place))
      case .sum, .average:
        var sum = NumberSum()
        let kind = aggregate.value.kind
        if case .real(let total) = result.value(row, place) {
          sum.add(total)
          let mean = total / Double(result.integer(row, place + 1))
          columns.append(aggregate.function == .sum ? sum.total(kind) : mean.isNaN ? .null : .real(mean))
          continue
        }
        if case .text(let text) = result.value(row, place) {
          sum.add(sum: text, of: Int(result.integer(row, place + 1)), kind: kind)
        }
        columns.append(aggregate.function == .sum ? sum.total(kind) : sum.mean(kind))
      }
    }
    return columns
  }
}

extension PostgresConnection {
  package func fetchGroups(_ request: GroupRequest, _ body: ([StoredValue]) throws -> Void) throws {
    try request.checkSortKeys()
    let values = (request.keys + request.aggregates.map(\.value)).map(\.value)
    try withDateBounds(request.rows, values) { try fetchGroups(request, $0, body) }
  }

  private func fetchGroups(
    _ request: GroupRequest, _ dates: DateBounds, _ body: ([StoredValue]) throws -> Void
  ) throws {
    guard let grouped = try ServerGroupStatement(request, store, dates) else { return try collectGroups(request, body) }
    var groups: [[StoredValue]] = []
    try readAll(grouped.statement) { result, row in groups.append(grouped.columns(result, row, of: request)) }
    // Without keys and aggregates, a statement selects the rows themselves.
    if request.keys.isEmpty && request.aggregates.isEmpty { groups = [[]] }
    for group in try request.selected(from: groups) { try body(group) }
  }
}
