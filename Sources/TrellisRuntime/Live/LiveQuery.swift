import TrellisQuery
import TrellisSchema
import TrellisStorage

/// The saved results of one request, kept right by what each save changed.
///
/// Kept are the results from the first to the last that the limit allows, those that the offset leaves out included. What
/// lies beyond is unknown; so when the last places have to be filled from there, the request is run again.
struct LiveQuery {
  let request: StoreRequest
  let reach: RequestReach
  private(set) var entries = LiveEntries()
  private let order: SortOrder
  private let evaluator: PredicateEvaluator?
  private let model: Model
  /// How many entries are kept at most; nil for all.
  private let capacity: Int?

  /// So many changed rows are looked at one by one at most.
  static let fewRows = 1000

  init(_ request: StoreRequest, _ model: Model) throws {
    self.request = request
    self.model = model
    reach = RequestReach(request, model)
    order = try SortOrder(request.sort)
    evaluator = try StoreError.evaluating { try request.predicate.map { try PredicateEvaluator($0) } }
    capacity = request.limit.flatMap { limit in
      let (sum, overflow) = limit.addingReportingOverflow(request.offset)
      return overflow ? nil : sum
    }
  }

  // MARK: Running the request

  mutating func run(in context: ManagedObjectContext) throws {
    var wide = request
    wide.offset = 0
    wide.limit = capacity
    entries = reach.isOwnRowOnly ? try ownRows(wide, context) : try projected(wide, context)
  }

  private func ownRows(_ request: StoreRequest, _ context: ManagedObjectContext) throws -> LiveEntries {
    var found = LiveEntries()
    let connection = try context.connection()
    if request.sort.isEmpty {
      try connection.fetchKeys(request) { key, _ in found.append(key, []) }
      return found
    }
    try connection.fetch(request) { row in
      found.append(row.key, try order.values(of: StoredObject(context.unregistered(row), model)))
    }
    return found
  }

  /// What a sort by other objects' values goes by is not kept up to date; the first value is, for sections.
  private func projected(_ request: StoreRequest, _ context: ManagedObjectContext) throws -> LiveEntries {
    var found = LiveEntries()
    var paths = [ProjectedPath(PropertyPath(variable: 0), kind: .integer)]
    if let first = request.sort.first { paths.append(ProjectedPath(first.path, kind: first.kind)) }
    try context.connection().fetchValues(request, of: paths) { values in
      if case .integer(let key)? = values.first { found.append(key, Array(values.dropFirst())) }
    }
    return found
  }

  // MARK: Following saves

  /// A row that changed: what it is now, or nil when it is gone.
  typealias ChangedRow = (key: Int64, object: ManagedObject?)

  /// Takes over what changed in some rows.
  ///
  /// - Returns: the steps, positions counted from the first entry that is kept; nil when the request has to be run again. The
  ///   entries are of no use then.
  /// - Complexity: that of a search for each row, whatever the number of results.
  mutating func apply(_ rows: [ChangedRow]) throws -> [KeyStep]? {
    let changes = try rows.map { row in (row.key, try row.object.flatMap(sortValues)) }
    guard let capacity, entries.count >= capacity else {
      // Nothing lies beyond.
      var steps: [KeyStep] = []
      for (key, values) in changes { apply(key, values, &steps) }
      if let capacity { cut(to: capacity, &steps) }
      return steps
    }
    if capacity == 0 { return [] }
    guard let last = entries.rows.last else { return nil }
    var steps: [KeyStep] = []
    for (key, values) in changes {
      // Who comes behind the last one comes behind others, too, that are not known.
      let isKnown = values.map { order.order($0, key, last.values, last.key) <= 0 } ?? false
      apply(key, isKnown ? values : nil, &steps)
    }
    if entries.count < capacity { return nil }
    cut(to: capacity, &steps)
    return steps
  }

  /// What the row is sorted by; nil when it is no result.
  private func sortValues(_ object: ManagedObject) throws -> [StoredValue]? {
    let object = StoredObject(object, model)
    if let evaluator, try !evaluator.matches(object) { return nil }
    return try order.values(of: object)
  }

  private mutating func apply(_ key: Int64, _ values: [StoredValue]?, _ steps: inout [KeyStep]) {
    let formerValues = entries.values(of: key)
    let former = formerValues.map { entries.place(for: key, $0, order) }
    guard let values else {
      guard let former else { return }
      entries.remove(at: former)
      steps.append(.delete(key, at: former))
      return
    }
    guard let former, let formerValues else {
      let place = entries.place(for: key, values, order)
      entries.insert(key, values, at: place)
      steps.append(.insert(key, at: place))
      return
    }
    if order.order(formerValues, key, values, key) == 0 {
      entries.setValues(values, of: key, at: former)
      steps.append(.update(key, at: former))
      return
    }
    entries.remove(at: former)
    let place = entries.place(for: key, values, order)
    entries.insert(key, values, at: place)
    if place != former { steps.append(.move(key, from: former, to: place)) }
    steps.append(.update(key, at: place))
  }

  private mutating func cut(to capacity: Int, _ steps: inout [KeyStep]) {
    while let key = entries.rows.last?.key, entries.count > capacity {
      entries.remove(at: entries.count - 1)
      steps.append(.delete(key, at: entries.count))
    }
  }
}

/// A row as it is in the store, as predicates and sorts see it that look at nothing else.
struct StoredObject: QueryObject {
  private let object: ManagedObject
  let queryEntityName: String

  init(_ object: ManagedObject, _ model: Model) {
    self.object = object
    queryEntityName = model.entities[type(of: object)._entity].name
  }

  var queryKey: Int64 { object._key }
  func queryValue(_ property: Int) -> StoredValue { object._value(property) }
  func queryPartner(_ property: Int) -> StoredObject? { nil }
  func queryMembers(_ property: Int) -> [StoredObject] { [] }
}
