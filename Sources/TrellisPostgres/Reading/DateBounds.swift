import TrellisModel
import TrellisStorage

/// The bounds of periods that the dates of a request need, for the server to search.
///
/// The server has time zones of its own, which may differ from those of the program, so the program computes the bounds:
/// for all of the spans between the first and the last date that the tables have.
struct DateBounds {
  struct Table {
    let starts: ServerArray
    let values: ServerArray
  }

  private(set) var tables: [DateFunction: Table] = [:]

  /// No bounds: date functions are evaluated in memory.
  static let none = DateBounds()

  /// Spans beyond this number would make statements too long. A span is 64 days for days and weeks, and eleven years for
  /// longer periods.
  private static let mostSpans: Int64 = 1_000

  private init() {}

  /// - Parameter range: the first and the last date of an attribute in microseconds; nil if there is none.
  init(
    _ uses: [DateUse], range: (_ use: DateUse) throws -> (first: Int64, last: Int64)?
  ) throws {
    for (function, uses) in Dictionary(grouping: uses, by: \.function) {
      let lookup = DateLookup.of(try StoreError.evaluating { try function.settled() })
      var ranges: [(first: Int64, last: Int64)] = []
      for use in Set(uses) { if let found = try range(use) { ranges.append(found) } }
      let spans = (ranges.map(\.first).min() ?? 0, ranges.map(\.last).max() ?? 0)
      guard let table = lookup.bounds(from: spans.0, through: spans.1, atMost: Self.mostSpans) else { continue }
      var starts = ServerArray(of: .bigint)
      var values = ServerArray(of: .bigint)
      for (start, value) in table {
        starts.append(start)
        if case .integer(let number) = value { values.append(number) } else { values.appendNull() }
      }
      tables[function] = Table(starts: starts, values: values)
    }
  }
}

/// A date attribute that a function is applied to.
struct DateUse: Hashable {
  let function: DateFunction
  let entity: Int
  let property: Int
}

extension Model {
  /// The uses of date functions in a request. Functions of anything but an attribute are left out.
  func dateUses(in request: StoreRequest, _ values: [Operand] = []) -> [DateUse] {
    var uses: [DateUse] = []
    var entities = [0: request.entity]
    if let predicate = request.predicate { collect(.predicate(predicate), &entities, &uses) }
    for operand in request.sort.map(\.value) + values { collect(.operand(operand), &entities, &uses) }
    return uses
  }

  private func collect(_ node: PredicateNode, _ entities: inout [Int: Int], _ uses: inout [DateUse]) {
    switch node {
    case .operand(.computed(.date(let function, .path(let path)))):
      if let (entity, property) = end(of: path, entities) {
        uses.append(DateUse(function: function, entity: entity, property: property))
      }
    case .predicate(.quantified(_, let path, let variable, _)),
      .operand(.computed(.aggregate(_, let path, let variable, _, _))),
      .operand(.computed(.countWhere(let path, let variable, _))),
      .operand(.computed(.member(_, let path, let variable, _))):
      guard let (entity, property) = end(of: path, entities),
        let relationship = self.entities[entity].properties[property].relationship
      else { return }
      let outer = entities.updateValue(relationship.destination, forKey: variable)
      node.forEachPart { collect($0, &entities, &uses) }
      entities[variable] = outer
    default: node.forEachPart { collect($0, &entities, &uses) }
    }
  }

  /// The entity and the number of the last property of a path.
  private func end(of path: PropertyPath, _ start: [Int: Int]) -> (entity: Int, property: Int)? {
    guard var entity = start[Int(path.variable)] else { return nil }
    var steps = path.steps
    guard let last = steps.popLast() else { return nil }
    for step in steps {
      guard entities[entity].properties.indices.contains(step),
        let relationship = entities[entity].properties[step].relationship
      else { return nil }
      entity = relationship.destination
    }
    return entities[entity].properties.indices.contains(last) ? (entity, last) : nil
  }
}

extension PostgresConnection {
  /// Runs a request with the bounds of its periods. They are read first, at the same moment.
  func withDateBounds<Result>(
    _ request: StoreRequest, _ values: [Operand] = [], _ body: (DateBounds) throws -> Result
  ) throws -> Result {
    guard setup.model.entities.indices.contains(request.entity) else { return try body(.none) }
    let uses = setup.model.dateUses(in: request, values)
    if uses.isEmpty { return try body(.none) }
    return try atOneMoment { try body(try DateBounds(uses, range: dates)) }
  }

  private func dates(of use: DateUse) throws -> (first: Int64, last: Int64)? {
    guard let number = setup.model.entities[use.entity].properties[use.property].column,
      let column = layout.column(number, of: use.entity)
    else { return nil }
    let name = layout.tables[use.entity].name
    let text =
      "SELECT \(ExactConditions.widened("min(\(column))", .timestamp)), "
      + "\(ExactConditions.widened("max(\(column))", .timestamp)) FROM \(name)"
    var range: (Int64, Int64)?
    try readAll(ServerStatement(text)) { result, row in
      if !result.isNull(row, 0) { range = (result.integer(row, 0), result.integer(row, 1)) }
    }
    return range
  }
}
