package import TrellisModel
package import TrellisStorage

/// A request as a statement, with what is left for evaluation in memory.
struct TranslatedRequest {
  var conditions: ExactConditions
  /// The terms in SQL. All of them hold.
  var terms: [String] = []
  /// The terms that the server does not answer exactly.
  var rest: [QueryPredicate] = []
  /// The ORDER BY. Nil if rows are sorted in memory.
  let order: String?

  /// - Parameters:
  ///   - isOrdered: whether the order of the rows makes a difference.
  ///   - ordersFoldedTexts: whether the server orders texts under options, if it has the functions.
  init(
    _ request: StoreRequest, _ store: PostgresStore, _ dates: DateBounds, isOrdered: Bool,
    ordersFoldedTexts: Bool = true
  ) throws {
    let setup = store.setup
    guard setup.model.entities.indices.contains(request.entity) else { throw RequestFault.unknown }
    try request.checkSortKeys()
    conditions = ExactConditions(setup, entity: request.entity, dates, store.functions, store.features)
    conditions.ordersFoldedTexts = ordersFoldedTexts
    let table = setup.layout.tables[request.entity]
    if let term = request.includesSubentities ? table.subtreeTerm : table.ownTerm {
      terms.append(term(conditions.paths.rootAlias))
    }
    if let predicate = request.predicate {
      // Finds what no store evaluates, such as a date that none keeps.
      _ = try StoreError.evaluating { try PredicateEvaluator(predicate) }
      try conditions.split(predicate, into: &terms, rest: &rest)
    }
    order = isOrdered ? try conditions.order(by: request.decidingSort) : ""
  }

  /// Whether the statement is the whole answer.
  var isExact: Bool { rest.isEmpty && order != nil }

  /// A statement that finds out whether the order may be another one than in memory; nil if it cannot be.
  var questionOfOrder: ServerStatement? {
    let doubts = conditions.doubtsOfOrder
    if doubts.isEmpty { return nil }
    let terms = self.terms + ["(\(doubts.joined(separator: " OR ")))"]
    let text = "SELECT EXISTS (SELECT 1 FROM \(conditions.paths.rootSource) WHERE \(terms.joined(separator: " AND ")))"
    return ServerStatement(text, conditions.parameters)
  }

  /// FROM, WHERE and ORDER BY.
  var source: String { rows() + (order ?? "") }

  /// FROM and WHERE, with another term.
  func rows(where term: String? = nil) -> String {
    let terms = self.terms + [term].compactMap(\.self)
    return conditions.paths.rootSource + (terms.isEmpty ? "" : " WHERE " + terms.joined(separator: " AND "))
  }

  /// LIMIT and OFFSET.
  mutating func window(_ request: StoreRequest) -> String {
    var text = ""
    if let limit = request.limit { text += " LIMIT \(conditions.parameters.add(Int64(max(0, limit))))" }
    if request.offset > 0 { text += " OFFSET \(conditions.parameters.add(Int64(request.offset)))" }
    return text
  }
}

extension StoreRequest {
  /// Up to this number of rows, they are kept in memory together.
  private static let fewRows = 1_000

  fileprivate var isForFew: Bool { limit.map { $0 <= Self.fewRows } ?? false }
}

// MARK: - Requests

extension PostgresConnection {
  /// Translates a request, and asks the server whether its order of folded texts is that of memory.
  private func translated(_ request: StoreRequest, _ dates: DateBounds) throws -> TranslatedRequest {
    let first = try TranslatedRequest(request, store, dates, isOrdered: true)
    guard let question = first.questionOfOrder else { return first }
    var isDoubtful = false
    try readAll(question) { isDoubtful = $0.integer($1, 0) == 1 }
    if !isDoubtful { return first }
    return try TranslatedRequest(request, store, dates, isOrdered: true, ordersFoldedTexts: false)
  }

  /// Runs a request with all that has to be known before: the bounds of its periods, and whether its order is exact. What
  /// is read before is of the same moment.
  private func prepared<Result>(
    _ request: StoreRequest, _ values: [Operand] = [], _ body: (DateBounds) throws -> Result
  ) throws -> Result {
    let mayAsk = store.functions != nil && request.sort.contains { $0.kind == .text && !$0.options.isEmpty }
    if !mayAsk { return try withDateBounds(request, values, body) }
    return try atOneMoment { try withDateBounds(request, values, body) }
  }

  package func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    try prepared(request) { try fetch(request, $0, body) }
  }

  private func fetch(_ request: StoreRequest, _ dates: DateBounds, _ body: (RowReader) throws -> Void) throws {
    var translated = try self.translated(request, dates)
    guard translated.isExact else {
      let reader = ValueReader()
      return try candidates(request, translated) { object in
        let row = object.row
        reader.problem = nil
        reader.show(key: row.key, version: row.version, entity: row.entity, values: row.values)
        try body(reader)
      }
    }
    let selection = layout.tables[request.entity].selection(translated.conditions.paths.rootAlias)
    let text = "SELECT \(selection) FROM \(translated.source)\(translated.window(request))"
    let statement = ServerStatement(text, translated.conditions.parameters)
    try readRows(statement, request.entity, isStreamed: !request.isForFew) { reader, _, _ in try body(reader) }
  }

  package func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    try prepared(request) { try fetchKeys(request, $0, body) }
  }

  private func fetchKeys(
    _ request: StoreRequest, _ dates: DateBounds, _ body: (_ key: Int64, _ entity: Int) throws -> Void
  ) throws {
    var translated = try self.translated(request, dates)
    guard translated.isExact else { return try candidates(request, translated) { try body($0.row.key, $0.row.entity) } }
    let table = layout.tables[request.entity]
    let root = translated.conditions.paths.rootAlias
    let entity = table.isInHierarchy ? ", \(root).\(SQLName.entity)" : ""
    let text = "SELECT \(root).\(SQLName.id)\(entity) FROM \(translated.source)\(translated.window(request))"
    let statement = ServerStatement(text, translated.conditions.parameters)
    let read = { (result: ServerResult, row: Int) throws in
      try body(result.integer(row, 0), try self.entity(result, row, 1, of: request.entity))
    }
    try request.isForFew ? readAll(statement, read) : stream(statement, read)
  }

  /// The entity that a row says it belongs to.
  func entity(_ result: ServerResult, _ row: Int, _ column: Int, of entity: Int) throws -> Int {
    let table = layout.tables[entity]
    guard table.isInHierarchy else { return entity }
    guard let found = table.entity(named: result, row, column) else {
      throw StoreError(
        .unreadableValue, "A row of \(table.name) in \(store.name) belongs to no entity of the model.",
        remedy: "Repair the column _entity with another tool.")
    }
    return found
  }

  package func fetchValues(
    _ request: StoreRequest, of values: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try prepared(request, values.map(\.value)) { try fetchValues(request, of: values, $0, body) }
  }

  private func fetchValues(
    _ request: StoreRequest, of values: [ProjectedValue], _ dates: DateBounds, _ body: ([StoredValue]) throws -> Void
  ) throws {
    var translated = try self.translated(request, dates)
    guard translated.isExact, let projection = try translated.conditions.projection(values) else {
      let evaluators = try StoreError.evaluating { try values.map { try OperandEvaluator($0.value) } }
      return try candidates(request, translated, reading: values) { object in
        try body(try evaluators.map { try $0.value(of: object) })
      }
    }
    let text = "SELECT \(projection) FROM \(translated.source)\(translated.window(request))"
    let statement = ServerStatement(text, translated.conditions.parameters)
    let read = { (result: ServerResult, row: Int) throws in
      try body(values.indices.map { result.value(row, $0) })
    }
    try request.isForFew ? readAll(statement, read) : stream(statement, read)
  }

  package func count(_ request: StoreRequest) throws -> Int {
    try withDateBounds(request) { try count(request, $0) }
  }

  private func count(_ request: StoreRequest, _ dates: DateBounds) throws -> Int {
    var translated = try TranslatedRequest(request, store, dates, isOrdered: false)
    guard translated.isExact else {
      var count = 0
      var request = request
      request.sort = []
      try candidates(request, translated) { _ in count += 1 }
      return count
    }
    let window = translated.window(request)
    let source = translated.source
    let text =
      window.isEmpty ? "SELECT count(*) FROM \(source)" : "SELECT count(*) FROM (SELECT 1 FROM \(source)\(window)) AS c"
    var count = 0
    try readAll(ServerStatement(text, translated.conditions.parameters)) { result, row in
      count = Int(result.integer(row, 0))
    }
    return count
  }

  package func plan(of request: StoreRequest) throws -> QueryPlan {
    try prepared(request) { try plan(of: request, $0) }
  }

  private func plan(of request: StoreRequest, _ dates: DateBounds) throws -> QueryPlan {
    var translated = try self.translated(request, dates)
    let selection = layout.tables[request.entity].selection(translated.conditions.paths.rootAlias)
    let window = translated.isExact ? translated.window(request) : ""
    let text = "SELECT \(selection) FROM \(translated.source)\(window)"
    var steps: [String] = []
    try readAll(ServerStatement("EXPLAIN (COSTS OFF) \(text)", translated.conditions.parameters)) { result, row in
      if let line = result.text(row, 0) { steps.append(line) }
    }
    if !translated.rest.isEmpty { steps.append("tests the rows in memory") }
    if translated.order == nil { steps.append("sorts the rows in memory") }
    let table = setup.model.entities[setup.model.entities[request.entity].root].name
    let scans = steps.contains { $0.contains("Seq Scan on \(table) ") || $0.contains("Seq Scan on \"\(table)\" ") }
    return QueryPlan(
      statement: text, steps: steps, scansWholeTable: scans, entity: setup.model.entities[request.entity].name,
      missingIndex: scans
        ? IndexAdvice(setup.model.entities[request.entity], hasDerivedColumns: false).index(for: request) : nil)
  }
}

// MARK: - Evaluation in memory

extension PostgresConnection {
  /// Thrown to stop reading.
  private struct Enough: Error {}

  /// Visits the rows of a request whose conditions or order the server does not know exactly. The server answers what it
  /// can, and its rows are tested in memory.
  ///
  /// - Parameter values: the values that the visitor reads.
  private func candidates(
    _ request: StoreRequest, _ translated: TranslatedRequest, reading values: [ProjectedValue] = [],
    _ body: (CandidateObject) throws -> Void
  ) throws {
    let limit = max(0, request.limit ?? .max)
    guard limit > 0 else { return }
    let evaluator = try StoreError.evaluating { try PredicateEvaluator(.and(translated.rest)) }
    let order = translated.order == nil ? try StoreError.evaluating { try SortOrder(request.sort) } : nil
    let selection = layout.tables[request.entity].selection(translated.conditions.paths.rootAlias)
    let statement = ServerStatement("SELECT \(selection) FROM \(translated.source)", translated.conditions.parameters)
    let graph = CandidateGraph(self)
    var toSkip = max(0, request.offset)
    var left = limit
    func pass(_ object: CandidateObject) throws {
      if toSkip > 0 {
        toSkip -= 1
        return
      }
      try body(object)
      left -= 1
      if left == 0 { throw Enough() }
    }
    let entity = setup.model.entities[request.entity]
    let isOfRow =
      translated.rest.allSatisfy { PredicateNode.predicate($0).isOfRow(entity) }
      && (order == nil || request.sort.allSatisfy { PredicateNode.operand($0.value).isOfRow(entity) })
      && values.allSatisfy { PredicateNode.operand($0.value).isOfRow(entity) }
    var matches: [CandidateObject] = []
    let (last, isEndless) = limit.addingReportingOverflow(toSkip)
    let mostMatches = isEndless || last > .max / 2 ? Int.max : max(2 * last, 2_000)
    func visit(_ object: CandidateObject) throws {
      guard try evaluator.matches(object) else { return }
      guard let order else { return try pass(object) }
      matches.append(object)
      // With a limit, the rows that are behind it so far are dropped now and then.
      if matches.count >= mostMatches { matches = Array(try order.sorted(matches).prefix(mostMatches / 2)) }
    }
    // Sorting may read what the rows lead to.
    func finish() throws {
      if let order { for object in try order.sorted(matches) { try pass(object) } }
    }
    do {
      if isOfRow {
        try readRows(statement, request.entity, isStreamed: true) { reader, _, _ in
          try visit(CandidateObject(row: try self.candidate(reader), graph: graph))
        }
        try finish()
      } else {
        // What the rows lead to is read by other statements, which must see the same moment.
        try atOneMoment {
          var rows: [CandidateRow] = []
          try readRows(statement, request.entity, isStreamed: true) { reader, _, _ in
            rows.append(try self.candidate(reader))
          }
          graph.add(rows)
          for row in rows { try visit(CandidateObject(row: row, graph: graph)) }
          try finish()
        }
      }
    } catch is Enough {}
  }

  private func candidate(_ reader: ServerRowReader) throws -> CandidateRow {
    let row = CandidateRow(reader, setup.model)
    if let problem = reader.problem {
      reader.problem = nil
      throw StoreError(
        .unreadableValue, "A value of \(setup.model.entities[problem.entity].name)/\(problem.key): \(problem.what).",
        remedy: problem.remedy ?? "Repair the row with another tool.")
    }
    return row
  }
}

extension PropertyPath {
  /// Whether the path leads to a value of the row itself.
  func isOfRow(_ entity: Entity) -> Bool {
    guard variable == 0 else { return false }
    guard count > 0 else { return true }
    guard let step = onlyStep, entity.properties.indices.contains(step) else { return false }
    switch entity.properties[step] {
    case .attribute: return true
    case .relationship(let relationship): return relationship.isColumn && !relationship.isLeftAlone
    }
  }
}

extension PredicateNode {
  /// Whether the node needs the row of the fetched object only.
  func isOfRow(_ entity: Entity) -> Bool {
    switch self {
    case .predicate(.quantified), .operand(.count), .operand(.computed(.aggregate)), .operand(.computed(.countWhere)),
      .operand(.computed(.member)):
      return false
    case .operand(.path(let path)): return path.isOfRow(entity)
    case .operand(.entity(let path)): return path.variable == 0 && path.count == 0
    default: return !hasPart { !$0.isOfRow(entity) }
    }
  }
}
