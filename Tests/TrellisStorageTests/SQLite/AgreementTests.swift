import Testing
import TrellisModel
import TrellisStorage

/// SQLite and the evaluator in memory must give the same answer to every question.
@Suite("SQLite agrees with evaluation in memory") struct AgreementTests {
  /// Fills a store and a graph with the same random objects.
  private func fill(_ store: TestStore, _ random: inout RandomRequests) throws -> TestGraph {
    let graph = TestGraph(store.model)
    let request = SaveRequest()
    var next: Int64 = 1
    for entity in store.model.entities where !entity.isAbstract {
      let records = (0..<14).map { _ in
        defer { next += 1 }
        return TestRecord(entity, key: next, values(entity, next, &random))
      }
      for record in records { graph.add(entity.index, record) }
      request.inserts.append(.init(entity: entity.index, records: records))
    }
    link(store.model, graph, &random)
    for table in store.model.joinTables { request.pairs.append(pairs(table, graph, &random)) }
    try store.connection.save(request)
    return graph
  }

  private func values(_ entity: Entity, _ key: Int64, _ random: inout RandomRequests) -> [String: StoredValue] {
    var values: [String: StoredValue] = [:]
    let unique = Set(entity.uniqueKeys.flatMap(\.properties))
    for column in entity.columns {
      guard case .attribute(let number) = column.content, let attribute = entity.properties[number].attribute else {
        continue
      }
      if unique.contains(number) {
        let bytes = withUnsafeBytes(of: key) { Array($0) }
        values[column.name] =
          column.storageClass == .text ? .text("n\(key)") : column.storageClass == .blob ? .blob(bytes) : .integer(key)
      } else if !column.isOptional || Bool.random(using: &random.generator) {
        values[column.name] = random.value(column.storageClass, isDecimal: attribute.type == .decimal)
      }
    }
    return values
  }

  /// Sets references at random, one-to-ones to each object once.
  private func link(_ model: Model, _ graph: TestGraph, _ random: inout RandomRequests) {
    for entity in model.entities where !entity.isAbstract {
      for (place, column) in entity.columns.enumerated() {
        guard case .reference(let number, let destination) = column.content,
          let relationship = entity.properties[number].relationship
        else { continue }
        var targets = graph.objects(of: destination).map(\.key).shuffled(using: &random.generator)
        for object in graph.objects(of: entity.index) where Int.random(in: 0..<4, using: &random.generator) > 0 {
          let isOneToOne = model.inverse(of: relationship)?.isToMany == false
          let target = isOneToOne ? targets.popLast() : targets.randomElement(using: &random.generator)
          if let target, graph.records[object.key]?.entity == entity.index {
            graph.records[object.key]?.record.values[place] = .integer(target)
          }
        }
      }
    }
  }

  private func pairs(
    _ table: JoinTable, _ graph: TestGraph, _ random: inout RandomRequests
  ) -> SaveRequest.Pairs {
    var pairs = SaveRequest.Pairs(table: table.index)
    for first in graph.objects(of: table.first.entity) {
      for partner in graph.objects(of: table.partnerEntity)
      where Int.random(in: 0..<9, using: &random.generator) == 0 {
        let isThere = pairs.added.contains { $0.first == first.key && $0.partner == partner.key }
        if isThere { continue }
        pairs.added.append(.init(first: first.key, partner: partner.key))
        if table.isSymmetric && first.key != partner.key {
          pairs.added.append(.init(first: partner.key, partner: first.key))
        }
      }
    }
    graph.pairs[table.index] = Array(Set(pairs.added)).map { ($0.first, $0.partner) }
    return pairs
  }

  @Test(
    "every random predicate, sort, limit and offset", arguments: [TestModels.diary, TestModels.zoo],
    1...4 as ClosedRange<UInt64>)
  func random(_ description: ModelDescription, seed: UInt64) throws {
    let store = try TestStore(description)
    var random = RandomRequests(model: store.model, seed: seed)
    let graph = try fill(store, &random)
    var telling = 0
    for _ in 0..<500 {
      guard let entity = store.model.entities.randomElement(using: &random.generator) else { continue }
      let predicate = random.predicate([(0, entity.index)], depth: 3)
      let sort = random.sort(entity.index)
      let evaluator = try PredicateEvaluator(predicate)
      let found = try graph.objects(of: entity.index).filter { try evaluator.matches($0) }
      let expected = try SortOrder(sort).sorted(found).map(\.key)
      let keys = try store.keys(entity.name, predicate, sort: sort)
      #expect(keys == expected, "seed \(seed), \(entity.name): \(predicate), sorted by \(sort)")
      if !found.isEmpty && found.count < graph.objects(of: entity.index).count { telling += 1 }
      let offset = Int.random(in: 0...3, using: &random.generator)
      let window = Array(expected.dropFirst(offset).prefix(5))
      #expect(try store.keys(entity.name, predicate, sort: sort, limit: 5, offset: offset) == window)
    }
    #expect(telling > 150, "most predicates should tell some objects from others")
  }

  @Test("rows are read as they were written, whatever their entity", arguments: [TestModels.diary, TestModels.zoo])
  func rows(_ description: ModelDescription) throws {
    let store = try TestStore(description)
    var random = RandomRequests(model: store.model, seed: 99)
    let graph = try fill(store, &random)
    for entity in store.model.entities {
      let rows = try store.rows(entity.name)
      #expect(rows.map(\.key) == graph.objects(of: entity.index).map(\.key))
      for row in rows {
        let expected = try #require(graph.records[row.key])
        #expect(row.values == expected.record.values && row.entity == expected.entity)
      }
      let own = try store.rows(entity.name, subentities: false)
      #expect(own.allSatisfy { $0.entity == entity.index } && (own.count == 14 || entity.isAbstract))
    }
  }
}
