import TrellisModel

/// Migrates a state in memory: of a document that was made with a former model, or of a store in memory.
package struct StateMigration {
  package let migration: Migration
  private let snapshot: Snapshot
  private let now: Int64
  /// The pairs of the links that are stored in another way, by the current link's number.
  private let pairs: [Int: CollectedPairs]

  private var stored: Model { migration.stored }
  private var current: Model { migration.current }

  /// - Parameters:
  ///   - snapshot: the state, with the layout of the stored model.
  ///   - now: the time of the migration, in microseconds since 1970.
  /// - Complexity: linear in the number of rows, and n log n in the pairs of links that are stored in another way.
  package init(_ migration: Migration, of snapshot: Snapshot, now: Int64) {
    self.migration = migration
    self.snapshot = snapshot
    self.now = now
    let kept = Self.keptRows(migration, snapshot)
    var pairs: [Int: CollectedPairs] = [:]
    for (number, move) in migration.links.enumerated() where move.way == .collected {
      pairs[number] = CollectedPairs(move, migration, snapshot, kept)
    }
    self.pairs = pairs
  }

  /// The current entity of each row that is kept, by its key.
  private static func keptRows(_ migration: Migration, _ snapshot: Snapshot) -> [Int64: Int] {
    var kept: [Int64: Int] = [:]
    for table in snapshot.state.tables {
      table.forEach { key, row in
        if let move = migration.rows[row.entity] { kept[key] = move.entity }
        return true
      }
    }
    return kept
  }

  /// - Parameters:
  ///   - steps: the steps in Swift that follow the rules.
  ///   - countsBreaches: whether rows that break new bounds are counted, which only a reader of the plan needs.
  /// - Throws: ``StoreError``.
  package func plan(
    allowsLoss: Bool, steps: [CodedStep] = [], countsBreaches: Bool = false
  ) throws -> MigrationPlan {
    try MigrationPlan(
      migration, counts: try counts(countsBreaches: countsBreaches), allowsLoss: allowsLoss, steps: steps)
  }

  /// - Parameter countsBreaches: whether rows that break new bounds are counted, which only a reader of the plan needs.
  package func counts(countsBreaches: Bool) throws -> any MigrationCounts {
    MemoryMigrationCounts(
      migration: migration, snapshot: snapshot, lostPairs: pairs.mapValues(\.lost), duplicates: try duplicates(),
      breaches: countsBreaches ? try breaches() : nil, blanks: blanks)
  }

  /// The values that each new unique key would hold for several rows.
  private func duplicates() throws -> [NewKey: NewKey.Duplicates] {
    guard !migration.newKeys.isEmpty else { return [:] }
    let operands = try preparedOperands()
    var found: [NewKey: NewKey.Duplicates] = [:]
    for key in migration.newKeys {
      var rows: [[StoredValue]: [Int64]] = [:]
      for table in snapshot.state.tables {
        try table.forEach { number, row in
          guard let move = migration.rows[row.entity], current.isEntity(move.entity, within: key.entity) else {
            return true
          }
          let values = try key.columns.map { try value(move.columns[$0], of: row, operands) }
          if !values.contains(where: \.isNull) { rows[values, default: []].append(number) }
          return true
        }
      }
      let groups = rows.values.filter { $0.count > 1 }.map { $0.sorted() }.sorted { $0[0] < $1[0] }
      found[key] = NewKey.Duplicates(
        count: groups.count,
        rows: groups.prefix(NewKey.Duplicates.shownValues).map { Array($0.prefix(NewKey.Duplicates.shownRows)) })
    }
    return found
  }

  /// The number of rows that break each new bound.
  private func breaches() throws -> [Int] {
    let attributes = migration.boundedAttributes
    let operands = try preparedOperands()
    return try migration.newBounds.enumerated().map { number, bound in
      switch bound.subject {
      case .values(let column):
        guard let attribute = attributes[number] else { return 0 }
        return try count(bound.origins) { row in
          guard let move = migration.rows[row.entity] else { return false }
          return !attribute.failures(of: try value(move.columns[column], of: row, operands)).isEmpty
        }
      case .partners(let link, let isSecond):
        let property = current.entities[bound.entity].properties[bound.property]
        guard let relationship = property.relationship else { return 0 }
        var counts: [Int64: Int] = [:]
        for pair in movedPairs(link) { counts[isSecond ? pair.partner : pair.owner, default: 0] += 1 }
        return try count(bound.origins) { !relationship.allows(counts[$0.key] ?? 0) }
      }
    }
  }

  /// The number of rows for which a column has no value.
  private func blanks(column: Int, of move: RowMove) throws -> Int {
    let operands = try preparedOperands()
    return try count([move.origin]) { try value(move.columns[column], of: $0, operands).isNull }
  }

  private func count(_ origins: [Int], _ isCounted: (MemoryRow) throws -> Bool) throws -> Int {
    var count = 0
    for table in snapshot.state.tables {
      try table.forEach { _, row in
        if origins.contains(row.entity), try isCounted(row) { count += 1 }
        return true
      }
    }
    return count
  }

  private func preparedOperands() throws -> [PreparedOperand] {
    var preparation = PredicatePreparation()
    return try migration.expressions.map { try preparation.operand($0.operand) }
  }

  /// The state for the current model.
  ///
  /// - Parameters:
  ///   - layout: the layout of the current model.
  ///   - store: the store's name.
  ///   - mayRepeat: whether rows may have the same values of a unique key, because steps follow that change them.
  /// - Throws: ``StoreError``: `notUnique` if rows would have the same unique values, errors of files of external data.
  package func migrated(_ layout: Layout, of store: String, mayRepeat: Bool = false) throws -> MemoryState {
    var state = MemoryState(layout)
    var duplicates = DuplicateRows(layout)
    let operands = try preparedOperands()
    for table in snapshot.state.tables {
      try table.forEach { _, row in
        guard let move = migration.rows[row.entity] else { return true }
        let moved = MemoryRow(
          key: row.key, version: row.version, entity: move.entity,
          values: try move.columns.map { try value($0, of: row, operands) })
        if !mayRepeat { duplicates.note(moved, state) }
        state.replace(nil, by: moved, layout)
        return true
      }
    }
    if let refusal = duplicates.refusal(of: store) { throw refusal }
    for (number, move) in migration.links.enumerated() { movePairs(number, move, to: &state) }
    return state
  }

  /// Runs the steps of a migration.
  ///
  /// - Parameters:
  ///   - migrated: the state for the current model, and its next key.
  ///   - layout: the layout of the current model.
  ///   - policy: the policy of the migration, which holds for the way to a step's version, too.
  /// - Returns: the state after the steps, and its next key.
  /// - Throws: ``StoreError``: `stepFailed`, or `notUnique` if rows have the same unique values after the steps.
  package func run(
    _ steps: [CodedStep], on migrated: (state: MemoryState, nextKey: Int64), _ layout: Layout,
    _ policy: MigrationPolicy, of store: String, check: @escaping () throws -> Void
  ) throws(StoreError) -> (state: MemoryState, nextKey: Int64) {
    let current = MemoryStore(migrated.state, nextKey: migrated.nextKey, layout, name: store)
    for step in steps {
      let model = try step.model()
      do {
        let former = MemoryStore(
          try state(of: model, policy, store), nextKey: migrated.nextKey, Layout(model), name: store)
        try step.run(StepStores(former: former, formerModel: model, current: current, check: check))
      } catch {
        throw .stepFailed(step, of: store, error)
      }
    }
    let contents = current.contents()
    if let refusal = DuplicateRows.refusal(of: contents.state, layout, store) { throw refusal }
    return contents
  }

  /// The stored rows as the rules bring them to a former version.
  private func state(of model: Model, _ policy: MigrationPolicy, _ store: String) throws -> MemoryState {
    let states = StateMigration(Migration(from: stored, to: model), of: snapshot, now: now)
    let policy = MigrationPolicy(mode: policy.mode)
    try states.plan(allowsLoss: policy.mode == .losing).check(policy, store)
    return try states.migrated(Layout(model), of: store)
  }

  // MARK: Values

  private func value(_ source: ColumnSource, of row: MemoryRow, _ operands: [PreparedOperand]) throws -> StoredValue {
    switch source {
    case .stored(let column): return try value(column, of: row, operands)
    case .new(let filling): return try value(filling, of: row, operands)
    case .partner(let link): return pairs[link]?.byOwner[row.key]?.first.map { .integer($0.partner) } ?? .null
    case .place(let link):
      return pairs[link]?.byOwner[row.key]?.first?.inverse.map { .integer($0) } ?? .null
    }
  }

  private func value(
    _ source: StoredColumn, of row: MemoryRow, _ operands: [PreparedOperand]
  ) throws -> StoredValue {
    var value = row.value(source.column)
    if value.isNull { return try self.value(source.missing, of: row, operands) }
    if source.isInlined, case .file(let file) = value { value = .blob(try MigrationValues.bytes(of: file)) }
    guard let conversion = source.conversion else { return value }
    return try migration.conversions[conversion].convert(value) ?? self.value(source.misfit, of: row, operands)
  }

  private func value(_ filling: Filling, of row: MemoryRow, _ operands: [PreparedOperand]) throws -> StoredValue {
    switch filling {
    case .null, .unanswered: return .null
    case .value(let value): return value
    case .now: return .integer(now)
    case .newUUID: return .blob(MigrationValues.newUUID())
    case .expression(let number):
      let value = try operands[number].value(in: EvaluationScope(RowObject(row: row, snapshot: snapshot)))
      guard let conversion = migration.expressions[number].conversion, !value.isNull else { return value }
      return migration.conversions[conversion].convert(value) ?? .null
    }
  }

  // MARK: Pairs

  /// The pairs that a current link gets.
  private func movedPairs(_ number: Int) -> [StoredPair] {
    let move = migration.links[number]
    switch move.way {
    case .new: return []
    case .collected: return pairs[number]?.all ?? []
    case .copied:
      guard let source = move.sources.first else { return [] }
      let stored = StoredPair.all(of: migration.storedLinks.all[source.link], in: snapshot)
      return source.isReversed ? stored.map(\.reversed) : stored
    }
  }

  private func movePairs(_ number: Int, _ move: LinkMove, to state: inout MemoryState) {
    guard let table = move.link.joinTable else { return }
    for pair in movedPairs(number) {
      state.setPair(
        table, first: pair.owner, partner: pair.partner, place: move.link.isFirstOrdered ? pair.place : nil,
        inversePlace: move.link.isSecondOrdered ? pair.inverse : nil)
    }
  }
}

extension MigrationValues {
  /// The data of an external file.
  static func bytes(of file: ExternalFile) throws -> [UInt8] {
    guard let origin = file.origin else {
      throw StoreError(
        .missingFile, "The data of a file cannot come into the row, because its folder is missing.",
        remedy: "Restore the folder of external data from a backup.")
    }
    return try origin.bytes(of: file)
  }
}

// MARK: - Stored pair

/// A pair of a link, in the direction of the link's first end.
struct StoredPair: Hashable {
  var owner: Int64
  var partner: Int64
  /// The place of the partner among those of the owner.
  var place: Int64?
  /// The place of the owner among those of the partner.
  var inverse: Int64?

  var reversed: StoredPair { StoredPair(owner: partner, partner: owner, place: inverse, inverse: place) }

  /// The pairs of a link, in no order.
  static func all(of link: LinkList.Link, in snapshot: Snapshot) -> [StoredPair] {
    var pairs: [StoredPair] = []
    switch link.first.home {
    case .joinTable(let table, _):
      let (forward, backward) = (snapshot.state.forward[table], snapshot.state.backward[table])
      // The pair in the other direction of a relationship that is its own inverse is one of the same table.
      let others = link.isSymmetric ? forward : backward
      forward.links.forEach { pair, place in
        let inverse = others.links[Link(from: pair.to, to: pair.from)] ?? nil
        pairs.append(StoredPair(owner: pair.from, partner: pair.to, place: place, inverse: inverse))
        return true
      }
    case .column(let column, let order):
      let model = snapshot.layout.model
      let isOwner = Set(model.entities[link.first.entity].subtree)
      snapshot.state.tables[model.entities[link.first.entity].root].forEach { key, row in
        if isOwner.contains(row.entity), let partner = row.reference(column) {
          pairs.append(StoredPair(owner: key, partner: partner, inverse: order.flatMap { row.reference($0) }))
        }
        return true
      }
    case .inverseColumn, .transient: break
    }
    return pairs
  }
}

// MARK: - Collected pairs

/// The pairs of a link that is stored in another way: those that the current link can have, in their order.
struct CollectedPairs {
  private(set) var all: [StoredPair] = []
  private(set) var byOwner: [Int64: [StoredPair]] = [:]
  /// The number of pairs of two kept objects that are too many for the current link.
  let lost: Int

  init(_ move: LinkMove, _ migration: Migration, _ snapshot: Snapshot, _ kept: [Int64: Int]) {
    var found: [Link: StoredPair] = [:]
    func insert(_ pair: StoredPair) {
      let link = Link(from: pair.owner, to: pair.partner)
      if found[link] == nil { found[link] = pair }
    }
    for source in move.sources {
      let pairs = StoredPair.all(of: migration.storedLinks.all[source.link], in: snapshot)
      for pair in pairs { insert(source.isReversed ? pair.reversed : pair) }
      if move.link.isSymmetric { for pair in pairs { insert(source.isReversed ? pair : pair.reversed) } }
    }
    var pairs = found.values.filter { Self.isPossible($0, move.link, migration.current, kept) }
    // What leads to nothing is no loss.
    func count() -> Int { pairs.count { kept[$0.partner] != nil } }
    let before = count()
    Self.reduce(&pairs, move)
    lost = before - count()
    if move.link.isFirstOrdered && !move.keepsFirstPlaces(migration.storedLinks) {
      Self.number(&pairs, of: \.owner, by: \.place, then: \.partner)
    }
    if move.link.isSecondOrdered && !move.keepsSecondPlaces(migration.storedLinks) {
      Self.number(&pairs, of: \.partner, by: \.inverse, then: \.owner)
    }
    all = pairs
    byOwner = Dictionary(grouping: pairs, by: \.owner)
  }

  private static func isPossible(
    _ pair: StoredPair, _ link: LinkList.Link, _ model: Model, _ kept: [Int64: Int]
  ) -> Bool {
    guard let owner = kept[pair.owner], model.isEntity(owner, within: link.first.entity) else { return false }
    // A reference under the rule `noAction` may lead to nothing.
    guard let partner = kept[pair.partner] else { return link.first.isLeftAlone }
    return model.isEntity(partner, within: link.first.destination)
  }

  private static func reduce(_ pairs: inout [StoredPair], _ move: LinkMove) {
    if move.link.isSymmetric {
      guard !move.link.first.isToMany else { return }
      pairs.sort { isBefore($0, $1, \.owner, \.place, \.partner) }
      var matching = PartnerMatching()
      pairs = pairs.filter { matching.matches($0.owner, $0.partner) }
      return
    }
    if move.mayReduceFirst { keepFirst(&pairs, of: \.owner, by: \.place, then: \.partner) }
    if move.mayReduceSecond { keepFirst(&pairs, of: \.partner, by: \.inverse, then: \.owner) }
  }

  private static func keepFirst(
    _ pairs: inout [StoredPair], of end: KeyPath<StoredPair, Int64>, by place: KeyPath<StoredPair, Int64?>,
    then key: KeyPath<StoredPair, Int64>
  ) {
    pairs.sort { isBefore($0, $1, end, place, key) }
    var last: Int64?
    pairs = pairs.filter { pair in
      defer { last = pair[keyPath: end] }
      return last != pair[keyPath: end]
    }
  }

  private static func number(
    _ pairs: inout [StoredPair], of end: KeyPath<StoredPair, Int64>, by place: WritableKeyPath<StoredPair, Int64?>,
    then key: KeyPath<StoredPair, Int64>
  ) {
    pairs.sort { isBefore($0, $1, end, place, key) }
    var last: Int64?
    var rank: Int64 = 0
    for index in pairs.indices {
      let owner = pairs[index][keyPath: end]
      rank = last == owner ? rank + 1 : 1
      last = owner
      pairs[index][keyPath: place] = rank * PairPlaces.gap
    }
  }

  /// Orders pairs by an end, then by place, then by the other end. A pair without a place comes first, as null does in
  /// every sort.
  private static func isBefore(
    _ a: StoredPair, _ b: StoredPair, _ end: KeyPath<StoredPair, Int64>, _ place: KeyPath<StoredPair, Int64?>,
    _ key: KeyPath<StoredPair, Int64>
  ) -> Bool {
    (a[keyPath: end], a[keyPath: place] ?? .min, a[keyPath: key])
      < (b[keyPath: end], b[keyPath: place] ?? .min, b[keyPath: key])
  }
}

// MARK: - Duplicate rows

/// The rows that a migration would give the same unique values.
private struct DuplicateRows {
  private let layout: Layout
  private var found: [Int: [(MemoryRow, Int64)]] = [:]
  private static let shown = 5

  init(_ layout: Layout) { self.layout = layout }

  /// The error for the rows of a state that have the same values of a unique key; nil if there are none.
  static func refusal(of state: MemoryState, _ layout: Layout, _ store: String) -> StoreError? {
    var duplicates = DuplicateRows(layout)
    // Each row is compared with those before it.
    var seen = MemoryState(layout)
    for table in state.tables {
      table.forEach { _, row in
        duplicates.note(row, seen)
        seen.replace(nil, by: row, layout)
        return true
      }
    }
    return duplicates.refusal(of: store)
  }

  mutating func note(_ row: MemoryRow, _ state: MemoryState) {
    for index in layout.valueIndexesOf[row.entity] {
      guard let hash = index.hash(row) else { continue }
      let root = layout.model.entities[row.entity].root
      let others = state.values[index.index].targets(hash)
      if let other = others.first(where: { state.row(root, $0.key).map { index.areSame($0, row) } ?? false }) {
        found[index.index, default: []].append((row, other.key))
      }
    }
  }

  func refusal(of store: String) -> StoreError? {
    guard let number = found.keys.min(), let pairs = found[number] else { return nil }
    let index = layout.valueIndexes[number]
    let entity = layout.model.entities[index.entity]
    let names = index.columns.map { entity.properties[entity.columns[$0].property].name }
    return DuplicateRefusal.error(
      store, entity.name, names, count: pairs.count,
      examples: pairs.prefix(Self.shown).map { "\(entity.name)/\($0.1) and \(entity.name)/\($0.0.key)" })
  }
}

// MARK: - Memory migration counts

/// The counts of a state in memory for the plan of its migration.
struct MemoryMigrationCounts: LossCounts {
  let migration: Migration
  let snapshot: Snapshot
  let lostPairs: [Int: Int]
  let duplicates: [NewKey: NewKey.Duplicates]
  /// The number of rows that break each new bound; nil if they are not counted.
  let breaches: [Int]?
  /// Counts the rows for which a column has no value.
  let blanks: (_ column: Int, _ move: RowMove) throws -> Int

  func blanks(column: Int, of move: RowMove) throws -> Int { try blanks(column, move) }

  func breaches(of bound: Int) -> Int? { breaches?[bound] }

  func duplicates(of key: NewKey) -> NewKey.Duplicates { duplicates[key] ?? NewKey.Duplicates() }

  func rows(of entity: Int) -> Int { count(entity) { _ in true } }

  func missing(column: Int, in entity: Int) -> Int { count(entity) { $0.value(column).isNull } }

  func misfits(_ source: StoredColumn, in entity: Int) throws -> Misfits {
    var misfits = Misfits()
    guard let number = source.conversion else { return misfits }
    let conversion = migration.conversions[number]
    _ = try count(entity) { row in
      var value = row.value(source.column)
      if value.isNull { return false }
      if source.isInlined, case .file(let file) = value { value = .blob(try MigrationValues.bytes(of: file)) }
      if conversion.convert(value) != nil { return false }
      if conversion.isOfEnums { misfits.add(1, of: value) } else { misfits.add(row: row.key) }
      return true
    }
    return misfits
  }

  func present(column: Int, in entity: Int) -> Int { count(entity) { !$0.value(column).isNull } }

  func lostPairs(of link: Int) -> Int { lostPairs[link] ?? 0 }

  private func count(_ entity: Int, _ isCounted: (MemoryRow) throws -> Bool) rethrows -> Int {
    var count = 0
    try snapshot.state.tables[migration.stored.entities[entity].root].forEach { _, row in
      if row.entity == entity, try isCounted(row) { count += 1 }
      return true
    }
    return count
  }

  func pairs(_ number: Int, of entity: Int, with partners: [Int]) -> Int {
    guard let relationship = migration.stored.entities[entity].properties[number].relationship,
      let (link, isSecond) = migration.storedLinks.link(of: relationship)
    else { return 0 }
    guard let other = partners.first else { return 0 }
    let root = migration.stored.entities[entity].root
    let otherRoot = migration.stored.entities[other].root
    return StoredPair.all(of: migration.storedLinks.all[link], in: snapshot).count { pair in
      let (own, other) = isSecond ? (pair.partner, pair.owner) : (pair.owner, pair.partner)
      guard snapshot.state.row(root, own)?.entity == entity, let found = snapshot.state.row(otherRoot, other) else {
        return false
      }
      return partners.contains(found.entity)
    }
  }
}
