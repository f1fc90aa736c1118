import TrellisModel
import TrellisStorage

/// The simplest possible implementation: all records in a dictionary, and pairs in a list. It has no indexes, so that a
/// store's indexes can be compared with it.
final class ReferenceGraph {
  let model: Model
  var records: [Int64: Record] = [:]
  var pairs: [Int: [SaveRequest.Pairs.Pair]] = [:]

  init(_ model: Model) { self.model = model }

  func objects(_ entity: Entity) -> [ReferenceObject] {
    records.values.filter { entity.subtree.contains($0.entity.index) }.map { ReferenceObject(record: $0, graph: self) }
  }

  /// The keys at the other end of a relationship.
  func partners(of record: Record, _ relationship: Relationship) -> [Int64] {
    switch relationship.home {
    case .column(let column, _): return record.values[column].key.map { [$0] } ?? []
    case .joinTable(let table, isFirst: true):
      return (pairs[table] ?? []).filter { $0.first == record.storedKey }.map(\.partner)
    case .joinTable(let table, isFirst: false):
      return (pairs[table] ?? []).filter { $0.partner == record.storedKey }.map(\.first)
    case .inverseColumn: return holders(of: record, relationship)
    case .transient: return []
    }
  }

  /// The records at the other end. A dangling reference leads to none.
  func living(_ record: Record, _ relationship: Relationship) -> [Record] {
    partners(of: record, relationship).compactMap { records[$0] }
  }

  /// The records at the other end by position, then by key.
  func ordered(_ record: Record, _ relationship: Relationship) -> [Record] {
    let places: [Int64: Int64]
    switch relationship.home {
    case .joinTable(let table, isFirst: true):
      let own = (pairs[table] ?? []).filter { $0.first == record.storedKey }
      places = Dictionary(uniqueKeysWithValues: own.map { ($0.partner, $0.place ?? .min) })
    case .joinTable(let table, isFirst: false):
      let own = (pairs[table] ?? []).filter { $0.partner == record.storedKey }
      places = Dictionary(uniqueKeysWithValues: own.map { ($0.first, $0.inversePlace ?? .min) })
    default:
      guard case .column(_, let order?)? = model.inverse(of: relationship)?.home else { return [] }
      let members = living(record, relationship)
      places = Dictionary(uniqueKeysWithValues: members.map { ($0.storedKey, $0.values[order].key ?? .min) })
    }
    return living(record, relationship).sorted { a, b in
      let (left, right) = (places[a.storedKey] ?? .min, places[b.storedKey] ?? .min)
      return left == right ? a.storedKey < b.storedKey : left < right
    }
  }

  private func holders(of record: Record, _ relationship: Relationship) -> [Int64] {
    guard let inverse = model.inverse(of: relationship), let column = inverse.column else { return [] }
    let family = model.entities[inverse.entity].subtree
    return records.values.filter {
      family.contains($0.entity.index) && $0.values[column].key == record.storedKey
    }.map(\.storedKey)
  }
}

struct ReferenceObject: QueryObject {
  let record: Record
  let graph: ReferenceGraph

  var queryKey: Int64 { record.storedKey }
  var queryEntityName: String { record.entity.name }

  func queryValue(_ property: Int) -> StoredValue {
    let property = record.entity.properties[property]
    if let attribute = property.attribute { return attribute.column.map { record.values[$0] } ?? .null }
    return property.relationship.flatMap { graph.living(record, $0).first }.map { .integer($0.storedKey) } ?? .null
  }

  func queryPartner(_ property: Int) -> ReferenceObject? { queryMembers(property).first }

  func queryOrderedMembers(_ property: Int) -> [ReferenceObject] {
    guard let relationship = record.entity.properties[property].relationship else { return [] }
    return graph.ordered(record, relationship).map { ReferenceObject(record: $0, graph: graph) }
  }

  func queryMembers(_ property: Int) -> [ReferenceObject] {
    guard let relationship = record.entity.properties[property].relationship else { return [] }
    return graph.living(record, relationship).map { ReferenceObject(record: $0, graph: graph) }
  }
}

extension StoredValue {
  /// The key in a reference.
  fileprivate var key: Int64? { if case .integer(let key) = self { key } else { nil } }
}
