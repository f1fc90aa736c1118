import TrellisModel
import TrellisStorage

/// Fills a store and a reference graph with the same random objects, and compares their results.
struct DifferentialRun {
  private let bench: Bench
  private let seed: UInt64
  private let graph: ReferenceGraph
  private var random: RandomNumbers
  /// The keys of deleted records that references still lead to.
  private var gone: [Int64] = []

  init(_ bench: Bench, seed: UInt64) {
    self.bench = bench
    self.seed = seed
    graph = ReferenceGraph(bench.model)
    random = RandomNumbers(seed: seed)
  }

  func run(queries: Int) throws {
    var run = self
    try run.fill()
    var predicates = RandomPredicates(
      bench.model, keys: run.graph.records.keys.sorted() + run.gone + [-1, 0], run.random)
    for number in 0..<queries {
      try run.compare(&predicates)
      if number % 5 == 4 { try run.update(&predicates) }
    }
  }

  // MARK: Objects

  private mutating func fill() throws {
    var records: [Record] = []
    for (name, count) in [
      ("Author", 12), ("Profile", 6), ("Book", 30), ("Tag", 8), ("Shelf", 6), ("Dog", 5), ("Puppy", 4), ("Cat", 5),
    ] {
      for _ in 0..<count { records.append(try record(name)) }
    }
    for record in records { graph.records[record.storedKey] = record }
    for record in records { link(record) }
    let gone = try (0..<2).map { _ in try self.record("Author") }
    for record in records { leave(record, with: gone.map(\.storedKey)) }
    try bench.save(insert: records + gone)
    for table in bench.model.joinTables { try fillPairs(table) }
    try bench.save(delete: gone)
    self.gone = gone.map(\.storedKey)
  }

  /// Makes some references lead to records that will be deleted.
  private mutating func leave(_ record: Record, with gone: [Int64]) {
    for relationship in record.entity.properties.compactMap(\.relationship) where relationship.isLeftAlone {
      if let column = relationship.column, random.isOne(in: 3) { record.values[column] = .integer(random.pick(gone)) }
    }
  }

  private mutating func record(_ name: String) throws -> Record {
    let record = try bench.new(name)
    let unique = Set(record.entity.uniqueKeys.flatMap(\.properties))
    for attribute in record.entity.properties.compactMap(\.attribute) {
      guard let column = attribute.column else { continue }
      var value = RandomValues.value(attribute, &random)
      // Unique keys must differ. This test is about queries only.
      if unique.contains(attribute.index), case .text(let text) = value { value = .text("\(text)\(record.storedKey)") }
      if unique.contains(attribute.index), case .integer = value { value = .integer(record.storedKey) }
      record.values[column] = value
    }
    return record
  }

  private mutating func link(_ record: Record) {
    for relationship in record.entity.properties.compactMap(\.relationship) {
      guard case .column(let column, let order) = relationship.home else { continue }
      if !relationship.isRequired && random.isOne(in: 4) { continue }
      let candidates = partners(for: relationship, of: record)
      guard !candidates.isEmpty else { continue }
      record.values[column] = .integer(random.pick(candidates))
      if let order { record.values[order] = .integer(Int64(random.below(5))) }
    }
  }

  private func partners(for relationship: Relationship, of record: Record) -> [Int64] {
    let keys = graph.objects(bench.model.entities[relationship.destination]).map(\.queryKey).sorted()
    guard let inverse = bench.model.inverse(of: relationship), !inverse.isToMany else { return keys }
    // Each record is a partner in a one-to-one only once.
    return keys.filter { key in graph.records[key].map { graph.partners(of: $0, inverse).isEmpty } ?? false }
  }

  private mutating func fillPairs(_ table: JoinTable) throws {
    let firsts = graph.objects(bench.model.entities[table.first.entity]).map(\.queryKey).sorted()
    let partners = graph.objects(bench.model.entities[table.partnerEntity]).map(\.queryKey).sorted()
    var chosen: Set<[Int64]> = []
    for _ in 0..<(firsts.count * 2) {
      let ends = [random.pick(firsts), random.pick(partners)]
      chosen.insert(ends)
      if table.isSymmetric { chosen.insert(ends.reversed()) }
    }
    let pairs = chosen.sorted { ($0[0], $0[1]) < ($1[0], $1[1]) }.map { ends in
      SaveRequest.Pairs.Pair(
        first: ends[0], partner: ends[1], place: Int64(random.below(4)), inversePlace: Int64(random.below(4)))
    }
    graph.pairs[table.index] = pairs
    try bench.savePairs(table.index, add: pairs)
  }

  // MARK: Queries

  private mutating func compare(_ predicates: inout RandomPredicates) throws {
    let entity = random.pick(bench.model.entities.filter { $0.name != "Sample" })
    let predicate = predicates.predicate(entity, depth: 4)
    let sort = predicates.sort(entity)
    let limit = random.isOne(in: 3) ? random.below(8) : nil
    let offset = random.isOne(in: 4) ? random.below(5) : 0
    let asked = reread(predicate, entity)
    let request = StoreRequest(entity: entity.index, predicate: asked, sort: sort, limit: limit, offset: offset)
    let evaluator = try PredicateEvaluator(predicate)
    let matching = try graph.objects(entity).filter { try evaluator.matches($0) }
    let results = Array(try SortOrder(sort).sorted(matching).dropFirst(offset).prefix(limit ?? .max))
    let expected = results.map(\.queryKey)
    let ends = predicates.sort(entity)
    let projected = ends.map { ProjectedValue($0.value, kind: $0.kind) }
    do {
      let found = try bench.keys(request)
      if found != expected { bench.fail("\(found) instead of \(expected) for \(request), seed \(seed)", line: #line) }
      let evaluators = try projected.map { try OperandEvaluator($0.value) }
      let expected = try results.map { object in try evaluators.map { try $0.value(of: object) } }
      let values = try bench.values(request, projected)
      if values != expected {
        bench.fail("\(values) instead of \(expected) of \(projected) for \(request), seed \(seed)", line: #line)
      }
      // The kind of a relevance is not that of the text.
      try compareGroups(
        request, results, ends.filter { $0.query == nil }.map { ProjectedValue($0.value, kind: $0.kind) })
    } catch {
      bench.fail("\(error) for \(request), seed \(seed)", line: #line)
    }
  }

  // MARK: Changes of all rows

  /// Gives an attribute of all matching rows a new value, in the store and in the reference graph.
  private mutating func update(_ predicates: inout RandomPredicates) throws {
    let entity = random.pick(bench.model.entities.filter { $0.name != "Sample" })
    let unique = Set(entity.uniqueKeys.flatMap(\.properties))
    let attributes = entity.properties.compactMap(\.attribute).filter {
      $0.column != nil && !unique.contains($0.index) && !$0.description.isExternal
    }
    guard let attribute = attributes.isEmpty ? nil : random.pick(attributes), let column = attribute.column else {
      return
    }
    let predicate = predicates.predicate(entity, depth: 2)
    let operand = newValue(of: attribute, in: attributes)
    let evaluator = try PredicateEvaluator(predicate)
    let matching = try graph.objects(entity).filter { try evaluator.matches($0) }.map(\.record)
    let values = try matching.map { try OperandEvaluator(operand).value(of: ReferenceObject(record: $0, graph: graph)) }
    let update = BatchUpdate(
      request: StoreRequest(entity: entity.index, predicate: predicate),
      assignments: [.init(property: attribute.index, value: operand)])
    do {
      let outcome = try bench.connection.updateAll(update, in: bench.model)
      let keys = matching.map(\.storedKey).sorted()
      if outcome.updated.map(\.key).sorted() != keys {
        bench.fail("\(outcome) instead of \(keys) for \(update), seed \(seed)", line: #line)
      }
      for (record, value) in zip(matching, values) {
        record.values[column] = value
        record.storedVersion += 1
      }
    } catch let error as StoreError {
      if !values.contains(where: { !Self.fits($0, attribute) }) {
        bench.fail("\(error) for \(update), seed \(seed)", line: #line)
      }
    }
    var found: [Int64: (version: Int64, value: StoredValue)] = [:]
    try bench.connection.fetch(StoreRequest(entity: entity.index)) { row in
      found[row.key] = (row.version, row.value(column, attribute.storageClass))
    }
    for record in graph.objects(entity).map(\.record) {
      let (version, value) = found[record.storedKey] ?? (0, .text("no row"))
      if version != record.storedVersion
        || !ValueOrder.areEqual(value, record.values[column], kind: attribute.valueKind)
      {
        bench.fail(
          "row \(record.storedKey) has \(value) in version \(version) instead of \(record.values[column]) in "
            + "\(record.storedVersion) after \(update), seed \(seed)", line: #line)
      }
    }
  }

  private mutating func newValue(of attribute: Attribute, in attributes: [Attribute]) -> Operand {
    let own = Operand.path(PropertyPath(variable: 0).appending(attribute.index))
    let alike = Operand.path(
      PropertyPath(variable: 0).appending(random.pick(attributes.filter { $0.type == attribute.type }).index))
    let constant = Operand.value(RandomValues.value(attribute, &random))
    let isNumber = [ValueKind.integer, .real, .decimal].contains(attribute.valueKind) && attribute.type != .bool
    switch random.below(isNumber ? 5 : 3) {
    case 0: return constant
    case 1: return alike
    case 2:
      let test = QueryPredicate.comparison(Comparison(own, .equal, constant, kind: attribute.valueKind))
      return .computed(.conditional(test, alike, constant))
    default:
      let sign = random.pick([ArithmeticOperator.add, .subtract, .multiply, .divide])
      return .computed(.arithmetic(sign, own, random.isOne(in: 2) ? alike : constant))
    }
  }

  /// Whether an attribute can have a value.
  private static func fits(_ value: StoredValue, _ attribute: Attribute) -> Bool {
    switch (value, attribute.type) {
    case (.null, _): attribute.isOptional
    case (.integer(let number), .integer(let type)): type.range.contains(number)
    case (.integer, .date), (.real, .float): false
    default: true
    }
  }

  /// Compares random groups of the results of a request.
  private mutating func compareGroups(
    _ rows: StoreRequest, _ results: [ReferenceObject], _ values: [ProjectedValue]
  ) throws {
    let request = RandomGroups.request(rows, values, &random)
    var groups = try GroupCollection(request)
    let evaluators = try groups.values.map { try OperandEvaluator($0.value) }
    for object in results { groups.add(try evaluators.map { try $0.value(of: object) }) }
    let expected = try groups.results()
    let found = try bench.groups(request)
    let kinds = request.keys.map(\.kind) + request.aggregates.map(\.kind)
    // A store may lose the sign of zero.
    let isSame = found.elementsEqual(expected) { left, right in
      left.count == right.count
        && kinds.indices.allSatisfy { ValueOrder.areEqual(left[$0], right[$0], kind: kinds[$0]) }
    }
    if !isSame { bench.fail("\(found) instead of \(expected) for \(request), seed \(seed)", line: #line) }
  }

  /// Prints the predicate as a format string and reads it again, to check that this keeps the meaning. Some random
  /// predicates compare values that no format may compare, or convert constants that have no such value. These are used
  /// unchanged.
  private func reread(_ predicate: QueryPredicate, _ entity: Entity) -> QueryPredicate {
    do {
      let text = try predicate.formatText(of: entity.index, in: bench.model)
      return try CheckedFormat(text, of: entity.index, in: bench.model).predicate
    } catch let error as PredicateFormatError {
      if ![.typeMismatch, .invalidPattern, .invalidConstant].contains(error.code) {
        bench.fail("\(error) for what \(predicate) prints, seed \(seed)", line: #line)
      }
      return predicate
    } catch {
      bench.fail("\(error) for \(predicate), seed \(seed)", line: #line)
      return predicate
    }
  }
}
