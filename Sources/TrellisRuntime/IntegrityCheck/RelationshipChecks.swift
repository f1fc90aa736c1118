import TrellisModel
import TrellisStorage

/// Checks the members of a page's objects in a relationship that is not stored in the objects' own rows.
struct MemberCheck {
  private struct Member {
    var owner: Int64
    var key: Int64
  }

  private let check: GraphCheck
  private let page: RowPage
  private let relationship: RelationshipInfo

  /// Returns nil if there is nothing to check.
  init?(check: GraphCheck, page: RowPage, relationship: RelationshipInfo) {
    // Positions need no check: members with the same position, as after two processes have appended at once, are
    // ordered by key.
    let hasRules = relationship.isCounted || relationship.isJoined || !relationship.isToMany
    guard hasRules, !relationship.isColumn, !relationship.isTransient, !page.keys.isEmpty else { return nil }
    self.check = check
    self.page = page
    self.relationship = relationship
  }

  func run() throws {
    var members: [Member] = []
    try check.connection.memberKeys(of: relationship.number, owners: page.keys) { owner, key, _ in
      members.append(Member(owner: owner, key: key))
    }
    try checkCounts(members)
    if relationship.isJoined { try checkPairs(members) }
  }

  // MARK: Numbers

  private func checkCounts(_ members: [Member]) throws {
    guard relationship.isCounted || !relationship.isToMany else { return }
    var counts: [Int64: Int] = [:]
    for member in members { counts[member.owner, default: 0] += 1 }
    for owner in page.keys {
      let count = counts[owner] ?? 0
      if relationship.isToMany { try checkCount(count, owner) } else { try checkOnly(count, owner) }
    }
  }

  private func checkCount(_ count: Int, _ owner: Int64) throws {
    if let least = relationship.minimumCount, count < least, count > 0 || !relationship.isOptional {
      try note(.memberCount, owner, "It has \(count) members, and must have \(least).", "Add members.")
    }
    if let most = relationship.maximumCount, count > most {
      try note(.memberCount, owner, "It has \(count) members, and may have \(most).", "Remove members.")
    }
  }

  private func checkOnly(_ count: Int, _ owner: Int64) throws {
    if count > 1 {
      try note(.notUnique, owner, "\(count) objects have it for their only partner.", "Set all but one of them to nil.")
    }
    if count == 0 && relationship.isRequired {
      try note(.missingValue, owner, "It must be set, and is not.", "Set it, or delete the object.")
    }
  }

  // MARK: Pairs

  private func checkPairs(_ members: [Member]) throws {
    let present = try check.present(members.map(\.key), of: relationship.destination)
    let destination = check.runtime.entities[relationship.destination].name
    for member in members where !present.contains(member.key) {
      try note(
        .danglingReference, member.owner, "\(destination)/\(member.key) is a member and is not there.",
        "Remove it from the members.")
    }
    if let inverse = check.runtime.inverse(of: relationship), inverse.isSame(as: relationship) {
      try checkSymmetry(members.filter { present.contains($0.key) }, destination)
    }
  }

  /// A relationship that is its own inverse must have each pair in both directions.
  private func checkSymmetry(_ members: [Member], _ destination: String) throws {
    var open: [Int64: Set<Int64>] = [:]
    for member in members { open[member.key, default: []].insert(member.owner) }
    try check.connection.memberKeys(of: relationship.number, owners: open.keys.sorted()) { owner, key, _ in
      open[owner]?.remove(key)
    }
    for (member, owners) in open.sorted(by: { $0.key < $1.key }) {
      for owner in owners.sorted() {
        try note(
          .missingInverse, owner, "\(destination)/\(member) is a member that does not have it for one.",
          "Remove it from the members, or add it again.")
      }
    }
  }

  private func note(_ code: StoreFinding.Code, _ owner: Int64, _ message: String, _ repair: String) throws {
    try check.note(
      StoreFinding(
        code, message, repair: repair, entity: page.entity.name, key: owner, properties: [relationship.name]))
  }
}

// MARK: - Reference check

/// Checks that the to-one relationships in a page's rows refer to existing objects, and that both ends of one-to-one
/// relationships agree.
struct ReferenceCheck {
  let check: GraphCheck
  let page: RowPage

  func run() throws {
    for relationship in page.entity.allRelationships {
      guard let references = page.references[relationship.property] else { continue }
      let inverse = check.runtime.inverse(of: relationship)
      // With this delete rule, dangling references are allowed.
      if inverse?.deleteRule == .noAction { continue }
      let present = try check.present(references.map(\.target), of: relationship.destination)
      for reference in references where !present.contains(reference.target) {
        try noteDangling(reference, relationship)
      }
      if let inverse, inverse.isSame(as: relationship) {
        try checkPartners(references.filter { present.contains($0.target) }, relationship)
      }
    }
  }

  /// A one-to-one relationship that is its own inverse is stored in the rows of both partners.
  private func checkPartners(_ references: [RowPage.Reference], _ relationship: RelationshipInfo) throws {
    guard case .column(let column, _) = relationship.home, !references.isEmpty else { return }
    var partners: [Int64: Int64] = [:]
    try check.connection.rows(of: relationship.destination, keys: references.map(\.target)) { row in
      if !row.isNull(column) { partners[row.key] = row.integer(column) }
    }
    for reference in references where partners[reference.target] != reference.holder {
      try check.note(
        finding(
          .missingInverse, reference, relationship,
          "It leads to \(check.runtime.entities[relationship.destination].name)/\(reference.target), which does not lead back.",
          "Set it anew, or to nil."))
    }
  }

  private func noteDangling(_ reference: RowPage.Reference, _ relationship: RelationshipInfo) throws {
    let destination = check.runtime.entities[relationship.destination].name
    try check.note(
      finding(
        .danglingReference, reference, relationship,
        "It leads to \(destination)/\(reference.target), which is not there.",
        relationship.isRequired ? "Set it to another object, or delete this one." : "Set it to nil."))
  }

  private func finding(
    _ code: StoreFinding.Code, _ reference: RowPage.Reference, _ relationship: RelationshipInfo, _ message: String,
    _ repair: String
  ) -> StoreFinding {
    StoreFinding(
      code, message, repair: repair, entity: page.entity.name, key: reference.holder, properties: [relationship.name])
  }
}

// MARK: - Unique key check

/// Finds objects with the same unique key: in the sort order of the key, they are adjacent.
struct UniqueKeyCheck {
  let check: GraphCheck
  let entity: EntityInfo
  let key: UniqueKey

  func run() throws {
    let columns = key.properties.compactMap { entity.entity.properties[$0].column }
    guard !columns.isEmpty, columns.count == key.properties.count else { return }
    var last: (key: Int64, values: [StoredValue])?
    var shared: [(key: Int64, other: Int64)] = []
    try check.connection.fetch(request) { row in
      let values = columns.map { row.value($0, entity.entity.columns[$0].storageClass) }
      // A unique key with a nil value is not enforced.
      if let last, last.values == values, !values.contains(where: \.isNull) { shared.append((row.key, last.key)) }
      last = (row.key, values)
      if shared.count >= GraphCheck.pageSize { try noteAll(&shared) }
    }
    try noteAll(&shared)
  }

  private var request: StoreRequest {
    let sort = key.properties.map { property in
      SortKey(
        PropertyPath(variable: 0).appending(property),
        kind: entity.entity.properties[property].attribute?.valueKind ?? .integer)
    }
    return StoreRequest(entity: entity.number, sort: sort)
  }

  private func noteAll(_ shared: inout [(key: Int64, other: Int64)]) throws {
    for (key, other) in shared { try note(key, other) }
    shared = []
  }

  private func note(_ key: Int64, _ other: Int64) throws {
    try check.note(
      StoreFinding(
        .notUnique, "The object \(other) has the same values here.",
        repair: "Give one of them another value, or delete it.", entity: entity.name, key: key,
        properties: self.key.properties.map { entity.entity.properties[$0].name }))
  }
}
