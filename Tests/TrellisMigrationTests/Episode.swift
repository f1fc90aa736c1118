import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

/// One migration of a random store, in both ways, against what was meant.
struct Episode {
  let seed: UInt64
  let kind: MigratedKind
  let pair: RandomModelPair
  let graph: PlainGraph
  let expectation: Expectation

  /// Nil if the seed makes no valid models.
  init?(seed: UInt64, dropsAnswers: Bool, _ kind: MigratedKind) {
    guard var pair = RandomModelPair(seed: seed) else { return nil }
    if dropsAnswers { pair.dropAnswers() }
    guard RandomModelPair.isValid(pair.current) else { return nil }
    self.init(seed: seed, pair, kind)
  }

  init(seed: UInt64, _ pair: RandomModelPair, _ kind: MigratedKind) {
    self.seed = seed
    self.kind = kind
    self.pair = pair
    var random = pair.random
    graph = PlainGraph(pair.stored, unique: pair.uniqueProperties, targets: pair.targets, &random)
    expectation = Expectation(graph, pair.current)
  }

  var isRefused: Bool { !refusals.isEmpty }

  /// The codes that a refusal may have; empty if there is none.
  private var refusals: [StoreError.Code] {
    let loses = !expectation.unconsented.isEmpty || !expectation.unfilled.isEmpty
    // The first question of an attribute is the only one, until it is answered.
    if !expectation.unanswered.isEmpty { return loses ? [.dataLoss, .unanswered] : [.unanswered] }
    if loses { return [.dataLoss] }
    return expectation.duplicates.isEmpty ? [] : [.notUnique]
  }

  /// What is otherwise than meant.
  func run() throws -> [String] {
    let current = try Model(pair.current.description)
    let store = try kind.store(graph)
    let before = try store.image()
    let memory = store.inMemory(current)
    let memoryPlan = try memory.plan(allowsLoss: false, countsBreaches: true)
    var faults: [String] = []
    if let filePlan = try store.plan(current) {
      faults += Self.differences(filePlan.steps, memoryPlan.steps)
    } else if !memory.migration.isIdentity {
      faults.append("the file has no plan")
    }
    if try store.image() != before { faults.append("a plan changed the file") }
    do {
      let file = try store.open(current)
      if isRefused {
        let all = expectation.unconsented + expectation.unanswered + expectation.unfilled + expectation.duplicates
        return faults + ["silent: " + all.joined(separator: "; ")]
      }
      faults += BoundExpectation(graph, pair.current, try store.contents(file, current)).faults(of: memoryPlan)
      faults += try compare(file, store, memory, current)
    } catch let error as StoreError {
      if try store.image() != before { faults.append("the refused migration changed the file") }
      // A number may become a date that a server has no form for.
      if kind == .schema, error.code == .unstorableValue { return faults }
      faults += refusalFaults(error, memory)
      faults += try allowedFaults(store, memory, current)
    }
    return faults
  }

  private func compare(
    _ file: any Store, _ store: MigratedStore, _ memory: StateMigration, _ current: Model
  ) throws -> [String] {
    let contents = try store.contents(file, current)
    let state = try memory.migrated(Layout(current), of: "memory")
    let inMemory = StoreContents(state, current)
    var faults = expectation.differences(contents).map { "file: \($0)" }
    faults += expectation.differences(inMemory).map { "memory: \($0)" }
    faults += contents.differences(inMemory, expectation)
    let isMigrated = !memory.migration.isIdentity
    faults += try store.faults(file, current, isMigrated: isMigrated)
    faults += try backupFaults(store)
    let again = try store.contents(try store.open(current), current)
    if again != contents { faults.append("opening again changed the contents") }
    faults += try emptyingFaults(file, store, contents, current, isMigrated: isMigrated)
    return faults
  }

  /// The migrated store is one that can be written: every row goes, and all that belongs to it.
  private func emptyingFaults(
    _ file: any Store, _ store: MigratedStore, _ contents: StoreContents, _ current: Model, isMigrated: Bool
  ) throws -> [String] {
    let request = SaveRequest()
    for (name, rows) in Dictionary(grouping: contents.rows, by: \.value.entity).sorted(by: { $0.key < $1.key }) {
      guard let entity = current.entity(named: name) else { continue }
      let keys = rows.map(\.key).sorted()
      request.deletes.append(.init(entity: entity.index, keys: keys, versions: keys.map { _ in 1 }))
    }
    _ = try file.connect().save(request)
    let left = try store.contents(file, current)
    var faults = left == StoreContents(current) ? [] : ["rows or pairs are left after all were deleted"]
    // A save of nothing leaves the declared indexes as they are.
    faults += try store.faults(file, current, isMigrated: isMigrated || !request.isEmpty)
    return faults
  }

  /// Before anything is lost, the file is copied as it was.
  private func backupFaults(_ store: MigratedStore) throws -> [String] {
    guard store.keepsCopies else { return [] }
    guard let backup = store.backup else { return expectation.losesAnything ? ["there is no copy"] : [] }
    if !expectation.losesAnything { return ["there is a copy, although nothing is lost"] }
    let contents = try backup.contents(try backup.open(store.stored), store.stored)
    return Expectation(graph, pair.stored.asItself).differences(contents).map { "copy: \($0)" }
  }

  private func refusalFaults(_ error: StoreError, _ memory: StateMigration) -> [String] {
    if refusals.isEmpty { return ["refused in vain: \(error)"] }
    var faults: [String] = []
    if !refusals.contains(error.code) {
      faults.append("refused with \(error.code.rawValue), not \(refusals.map(\.rawValue)): \(error)")
    }
    var code: StoreError.Code?
    do {
      code = try memory.plan(allowsLoss: false).refusal(of: "memory")?.code
      if code == nil { _ = try memory.migrated(Layout(memory.migration.current), of: "memory") }
    } catch {
      code = (error as? StoreError)?.code
    }
    if code != error.code { faults.append("memory refuses with \(code?.rawValue ?? "nothing"), not as \(error)") }
    return faults
  }

  /// Losses may be allowed as well by whoever opens the store.
  private func allowedFaults(_ store: MigratedStore, _ memory: StateMigration, _ current: Model) throws -> [String] {
    guard !expectation.unconsented.isEmpty, expectation.unanswered.isEmpty, expectation.unfilled.isEmpty,
      expectation.duplicates.isEmpty
    else { return [] }
    do {
      return try compare(store.open(current, migration: .allowingDataLoss), store, memory, current)
    } catch let error as StoreError {
      return ["refused although allowed: \(error)"]
    }
  }

  private static func differences(_ file: [MigrationPlan.Step], _ memory: [MigrationPlan.Step]) -> [String] {
    if file == memory { return [] }
    return zip(file, memory).filter { $0 != $1 }.map { "plans differ: file \($0), memory \($1)" }
      + (file.count == memory.count ? [] : ["plans have \(file.count) and \(memory.count) steps"])
  }

  /// Both models and the changes, for a failure.
  var told: String {
    "edits \(pair.edits.joined(separator: ", "))\n\(pair.stored.description.canonicalJSON())→ "
      + pair.current.description.canonicalJSON()
  }
}

extension StoreContents {
  /// Whatever the file has otherwise than memory, apart from values that are new each time.
  fileprivate func differences(_ memory: StoreContents, _ expectation: Expectation) -> [String] {
    var found: [String] = []
    for key in Set(rows.keys).union(memory.rows.keys).sorted() {
      let (mine, other) = (rows[key], memory.rows[key])
      if mine?.entity != other?.entity || mine?.version != other?.version {
        found.append("row \(key) differs from memory")
      }
      for (name, value) in mine?.values ?? [:] where value != other?.values[name] {
        if case .exactly? = expectation.rows[key]?.values[name] {
          found.append("row \(key).\(name) is \(value) in the file, and \(other?.values[name] ?? .null) in memory")
        }
      }
    }
    for name in Set(links.keys).union(memory.links.keys).sorted() where links[name] != memory.links[name] {
      found.append(
        "link \(name) is \((links[name] ?? []).sorted(by: PlainPair.byOwner)) in the file, and "
          + "\((memory.links[name] ?? []).sorted(by: PlainPair.byOwner)) in memory")
    }
    return found
  }
}
