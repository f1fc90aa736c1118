import TrellisStorage

/// The rules that a save checks again, while no other save can write.
enum RulesCheck {
  /// - Parameters:
  ///   - before: the state before the save.
  ///   - after: the state after the save.
  /// - Throws: ``ConstraintViolations``.
  static func run(_ draft: SaveDraft, _ before: Snapshot, _ after: Snapshot) throws {
    var broken = ConstraintViolations()
    for denial in draft.denials {
      let members = try Members(denial.relationship, before)
      guard let (table, isFirst) = members.joinTable else { throw StoreError.malformed("A denial needs a join table.") }
      try members.forEach(denial.owners) { owner, partner, _ in
        guard draft.departures?.takes(table, owner, partner, isFirst: isFirst) != true else { return }
        broken.denials.append(.init(relationship: denial.relationship, owner: owner, partner: partner))
      }
    }
    for count in draft.counts {
      let members = try Members(count.relationship, after)
      var owners = Set(count.owners)
      if !count.leaving.isEmpty { owners.formUnion(try Members(count.relationship, before).owners(of: count.leaving)) }
      for owner in owners.sorted() where members.hasOwner(owner) && !count.allows(members.count(owner)) {
        broken.counts.append(.init(relationship: count.relationship, owner: owner, found: members.count(owner)))
      }
    }
    if !broken.isEmpty { throw broken }
  }
}

extension Members {
  fileprivate var joinTable: (table: Int, isFirst: Bool)? {
    if case .joinTable(let table, let isFirst) = relationship.home { (table, isFirst) } else { nil }
  }

  fileprivate func count(_ owner: Int64) -> Int { index.count(owner) }

  fileprivate func hasOwner(_ owner: Int64) -> Bool {
    snapshot.state.row(snapshot.layout.model.entities[relationship.entity].root, owner) != nil
  }

  /// The owners of some members in a join table.
  fileprivate func owners(of members: [Int64]) throws -> [Int64] {
    guard let (table, isFirst) = joinTable else { throw StoreError.malformed("Members leave a join table only.") }
    let reversed = isFirst ? snapshot.state.backward[table] : snapshot.state.forward[table]
    return members.flatMap { reversed.targets($0).map(\.key) }
  }
}
