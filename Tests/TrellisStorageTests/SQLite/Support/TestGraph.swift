import TrellisModel
import TrellisStorage

/// The same objects in memory, so that SQLite's answers can be held against those of the evaluator.
final class TestGraph {
  let model: Model
  private(set) var records: [Int64: (entity: Int, record: TestRecord)] = [:]
  /// By join table, pairs of keys.
  var pairs: [Int: [(first: Int64, partner: Int64)]] = [:]

  init(_ model: Model) { self.model = model }

  func add(_ entity: Int, _ record: TestRecord) { records[record.storedKey] = (entity, record) }

  func objects(of entity: Int) -> [TestObject] {
    let subtree = Set(model.entities[entity].subtree)
    return records.values.filter { subtree.contains($0.entity) }.map {
      TestObject(graph: self, key: $0.record.storedKey)
    }
    .sorted { $0.queryKey < $1.queryKey }
  }

  func value(_ key: Int64, column: Int) -> StoredValue { records[key]?.record.values[column] ?? .null }
}

struct TestObject: QueryObject {
  let graph: TestGraph
  let key: Int64

  var queryKey: Int64 { key }
  var queryEntityName: String { graph.records[key].map { graph.model.entities[$0.entity].name } ?? "" }

  private func property(_ number: Int) -> Property? {
    graph.records[key].map { graph.model.entities[$0.entity].properties[number] }
  }

  func queryValue(_ number: Int) -> StoredValue {
    switch property(number) {
    case .attribute(let attribute): attribute.column.map { graph.value(key, column: $0) } ?? .null
    case .relationship: queryPartner(number).map { .integer($0.key) } ?? .null
    case nil: .null
    }
  }

  func queryPartner(_ number: Int) -> TestObject? {
    guard let relationship = property(number)?.relationship else { return nil }
    if let column = relationship.column, case .integer(let partner) = graph.value(key, column: column) {
      return graph.records[partner].map { _ in TestObject(graph: graph, key: partner) }
    }
    return relationship.column == nil ? queryMembers(number).first : nil
  }

  func queryMembers(_ number: Int) -> [TestObject] {
    guard let relationship = property(number)?.relationship else { return [] }
    if case .joinTable(let table, let isFirst) = relationship.home {
      let pairs = graph.pairs[table] ?? []
      return pairs.filter { (isFirst ? $0.first : $0.partner) == key }
        .map { TestObject(graph: graph, key: isFirst ? $0.partner : $0.first) }
    }
    guard let column = graph.model.inverse(of: relationship)?.column else { return [] }
    return graph.objects(of: relationship.destination).filter {
      graph.value($0.key, column: column) == .integer(key)
    }
  }
}
