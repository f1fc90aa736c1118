import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

/// One migration of a random store, in both ways, against what was meant.
struct Episode {
  let seed: UInt64
  let pair: RandomModelPair
  let graph: PlainGraph
  let expectation: Expectation

  /// Nil if the seed makes no valid models.
  init?(seed: UInt64, dropsAnswers: Bool) {
    guard var pair = RandomModelPair(seed: seed) else { return nil }
    if dropsAnswers { pair.dropAnswers() }
    guard RandomModelPair.isValid(pair.current) else { return nil }
    self.init(seed: seed, pair)
  }

  init(seed: UInt64, _ pair: RandomModelPair) {
    self.seed = seed
    self.pair = pair
    var random = pair.random
    graph = PlainGraph(pair.stored, unique: pair.uniqueProperties, targets: pair.targets, &random)
    expectation = Expectation(graph, pair.current)
  }

  var isRefused: Bool { !expectation.unconsented.isEmpty || !expectation.unanswered.isEmpty }

  /// What is otherwise than meant.
  func run() throws -> [String] {
    let current = try Model(pair.current.description)
    let store = try MigratedStore(graph)
    let before = store.bytes
    let memory = store.inMemory(current)
    let memoryPlan = try memory.plan(allowsLoss: false)
    var faults: [String] = []
    if let filePlan = try store.plan(current) {
      faults += Self.differences(filePlan.steps, memoryPlan.steps)
    } else if !memory.migration.isIdentity {
      faults.append("the file has no plan")
    }
    if store.bytes != before { faults.append("a plan changed the file") }
    do {
      let file = try store.open(current)
      if isRefused {
        return faults + ["silent: " + (expectation.unconsented + expectation.unanswered).joined(separator: "; ")]
      }
      faults += try compare(file, store, memory, current)
    } catch let error as StoreError {
      if store.bytes != before { faults.append("the refused migration changed the file") }
      faults += refusalFaults(error, memoryPlan)
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
    faults += try store.faults(file, current, isMigrated: !memory.migration.isIdentity)
    let again = try store.contents(try store.open(current), current)
    if again != contents { faults.append("opening again changed the contents") }
    return faults
  }

  private func refusalFaults(_ error: StoreError, _ plan: MigrationPlan) -> [String] {
    guard isRefused else { return ["refused in vain: \(error)"] }
    // The first question of an attribute is the only one, until it is answered.
    let expected: [StoreError.Code] =
      expectation.unconsented.isEmpty
      ? [.unanswered] : expectation.unanswered.isEmpty ? [.dataLoss] : [.dataLoss, .unanswered]
    var faults: [String] = []
    if !expected.contains(error.code) {
      faults.append("refused with \(error.code.rawValue), not \(expected.map(\.rawValue)): \(error)")
    }
    if plan.refusal(of: "memory")?.code != error.code { faults.append("memory refuses otherwise") }
    return faults
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
