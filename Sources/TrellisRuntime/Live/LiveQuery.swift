import TrellisModel
import TrellisStorage

/// The saved results of one request, updated incrementally after each save.
///
/// The results from the first to the last within the limit are kept, including those that the offset skips. Results
/// beyond the limit are unknown, so the request is run again when the last positions have to be filled with them.
struct LiveQuery {
  let request: StoreRequest
  let reach: RequestReach
  private(set) var entries = LiveEntries()
  private let order: SortOrder
  private let evaluator: PredicateEvaluator?
  private let model: Model
  /// The maximum number of entries that are kept; nil for all.
  private let capacity: Int?

  /// The maximum number of changed rows that are applied one by one.
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

  mutating func run(in graph: ObjectGraph) throws {
    var wide = request
    wide.offset = 0
    wide.limit = capacity
    entries = reach.isOwnRowOnly ? try ownRows(wide, graph) : try projected(wide, graph)
  }

  private func ownRows(_ request: StoreRequest, _ graph: ObjectGraph) throws -> LiveEntries {
    var found = LiveEntries()
    let connection = try graph.connection()
    if request.sort.isEmpty {
      try connection.fetchKeys(request) { key, _ in found.append(key, []) }
      return found
    }
    try connection.fetch(request) { row in
      found.append(row.key, try order.values(of: StoredObject(graph.unregistered(row), model)))
    }
    return found
  }

  /// Reads keys and only the first sort value, for sections. Sort values are not needed otherwise, because a request
  /// that depends on other objects is run again instead of updated.
  private func projected(_ request: StoreRequest, _ graph: ObjectGraph) throws -> LiveEntries {
    var found = LiveEntries()
    var wanted = [ProjectedValue(PropertyPath(variable: 0), kind: .integer)]
    if let first = request.sort.first { wanted.append(ProjectedValue(first.value, kind: first.kind)) }
    try graph.connection().fetchValues(request, of: wanted) { values in
      if case .integer(let key)? = values.first { found.append(key, Array(values.dropFirst())) }
    }
    return found
  }

  // MARK: Following saves

  /// A changed row with its current object, or nil if the row was deleted.
  typealias ChangedRow = (key: Int64, object: ManagedObject?)

  /// Applies the changes of some rows.
  ///
  /// - Returns: the steps, with positions counted from the first kept entry; nil if the request has to be run again.
  ///   The entries are invalid then.
  /// - Complexity: that of a search for each row, independent of the number of results.
  mutating func apply(_ rows: [ChangedRow]) throws -> [KeyStep]? {
    let changes = try rows.map { row in (row.key, try row.object.flatMap(sortValues)) }
    guard let capacity, entries.count >= capacity else {
      // All results are known.
      var steps: [KeyStep] = []
      for (key, values) in changes { apply(key, values, &steps) }
      if let capacity { cut(to: capacity, &steps) }
      return steps
    }
    if capacity == 0 { return [] }
    guard let last = entries.rows.last else { return nil }
    var steps: [KeyStep] = []
    for (key, values) in changes {
      // A row after the last entry also comes after others that are unknown.
      let isKnown = values.map { order.order($0, key, last.values, last.key) <= 0 } ?? false
      apply(key, isKnown ? values : nil, &steps)
    }
    if entries.count < capacity { return nil }
    cut(to: capacity, &steps)
    return steps
  }

  /// The sort values of a row; nil if it does not match the predicate.
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

/// A row as it is in the store, for predicates and sort keys that read nothing but that row.
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

// MARK: - Request reach

/// The entities that can affect the results of a request when their objects change.
struct RequestReach {
  /// The entities of the results.
  let own: Set<Int>
  /// The other entities that the predicate and the sort keys depend on, with their subtrees; empty if there are none.
  private(set) var others: Set<Int> = []
  /// Whether a result depends only on its own row.
  let isOwnRowOnly: Bool
  /// The properties of its own row that decide whether and where an object is among the results.
  private var decisive = ColumnMask(bits: 0)
  private let model: Model

  /// All entities that can affect the results.
  var entities: Set<Int> { own.union(others) }

  init(_ request: StoreRequest, _ model: Model) {
    let entity = model.entities[request.entity]
    self.model = model
    own = Set(request.includesSubentities ? entity.subtree : [request.entity])
    isOwnRowOnly = !request.looksAtOthers(of: entity)
    for key in request.sort { add(.operand(key.value), [0: request.entity]) }
    if let predicate = request.predicate { add(.predicate(predicate), [0: request.entity]) }
    // A reference is in the own row, whatever becomes of the object that it leads to.
    if isOwnRowOnly { others = [] }
  }

  /// The effect of a save on the results of the request.
  enum Meaning {
    case nothing
    /// Only these rows may have been added, removed or moved.
    case rows(changed: [Int64], gone: [Int64])
    case anything
  }

  /// - Parameter isResult: whether an object is among the results.
  func meaning(of notice: SaveNotice, isResult: (Int64) -> Bool) -> Meaning {
    if notice.isUnknown { return .anything }
    if notice.cleared.contains(where: { own.contains($0.entity) || isBelow($0.entity) }) { return .anything }
    guard isOwnRowOnly else { return isConcerned(notice) ? .anything : .nothing }
    let edited = [notice.updated, notice.relinked].joined().filter { row in
      // A row whose changed properties are not known may be a new result.
      own.contains(row.entity)
        && (row.properties.bits == 0 || row.properties.bits & decisive.bits != 0 || isResult(row.key))
    }
    let changed = notice.inserted.filter { own.contains($0.entity) } + edited
    let gone = notice.deleted.filter { own.contains($0.entity) }.map(\.key) + notice.cascaded
    return changed.isEmpty && gone.isEmpty ? .nothing : .rows(changed: changed.map(\.key), gone: gone)
  }

  private func isConcerned(_ notice: SaveNotice) -> Bool {
    let rows = [notice.inserted, notice.updated, notice.relinked, notice.deleted].joined()
    return !notice.cascaded.isEmpty || !notice.cleared.isEmpty
      || rows.contains { own.contains($0.entity) || others.contains($0.entity) }
  }

  /// Whether an entity is the ancestor of one of the results' entities, or one of them.
  private func isBelow(_ entity: Int) -> Bool { !own.isDisjoint(with: model.entities[entity].subtree) }

  // MARK: Finding out

  private mutating func add(_ node: PredicateNode, _ variables: [Int: Int]) {
    switch node {
    case .predicate(.quantified(_, let path, let variable, let condition)):
      var inside = variables
      inside[variable] = add(path, variables)
      add(.predicate(condition), inside)
    case .operand(.path(let path)), .operand(.count(let path)), .operand(.entity(let path)): add(path, variables)
    case .predicate, .operand(.computed(.arithmetic)), .operand(.computed(.function)), .operand(.computed(.stored)):
      node.forEachPart { add($0, variables) }
    // Other computations, such as aggregates, may depend on any object.
    case .operand(.computed):
      others.formUnion(model.entities.indices)
      decisive = .all
    case .operand(.value), .operand(.now), .operand(.parameter): break
    }
  }

  /// - Returns: the entity at the end of the path.
  @discardableResult private mutating func add(_ path: PropertyPath, _ variables: [Int: Int]) -> Int? {
    guard var entity = variables[Int(path.variable)] else { return nil }
    if path.variable == 0, let first = path.steps.first { decisive.bits |= ColumnMask.bit(of: first) }
    for step in path.steps {
      let properties = model.entities[entity].properties
      guard properties.indices.contains(step), let relationship = properties[step].relationship else { break }
      entity = relationship.destination
      others.formUnion(model.entities[entity].subtree)
    }
    return entity
  }
}

// MARK: - Live entries

/// The results of a request in order, with their sort values.
struct LiveEntries {
  private(set) var rows = LiveRows()
  /// The sort values of each result by key, to find its position.
  private var known: [Int64: [StoredValue]] = [:]

  mutating func append(_ key: Int64, _ values: [StoredValue]) {
    rows.append(key, values)
    known[key] = values
  }

  var count: Int { rows.count }

  func contains(_ key: Int64) -> Bool { known[key] != nil }

  /// The sort values of a result; nil if the key is not among the results.
  func values(of key: Int64) -> [StoredValue]? { known[key] }

  /// The position of an entry, or the position to insert it at.
  ///
  /// - Complexity: logarithmic, and linear in the number of blocks.
  func place(for key: Int64, _ wanted: [StoredValue], _ order: SortOrder) -> Int {
    rows.place { other, values in order.order(values, other, wanted, key) < 0 }
  }

  mutating func insert(_ key: Int64, _ values: [StoredValue], at place: Int) {
    rows.insert(key, values, at: place)
    known[key] = values
  }

  mutating func remove(at place: Int) { known[rows.remove(at: place)] = nil }

  mutating func setValues(_ values: [StoredValue], of key: Int64, at place: Int) {
    rows.setValues(values, at: place)
    known[key] = values
  }
}
