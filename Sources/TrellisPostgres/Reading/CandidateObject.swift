import TrellisModel
import TrellisStorage

/// A row that a condition or a sort key is evaluated on in memory.
final class CandidateRow {
  let key: Int64
  let version: Int64
  let entity: Int
  let values: [StoredValue]
  /// The rows that were read together with it.
  fileprivate(set) weak var cohort: Cohort?

  init(_ row: RowReader, _ model: Model) {
    key = row.key
    version = row.version
    entity = row.entity
    values = model.entities[row.entity].columns.enumerated().map { row.value($0, $1.storageClass) }
  }

  /// The rows that were read together: what one of them leads to is read for all of them at once.
  final class Cohort {
    let rows: [CandidateRow]

    init(_ rows: [CandidateRow]) {
      self.rows = rows
      for row in rows { row.cohort = self }
    }
  }
}

/// The rows around candidates, read when a condition asks for them.
final class CandidateGraph {
  let model: Model
  private let connection: PostgresConnection
  /// The rows, by table and key. A key without a row has an entry with nil.
  private var rows: [Int: [Int64: CandidateRow?]] = [:]
  /// The members of a relationship, in order, by owner.
  private var members: [RelationshipNumber: [Int64: [Int64]]] = [:]
  /// Keeps the cohorts, to which rows refer weakly.
  private var cohorts: [CandidateRow.Cohort] = []

  init(_ connection: PostgresConnection) {
    self.connection = connection
    model = connection.setup.model
  }

  /// Makes rows one cohort.
  func add(_ candidates: [CandidateRow]) {
    cohorts.append(CandidateRow.Cohort(candidates))
    for row in candidates { rows[model.entities[row.entity].root, default: [:]][row.key] = row }
  }

  func row(of entity: Int, _ key: Int64, for origin: CandidateRow, others: (CandidateRow) -> Int64?) throws
    -> CandidateRow?
  {
    let root = model.entities[entity].root
    if let known = rows[root]?[key] { return known }
    let wanted = (origin.cohort?.rows ?? [origin]).compactMap(others) + [key]
    try load(root, wanted)
    return rows[root]?[key] ?? nil
  }

  private func load(_ root: Int, _ keys: [Int64]) throws {
    let missing = Set(keys).filter { rows[root]?[$0] == nil }
    if missing.isEmpty { return }
    var found: [CandidateRow] = []
    try connection.rows(of: root, keys: missing.sorted()) { found.append(CandidateRow($0, self.model)) }
    for key in missing { rows[root, default: [:]][key] = .some(nil) }
    add(found)
  }

  /// The keys of the members of an owner, in order.
  func members(_ relationship: Relationship, of origin: CandidateRow) throws -> [Int64] {
    let number = relationship.number
    if let known = members[number]?[origin.key] { return known }
    let owners = Set((origin.cohort?.rows ?? []).map(\.key) + [origin.key]).filter { members[number]?[$0] == nil }
    var found: [Int64: [Int64]] = [:]
    try connection.memberKeys(of: number, owners: owners.sorted()) { owner, member, _ in
      found[owner, default: []].append(member)
    }
    for owner in owners { members[number, default: [:]][owner] = found[owner] ?? [] }
    return found[origin.key] ?? []
  }

  /// The rows with these keys, those without a row left out.
  func rows(of entity: Int, _ keys: [Int64], relationship: Relationship, for origin: CandidateRow) throws
    -> [CandidateRow]
  {
    let root = model.entities[entity].root
    if keys.contains(where: { rows[root]?[$0] == nil }) {
      let known = members[relationship.number]
      let all = (origin.cohort?.rows ?? []).flatMap { known?[$0.key] ?? [] }
      try load(root, keys + all)
    }
    return keys.compactMap { rows[root]?[$0] ?? nil }
  }
}

/// A row as an object for predicates and sort keys.
struct CandidateObject: QueryObject {
  let row: CandidateRow
  let graph: CandidateGraph

  var queryKey: Int64 { row.key }
  var queryEntityName: String { graph.model.entities[row.entity].name }

  private func property(_ number: Int) -> Property? {
    let properties = graph.model.entities[row.entity].properties
    return properties.indices.contains(number) ? properties[number] : nil
  }

  func queryValue(_ number: Int) throws -> StoredValue {
    switch property(number) {
    case .attribute(let attribute): return attribute.column.map { row.values[$0] } ?? .null
    case .relationship(let relationship):
      if relationship.isToMany { return .integer(Int64(try queryMemberCount(number))) }
      if let column = relationship.column, !relationship.isLeftAlone { return row.values[column] }
      return try queryPartner(number).map { .integer($0.queryKey) } ?? .null
    case nil: return .null
    }
  }

  func queryPartner(_ number: Int) throws -> CandidateObject? {
    guard let relationship = property(number)?.relationship, !relationship.isToMany else { return nil }
    if let column = relationship.column {
      guard case .integer(let key) = row.values[column] else { return nil }
      let root = graph.model.entities[row.entity].root
      let partner = try graph.row(of: relationship.destination, key, for: row) { other in
        guard graph.model.entities[other.entity].root == root, other.values.indices.contains(column),
          graph.model.entities[other.entity].columns[column].name
            == graph.model.entities[row.entity].columns[column].name,
          case .integer(let key) = other.values[column]
        else { return nil }
        return key
      }
      return partner.map { CandidateObject(row: $0, graph: graph) }
    }
    return try queryMembers(number).first
  }

  func queryMembers(_ number: Int) throws -> [CandidateObject] {
    guard let relationship = property(number)?.relationship, !relationship.isTransient else { return [] }
    let keys = try graph.members(relationship, of: row)
    return try graph.rows(of: relationship.destination, keys, relationship: relationship, for: row).map {
      CandidateObject(row: $0, graph: graph)
    }
  }

  func queryMemberCount(_ number: Int) throws -> Int {
    guard let relationship = property(number)?.relationship, !relationship.isTransient else { return 0 }
    // A pair may lead to an object that is gone, which is no member.
    if relationship.partnerRule == .noAction { return try queryMembers(number).count }
    return try graph.members(relationship, of: row).count
  }
}
