import TrellisModel
import TrellisStorage

/// Writes the pairs of the relationships that the copy keeps in tables of their own.
struct PairCopy {
  private let plan: CopyPlan
  private let writer: any BulkWriter
  private let memberCounts: MemberCounts
  private(set) var count = 0

  init(_ plan: CopyPlan, to writer: any BulkWriter, counting memberCounts: MemberCounts) {
    self.plan = plan
    self.writer = writer
    self.memberCounts = memberCounts
  }

  /// - Throws: ``CoreDataError``; ``StoreError``.
  /// - Complexity: linear in the pairs, and the sorts of the store. The members of one object are in memory at a time; of
  ///   a relationship that is ordered at both ends, or that is its own inverse, all pairs.
  mutating func run() throws {
    for table in plan.model.joinTables {
      guard let relationship = plan.model.entities[table.first.entity].properties[table.first.property].relationship
      else { continue }
      try copy(table, relationship)
    }
  }

  /// A pair as the store has it: primary keys of the object at the first end and of its partner.
  private struct SourcePair: Hashable {
    let first: Int64
    let partner: Int64
  }

  private mutating func copy(_ table: JoinTable, _ relationship: Relationship) throws {
    let query: String
    var inverseQuery: String?
    switch plan.place(of: relationship) {
    case .none, .column: return
    case .pairs(let name, let owner, let member, let order):
      query = Self.query(name, owner, member, order)
      if table.second?.orderColumn != nil, let inverse = plan.model.inverse(of: relationship),
        !relationship.isOwnInverse, case .pairs(let name, let owner, let member, let order) = plan.place(of: inverse)
      {
        inverseQuery = Self.query(name, owner, member, order)
      }
    case .memberColumn(let name, let column):
      guard let key = try plan.file.columns(of: name)["Z_PK"] else { return }
      query = Self.query(name, column, key, nil)
    case .members:
      // The inverse is a to-one that has another counterpart here.
      guard let source = try memberQuery(of: relationship) else { return }
      query = source
    }
    // The positions among the members at the second end come from a query of their own.
    var inversePlaces: [SourcePair: Int64] = [:]
    if let inverseQuery {
      var positions = Positions()
      try plan.file.rows(inverseQuery) { row in
        guard let owner = row.integer(0), let member = row.integer(1) else { return }
        let pair = SourcePair(first: member, partner: owner)
        if inversePlaces[pair] == nil { inversePlaces[pair] = positions.next(of: owner) }
      }
    }
    try write(query, table, relationship, inversePlaces)
  }

  private static func query(_ table: String, _ owner: String, _ member: String, _ order: String?) -> String {
    let (owner, member) = (SQLName.quoted(owner), SQLName.quoted(member))
    let place = order.map(SQLName.quoted) ?? "NULL"
    return "SELECT \(owner), \(member) FROM \(SQLName.quoted(table)) WHERE \(owner) IS NOT NULL "
      + "ORDER BY \(owner), \(place) IS NULL, \(place), \(member)"
  }

  private func memberQuery(of relationship: Relationship) throws -> String? {
    let entity = plan.translation.entities[relationship.entity]
    let source = entity.relationships.first { $0.description.name == relationship.name }
    guard let source, let name = source.source.inverse else { return nil }
    let target = source.destination
    guard let number = plan.translation.entities[target].relationships.firstIndex(where: { $0.source.name == name }),
      case .column(let column, _) = plan.layout.entities[target].relationships[number],
      let table = plan.layout.entities[target].table, let key = try plan.file.columns(of: table)["Z_PK"]
    else { return nil }
    let order =
      source.source.isOrdered
      ? try plan.file.columns(of: table)["Z_FOK_" + column.uppercased().dropFirst()] : nil
    return Self.query(table, column, key, order)
  }

  private mutating func write(
    _ query: String, _ table: JoinTable, _ relationship: Relationship, _ inversePlaces: [SourcePair: Int64]
  ) throws {
    let owners = plan.rows[plan.model.entities[relationship.entity].root]
    let members = plan.rows[plan.model.entities[relationship.destination].root]
    guard let owners, let members else { return }
    let name = plan.sourceName(of: relationship)
    var positions = Positions()
    var last: (owner: Int64, members: Set<Int64>)?
    var known: Set<SourcePair> = []
    var mirrored: [SaveRequest.Pairs.Pair] = []
    let isOrdered = table.first.orderColumn != nil
    var written = 0
    try plan.file.rows(query) { row in
      guard let ownerKey = row.integer(0) else { return }
      guard let owner = included(ownerKey, owners, within: relationship.entity),
        let memberKey = row.integer(1), let member = included(memberKey, members, within: relationship.destination)
      else {
        plan.findings.note(
          .leftOut, plan.sourceName(relationship.entity), name,
          "has a member that is not there, or is one of an object that is not",
          key: ownerKey)
        return
      }
      if last?.owner != ownerKey { last = (ownerKey, []) }
      guard last?.members.insert(memberKey).inserted == true else {
        plan.findings.note(.leftOut, plan.sourceName(relationship.entity), name, "has a member twice", key: ownerKey)
        return
      }
      let source = SourcePair(first: ownerKey, partner: memberKey)
      var pair = SaveRequest.Pairs.Pair(first: owners.keys[owner], partner: members.keys[member])
      if isOrdered { pair.place = positions.next(of: ownerKey) }
      if table.second?.orderColumn != nil { pair.inversePlace = inversePlaces[source] }
      if relationship.isOwnInverse {
        known.insert(source)
        mirrored.append(pair)
      } else {
        try add(pair, to: table, relationship)
        written += 1
      }
    }
    count += written
    if relationship.isOwnInverse { try writeBothWays(mirrored, table, relationship, isOrdered) }
  }

  private func add(_ pair: SaveRequest.Pairs.Pair, to table: JoinTable, _ relationship: Relationship) throws {
    try writer.add(pair, to: table.index)
    if relationship.isCounted { memberCounts.add(to: pair.first, of: relationship.number) }
    guard !relationship.isOwnInverse, let inverse = plan.model.inverse(of: relationship), inverse.isCounted else {
      return
    }
    memberCounts.add(to: pair.partner, of: inverse.number)
  }

  /// Writes each pair of a relationship that is its own inverse in both directions.
  private mutating func writeBothWays(
    _ pairs: [SaveRequest.Pairs.Pair], _ table: JoinTable, _ relationship: Relationship, _ isOrdered: Bool
  ) throws {
    var all: [SourcePair: Int64?] = [:]
    var lastPlaces: [Int64: Int64] = [:]
    for pair in pairs {
      all[SourcePair(first: pair.first, partner: pair.partner)] = .some(pair.place)
      lastPlaces[pair.first] = max(lastPlaces[pair.first] ?? 0, pair.place ?? 0)
    }
    for pair in pairs where all[SourcePair(first: pair.partner, partner: pair.first)] == nil {
      let place = (lastPlaces[pair.partner] ?? 0) + RowCopy.gap
      lastPlaces[pair.partner] = place
      all[SourcePair(first: pair.partner, partner: pair.first)] = .some(isOrdered ? place : nil)
    }
    for (pair, place) in all.sorted(by: { ($0.key.first, $0.key.partner) < ($1.key.first, $1.key.partner) }) {
      try add(
        SaveRequest.Pairs.Pair(first: pair.first, partner: pair.partner, place: place), to: table, relationship)
      count += 1
    }
  }

  private func included(_ primaryKey: Int64, _ index: RowIndex, within entity: Int) -> Int? {
    guard let place = index.place(of: primaryKey), index.isIncluded(place),
      plan.model.isEntity(Int(index.entities[place]), within: entity)
    else { return nil }
    return place
  }
}

/// Rising positions of the members of one owner after the other.
private struct Positions {
  private var owner: Int64?
  private var last: Int64 = 0

  mutating func next(of owner: Int64) -> Int64 {
    if self.owner != owner { (self.owner, last) = (owner, 0) }
    last += RowCopy.gap
    return last
  }
}
