import TrellisModel

/// The rules that a save checks again, while no other save can write.
enum MemoryRulesCheck {
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

// MARK: - Reference check

/// Checks that no reference is dangling after the save, unless its delete rule is `noAction`.
enum ReferenceCheck {
  static func run(_ plan: SavePlan, _ state: MemoryState, _ layout: Layout) throws {
    let checked = layout.references.filter(\.isChecked)
    for change in plan.changes {
      if let row = change.new {
        try checkTargets(of: row, change.old, plan, state, layout)
      } else {
        for reference in checked where reference.targetRoot == change.place.root {
          try checkHolders(of: change.place.key, reference, plan, state, layout)
        }
      }
    }
    for group in plan.pairs { try checkEnds(of: group, plan, state, layout) }
  }

  private static func checkTargets(
    of row: MemoryRow, _ old: MemoryRow?, _ plan: SavePlan, _ state: MemoryState, _ layout: Layout
  ) throws {
    for reference in layout.referencesOf[row.entity] where reference.isChecked {
      guard let target = row.reference(reference.column), target != old?.reference(reference.column) else { continue }
      if plan.row(reference.targetRoot, target, state) == nil { throw dangling(reference, layout) }
    }
  }

  /// Checks that no remaining row refers to a deleted row.
  private static func checkHolders(
    of target: Int64, _ reference: Layout.Reference, _ plan: SavePlan, _ state: MemoryState, _ layout: Layout
  ) throws {
    let root = layout.model.entities[reference.entity].root
    for holder in state.references[reference.index].targets(target)
    where plan.row(root, holder.key, state)?.reference(reference.column) == target {
      throw dangling(reference, layout)
    }
  }

  private static func checkEnds(
    of group: SaveRequest.Pairs, _ plan: SavePlan, _ state: MemoryState, _ layout: Layout
  ) throws {
    let table = layout.model.joinTables[group.table]
    let entity = layout.model.entities[table.first.entity]
    let partnerRoot = layout.model.entities[table.partnerEntity].root
    for pair in group.added
    where plan.row(entity.root, pair.first, state) == nil || plan.row(partnerRoot, pair.partner, state) == nil {
      throw dangling(entity, table.first.property)
    }
  }

  private static func dangling(_ reference: Layout.Reference, _ layout: Layout) -> StoreError {
    dangling(layout.model.entities[reference.entity], reference.property)
  }

  private static func dangling(_ entity: Entity, _ property: Int) -> StoreError {
    let name = entity.properties[property].name
    return StoreError(
      .danglingReference, "\(entity.name).\(name) would lead to an object that is not there.",
      remedy: "Let go of the object before it is deleted, or save it first.", entity: entity.name, properties: [name])
  }
}

// MARK: - Unique check

/// Checks that no two rows have the same unique key after the save. Rows may swap keys within a save.
enum UniqueCheck {
  /// A row and its values in one index.
  private struct Entry: Hashable {
    let index: Layout.ValueIndex
    let hash: Int64
    let row: MemoryRow

    static func == (left: Entry, right: Entry) -> Bool {
      left.hash == right.hash && left.index.index == right.index.index && left.index.areSame(left.row, right.row)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  }

  /// - Complexity: linear in the changed rows and their keys.
  static func run(_ plan: SavePlan, _ state: MemoryState, _ layout: Layout) throws {
    var seen: Set<Entry> = []
    for change in plan.changes {
      guard let row = change.new else { continue }
      for index in layout.valueIndexesOf[row.entity] {
        guard let hash = index.hash(row) else { continue }
        let isNew = seen.insert(Entry(index: index, hash: hash, row: row)).inserted
        if !isNew || isStored(index, hash, row, change.place.root, plan, state) { throw notUnique(index, row, layout) }
      }
    }
  }

  /// Whether a row that the save does not touch has the same key.
  private static func isStored(
    _ index: Layout.ValueIndex, _ hash: Int64, _ row: MemoryRow, _ root: Int, _ plan: SavePlan, _ state: MemoryState
  ) -> Bool {
    state.values[index.index].targets(hash).contains { link in
      guard !plan.touches(root, link.key), let other = state.row(root, link.key) else { return false }
      return index.areSame(row, other)
    }
  }

  private static func notUnique(_ index: Layout.ValueIndex, _ row: MemoryRow, _ layout: Layout) -> StoreError {
    let entity = layout.model.entities[row.entity]
    let names = index.columns.map { entity.properties[entity.columns[$0].property].name }
    return StoreError(
      .notUnique, "Two objects of \(entity.name) would have the same \(names.joined(separator: ", ")).",
      remedy: "Change one of them, or update the object that is there.", entity: entity.name, properties: names)
  }
}
