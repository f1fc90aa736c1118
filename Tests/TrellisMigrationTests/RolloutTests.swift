import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

/// Programs with a random model and with one that only adds to it work on one store of a server.
///
/// `TRELLIS_ROLLOUTS` is the number of pairs of models, `TRELLIS_ROLLOUTS_SEED` the first seed.
@Suite("Rollouts by chance", .enabled(if: TestServer.isThere, "needs a server")) struct RandomRolloutTests {
  private static let rollouts: Int = TestSettings.number("TRELLIS_ROLLOUTS", or: 20)
  private static let first: UInt64 = TestSettings.number("TRELLIS_ROLLOUTS_SEED", or: 1)

  @Test("a program with the former model sees its part of all that others do, and changes nothing else")
  func expansions() throws { try run { try $0.expand() } }

  @Test("a program with a model that only removes works beside former ones, and goes on when they have ended")
  func contractions() throws { try run { try $0.contract() } }

  private func run(_ body: (Rollout) throws -> [String]?) throws {
    var (additive, refusedDeletes, failed) = (0, 0, 0)
    for seed in Self.first..<(Self.first + UInt64(Self.rollouts)) {
      guard let rollout = Rollout(seed: seed) else { continue }
      var faults: [String]
      do {
        guard let found = try body(rollout) else { continue }
        faults = found
      } catch { faults = ["\(error)"] }
      additive += 1
      if rollout.hasRefusedDeletes { refusedDeletes += 1 }
      if faults.isEmpty { continue }
      failed += 1
      if failed > 10 { continue }
      let told = failed == 1 ? "\n" + rollout.told : ""
      Issue.record("seed \(seed) [\(rollout.pair.edits)]:\n  \(faults.prefix(6).joined(separator: "\n  "))\(told)")
    }
    print("\(additive) rollouts of \(Self.rollouts), \(refusedDeletes) with refused deletes, \(failed) failures")
    #expect(failed == 0)
    #expect(additive * 8 > Self.rollouts)
  }
}

/// A store that programs with a former model and with a current one use at the same time.
private final class Rollout {
  let pair: RandomModelPair
  private let graph: PlainGraph
  private let stored: Model
  private let current: Model
  private var random: SeededGenerator
  private(set) var hasRefusedDeletes = false

  private static let shares: [(edit: ModelEdits.Edit, share: Int)] = [
    (.addAttribute, 6), (.addLink, 4), (.addEntity, 4), (.addIndex, 1), (.removeIndex, 1), (.changeRules, 1),
    (.changeFlags, 1), (.addCase, 1), (.reorder, 2), (.reorderCases, 1), (.changeValueRules, 1), (.addKey, 1),
    (.addInverse, 1), (.becomeOptional, 1), (.renameProperty, 1), (.insertParent, 1), (.changeAbstract, 1),
  ]

  /// Nil if the models are not valid, or if the current one does more than to add.
  init?(seed: UInt64) {
    var maker = RandomModel(seed: seed)
    maker.make()
    guard RandomModelPair.isValid(maker.model) else { return nil }
    var edits = ModelEdits(maker.model, maker)
    edits.edit(1 + maker.random.below(4), among: Self.shares)
    guard let pair = RandomModelPair(edits), let stored = try? Model(pair.stored.description),
      let current = try? Model(pair.current.description), pair.stored.description != pair.current.description
    else { return nil }
    let migration = Migration(from: stored, to: current)
    guard !migration.isIdentity, Expansion(migration).isAdditive else { return nil }
    self.pair = pair
    self.stored = stored
    self.current = current
    random = pair.random
    graph = PlainGraph(pair.stored, unique: pair.uniqueProperties, targets: pair.targets, &random)
  }

  var told: String { "\(stored.description.canonicalJSON())→ \(current.description.canonicalJSON())" }

  private func graph(_ model: PlainModel, from first: Int64) -> PlainGraph {
    let unique = Set(model.entities.flatMap(\.uniqueKeys).flatMap(\.self)).union(pair.uniqueProperties)
    return PlainGraph(model, unique: unique, targets: pair.targets, from: first, &random)
  }

  // MARK: Programs beside each other

  /// A store that is opened with a model. Nil if the migration has questions.
  private func opened(_ store: MigratedSchema, _ model: Model) throws -> (any Store)? {
    do { return try store.open(model) } catch let error as StoreError
      where [.dataLoss, .unanswered, .notUnique].contains(error.code)
    { return nil }
  }

  /// What the program with the smaller model sees otherwise than the one with the larger model, and what the checks find.
  private func faults(
    _ moment: String, _ store: MigratedSchema, all: (store: any Store, model: Model),
    part: (store: any Store, model: Model)
  ) throws -> [String] {
    let (whole, mine) = (try store.contents(all.store, all.model), try store.contents(part.store, part.model))
    var faults = whole.part(of: part.model).differences(mine).map { "\(moment): \($0)" }
    for (checked, name) in [(all.store, "larger model"), (part.store, "smaller model")] {
      // The graphs have keys that were not reserved.
      try checked.connect().check { if $0.code != .unreservedKey { faults.append("\(moment), \(name): \($0)") } }
    }
    return faults
  }

  // MARK: Contraction

  /// The former model, which consents to the loss of all that the other one adds.
  private func contracted() throws -> Model {
    var description = stored.description
    description.version = "contracted"
    for place in description.entities.indices {
      let entity = stored.entities[place]
      guard let other = current.entity(named: entity.name) else { continue }
      let gone = other.properties.map(\.name).filter { entity.property(named: $0) == nil }
      description.entities[place].removed = Set(
        gone.flatMap { [$0, $0.split(separator: ".").first.map(String.init) ?? $0] }
      )
      .subtracting(entity.properties.map(\.name)).sorted()
    }
    description.removed = current.entities.map(\.name).filter { stored.entity(named: $0) == nil }
    return try Model(description)
  }

  /// What is otherwise than meant. Nil if the migration has questions.
  func contract() throws -> [String]? {
    let less = try contracted()
    let store = try MigratedSchema(graph(pair.current, from: 1), mayWriteAllTables: false)
    let former = try store.open(current)
    let before = try store.contents(former, current)
    guard let waiting = try opened(store, less) else {
      former.close()
      return nil
    }
    defer { waiting.close() }
    var faults = try store.contents(former, current).differences(before).map { "waiting: \($0)" }
    func compare(_ moment: String) throws {
      faults += try self.faults(moment, store, all: (former, current), part: (waiting, less))
    }
    try compare("waiting")
    _ = try waiting.connect().save(graph(pair.stored, from: 2_000).request(less))
    try compare("inserted by the waiting one")
    _ = try former.connect().save(graph(pair.current, from: 4_000).request(current))
    try compare("inserted by the former")
    for _ in 0..<4 {
      faults += try faultsOfUpdate(by: waiting, less, store, former)
      faults += try faultsOfUpdate(by: former, current, store, former)
    }
    try compare("updated")
    let last = try store.contents(waiting, less)
    former.close()
    guard let migrated = try opened(store, less) else { return nil }
    defer { migrated.close() }
    faults += try store.contents(migrated, less).differences(last).map { "contracted: \($0)" }
    faults += try store.contents(waiting, less).differences(last).map { "contracted, seen by the waiting one: \($0)" }
    try waiting.connect().check { if $0.code != .unreservedKey { faults.append("contracted: \($0)") } }
    _ = try waiting.connect().save(graph(pair.stored, from: 6_000).request(less))
    faults += try store.contents(migrated, less).differences(store.contents(waiting, less)).map { "at the end: \($0)" }
    if let plan = try store.plan(less) { faults.append("the store would be migrated again: \(plan)") }
    return faults
  }

  // MARK: Expansion

  /// What is otherwise than meant. Nil if the rows do not allow the migration.
  func expand() throws -> [String]? {
    let store = try MigratedSchema(graph, mayWriteAllTables: false)
    var former = try store.open(stored)
    defer { former.close() }
    let before = try store.contents(former, stored)
    guard let new = try opened(store, current) else { return nil }
    defer { new.close() }
    var faults: [String] = []
    func compare(_ moment: String) throws {
      faults += try self.faults(moment, store, all: (new, current), part: (former, stored))
    }
    faults += try store.contents(former, stored).differences(before).map { "expanded: \($0)" }
    try compare("expanded")
    _ = try former.connect().save(graph(pair.stored, from: 2_000).request(stored))
    try compare("inserted by the former")
    faults += try faultsOfDefaults(before, try store.contents(new, current))
    if Bool.random(using: &random) {
      former.close()
      former = try store.open(stored, migration: .refused)
      try compare("started again")
    }
    _ = try new.connect().save(graph(pair.current, from: 4_000).request(current))
    try compare("inserted by the new one")
    for _ in 0..<4 {
      faults += try faultsOfUpdate(by: former, stored, store, new)
      faults += try faultsOfUpdate(by: new, current, store, new)
    }
    try compare("updated")
    faults += try faultsOfDeletes(former, store, new)
    try compare("deleted")
    return faults
  }

  // MARK: Changes

  /// Rows that the former program inserts have what a migration would have given to them.
  private func faultsOfDefaults(_ before: StoreContents, _ all: StoreContents) throws -> [String] {
    var faults: [String] = []
    for (key, row) in all.rows where key >= 2_000 {
      guard let entity = current.entity(named: row.entity), let former = stored.entity(named: row.entity) else {
        continue
      }
      let migrated = before.rows.first { $0.value.entity == row.entity }.flatMap { all.rows[$0.key] }
      for case .attribute(let attribute) in entity.properties where attribute.column != nil {
        guard former.property(named: attribute.name) == nil, let value = row.values[attribute.name] else { continue }
        if value.isNull && !attribute.isOptional { faults.append("\(row.entity).\(attribute.name) has no value") }
        guard let other = migrated?.values[attribute.name], attribute.type != .date else { continue }
        if value != other {
          faults.append("\(row.entity).\(attribute.name) is \(value), and \(other) in migrated rows")
        }
      }
    }
    return faults
  }

  /// A change of one value changes this one and the version.
  private func faultsOfUpdate(
    by writer: any Store, _ model: Model, _ store: MigratedSchema, _ new: any Store
  ) throws -> [String] {
    let all = try store.contents(new, current)
    let rows = all.rows.filter { model.entity(named: $0.value.entity) != nil }.sorted { $0.key < $1.key }
    guard !rows.isEmpty else { return [] }
    let (key, row) = rows[random.below(rows.count)]
    guard let entity = model.entity(named: row.entity) else { return [] }
    let unique = Set(entity.uniqueKeys.flatMap(\.properties))
    let attributes = entity.properties.compactMap(\.attribute).filter {
      $0.column != nil && !unique.contains($0.index) && !$0.description.isExternal
    }
    guard !attributes.isEmpty else { return [] }
    let attribute = attributes[random.below(attributes.count)]
    let value = PlainValues.value(attribute.type, model.description.enums, target: nil, &random)
    let request = SaveRequest()
    let values = entity.columns.map { $0.property == attribute.index ? value : .null }
    request.updates = [
      .init(
        entity: entity.index,
        records: [PlainRecord(entity, key: key, version: row.version, values)],
        masks: [ColumnMask(only: attribute.index)])
    ]
    _ = try writer.connect().save(request)
    var expected = all
    expected.change(key) { row in
      row.version += 1
      row.values[attribute.name] = value
    }
    return try store.contents(new, current).differences(expected).map {
      "\(row.entity).\(attribute.name) updated: \($0)"
    }
  }

  /// All rows that the former program knows go at once, unless a link that it does not know leads to one.
  private func faultsOfDeletes(_ former: any Store, _ store: MigratedSchema, _ new: any Store) throws -> [String] {
    let mine = try store.contents(former, stored)
    let request = SaveRequest()
    for (name, rows) in Dictionary(grouping: mine.rows, by: \.value.entity).sorted(by: { $0.key < $1.key }) {
      guard let entity = stored.entity(named: name) else { continue }
      let keys = rows.map(\.key).sorted()
      request.deletes.append(
        .init(entity: entity.index, keys: keys, versions: keys.map { mine.rows[$0]?.version ?? 0 }))
    }
    let before = try store.contents(new, current)
    do {
      _ = try former.connect().save(request)
    } catch let error as StoreError where error.code == .refusedByServer && error.message.contains("newer model") {
      hasRefusedDeletes = true
      var faults = try store.contents(new, current).differences(before).map { "refused deletes: \($0)" }
      if before.links.keys.allSatisfy({ mine.links[$0] != nil }) { faults.append("refused without a new link") }
      return faults
    }
    let left = try store.contents(new, current)
    return left.rows.filter { mine.rows[$0.key] != nil }.map { "row \($0.key) is left" }
  }
}

extension StoreContents {
  /// What a program with a model that has less knows of it.
  fileprivate func part(of model: Model) -> StoreContents {
    var part = StoreContents(model)
    part.copy(self, model)
    return part
  }

  fileprivate func differences(_ other: StoreContents) -> [String] {
    var found: [String] = []
    for key in Set(rows.keys).union(other.rows.keys).sorted() where rows[key] != other.rows[key] {
      found.append(
        "row \(key) is \(rows[key].map { "\($0)" } ?? "nothing"), not \(other.rows[key].map { "\($0)" } ?? "nothing")")
    }
    for name in Set(links.keys).union(other.links.keys).sorted() where links[name] != other.links[name] {
      found.append(
        "link \(name) is \((links[name] ?? []).sorted(by: PlainPair.byOwner)), not "
          + "\((other.links[name] ?? []).sorted(by: PlainPair.byOwner))")
    }
    return found
  }
}
