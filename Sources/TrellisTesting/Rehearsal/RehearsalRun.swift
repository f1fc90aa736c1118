import Foundation
import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisStorage

/// Rehearses one store after the other, and collects what is found.
struct RehearsalRun {
  private let rehearsal: MigrationRehearsal
  private let folder: URL
  private let clock = ContinuousClock()
  private var runs: [RehearsalReport.Run] = []
  private var omissions: [RehearsalReport.Omission] = []
  private var findings = FindingCollection()
  private var announced = FindingCollection()
  private var current: RehearsalReport.Run
  private var count = 0

  /// The greatest number of findings of the checks of one store.
  private static let mostBreaches = 1_000

  init(_ rehearsal: MigrationRehearsal, _ folder: URL) {
    self.rehearsal = rehearsal
    self.folder = folder
    current = RehearsalReport.Run(version: nil, store: "", isRandom: false)
  }

  /// What was found so far.
  var report: RehearsalReport {
    var report = RehearsalReport()
    // Stores of no version come last, as the newest ones.
    report.runs = runs.enumerated().sorted {
      ($0.element.version ?? .max, $0.offset) < ($1.element.version ?? .max, $1.offset)
    }.map(\.element)
    report.findings = findings.all
    report.announced = announced.all
    report.omissions = omissions
    return report
  }

  mutating func omit(_ version: Int?, _ subject: String, _ reason: String) {
    omissions.append(RehearsalReport.Omission(version, subject, reason))
  }

  private mutating func find(_ finding: RehearsalFinding, count: Int = 0, _ examples: [String] = []) {
    current.outcome = .findings
    findings.add(finding, count: count, examples: examples, version: current.version, store: current.store)
  }

  private mutating func announce(_ finding: RehearsalFinding, count: Int = 0, _ examples: [String] = []) {
    if current.outcome == .fine { current.outcome = .announced }
    announced.add(finding, count: count, examples: examples, version: current.version, store: current.store)
  }

  // MARK: Stores

  /// - Throws: the errors of the file system.
  mutating func run(_ source: MigrationRehearsal.Source) throws {
    count += 1
    let place = folder.appending(path: "\(count)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    current = RehearsalReport.Run(
      version: source.version?.number, store: source.name, isRandom: source.kept == nil)
    let original: RehearsedStore
    let model: Model
    let before: StoreImage
    var known: Set<StoreFinding> = []
    do {
      if let kept = source.kept {
        (original, model) = (try kept.store.copy(to: place.appending(path: "original")), kept.model)
      } else if let version = source.version {
        (original, model) = (try seeded(version, source.seed, place), version.model)
      } else {
        return
      }
      before = try original.image(model)
      known = Set(try breaches(of: original, model))
    } catch {
      return omit(source.version?.number, source.name, "It cannot be read with its own model: \(error)")
    }
    current.objects = before.objects.count
    let steps = rehearsal.steps(for: model)
    let jumped = try jump(original, before, known, hasSteps: !steps.isEmpty, place)
    if let version = source.version {
      try walk(original, before, known, rehearsal.way(from: version, steps), jumped, hasSteps: !steps.isEmpty, place)
    }
    runs.append(current)
  }

  private mutating func seeded(
    _ version: MigrationRehearsal.Version, _ seed: UInt64, _ place: URL
  ) throws -> RehearsedStore {
    let store = RehearsedStore(place.appending(path: "original.sqlite"), .sqlite)
    let container = try PersistentContainer(
      model: ObjectModel(dynamic: version.model.description, checksum: version.model.checksum),
      store: store.configuration(), log: nil)
    defer { container.close() }
    let report = try container.newContext().seed(rehearsal.objects, seed: seed)
    for note in report.notes {
      let omission = RehearsalReport.Omission(version.number, "random objects", note)
      if !omissions.contains(omission) { omissions.append(omission) }
    }
    return store
  }

  /// What breaks rules of a model in a store.
  private func breaches(of store: RehearsedStore, _ model: Model) throws -> [StoreFinding] {
    let container = try PersistentContainer(
      model: ObjectModel(dynamic: model.description, checksum: model.checksum),
      store: store.configuration(readOnly: true), log: nil)
    defer { container.close() }
    return try container.check(limit: Self.mostBreaches)
  }

  // MARK: The jump

  /// Opens a copy with the newest model at once.
  ///
  /// - Returns: what the store has then; nil if it was refused.
  private mutating func jump(
    _ original: RehearsedStore, _ before: StoreImage, _ known: Set<StoreFinding>, hasSteps: Bool, _ place: URL
  ) throws -> StoreImage? {
    let store = try original.copy(to: place.appending(path: "jump"))
    let program = rehearsal.newestProgram
    let plan: MigrationPlan?
    do {
      plan = try rehearsal.plan(of: store)
      if asks(plan, of: before.model) { return nil }
      let start = clock.now
      try rehearsal.migrate(store, program)
      current.jumpTime = clock.now - start
    } catch {
      refuse(store, error)
      return nil
    }
    try rehearsal.didMigrate(
      RehearsedMigration(from: current.version, to: nil, isStepwise: false, url: store.url))
    guard let after = image(of: store, program.model) else { return nil }
    current.objectsAfter = after.objects.count
    let expected = ImageComparison.Expectation(
      match: ModelMatch(from: before.model, to: program.model), program: nil, hasSteps: hasSteps,
      changedBySteps: rehearsal.changedBySteps)
    let differences = ImageComparison(before, after, expected).differences
    tell(differences)
    let consented = differences.filter { $0.isAnnounced && $0.finding.code != .valueChanged }
    if let first = consented.first, plan?.loses != true, !hasSteps {
      find(
        RehearsalFinding(
          .notAnnounced, first.finding.subject, "\(first.finding.message), and the plan does not say so",
          "Report it: a plan tells all that a migration loses."), count: first.count, first.examples)
    }
    check(store, program.model, known, plan)
    return after
  }

  /// Notes the questions of a plan.
  ///
  /// - Returns: whether there are any.
  private mutating func asks(_ plan: MigrationPlan?, of model: Model) -> Bool {
    guard let questions = plan?.questions, !questions.isEmpty else { return false }
    // A plan of the models has no numbers of this store, so that the stores of many seeds have the same question.
    let common = try? MigrationPlan(Migration(from: model, to: rehearsal.newestProgram.model))
    for step in questions {
      let told = common?.questions.first { $0.subject == step.subject } ?? step
      find(RehearsalFinding(.refused, told.subject, told.text, told.toDo))
    }
    return true
  }

  private mutating func refuse(_ store: RehearsedStore, _ error: any Error) {
    find(
      RehearsalFinding(
        .refused, "", "\(error)".replacing(store.url.path, with: "the store"),
        "Users of this version could not open their store. Answer it in the model, or by a step."))
  }

  private mutating func image(of store: RehearsedStore, _ model: Model) -> StoreImage? {
    do { return try store.image(model) } catch {
      refuse(store, error)
      return nil
    }
  }

  private mutating func tell(_ differences: [ImageComparison.Difference]) {
    for difference in differences {
      if difference.isAnnounced {
        announce(difference.finding, count: difference.count, difference.examples)
      } else {
        find(difference.finding, count: difference.count, difference.examples)
      }
    }
  }

  /// Looks for broken rules that the former store has not broken.
  private mutating func check(
    _ store: RehearsedStore, _ model: Model, _ known: Set<StoreFinding>, _ plan: MigrationPlan?
  ) {
    let found: [StoreFinding]
    do { found = try breaches(of: store, model) } catch { return refuse(store, error) }
    let warned = Set(
      (plan?.steps ?? []).filter { if case .warns = $0.risk { true } else { false } }.map(\.subject))
    var groups: [RehearsalFinding: (count: Int, examples: [String], isWarned: Bool)] = [:]
    for breach in found where !isKnown(breach, known) {
      let subjects = breach.properties.map { property in breach.entity.map { "\($0).\(property)" } ?? property }
      let subject = subjects.first ?? breach.entity ?? ""
      let isTold = subjects.contains { isWarned($0, warned, model) }
      let finding = RehearsalFinding(
        .ruleBroken, subject, breach.message.asEndOfSentence,
        isTold ? "" : "Correct the values by a \"backfill\" or a step, or soften the rule. \(breach.repair)")
      let name = breach.key.map { "\(breach.entity ?? "object")/\($0)" }
      groups[finding, default: (0, [], isTold)].count += 1
      if let name { groups[finding]?.examples.append(name) }
    }
    for (finding, group) in groups.sorted(by: { ($0.key.subject, $0.key.message) < ($1.key.subject, $1.key.message) }) {
      if group.isWarned {
        announce(finding, count: group.count, group.examples)
      } else {
        find(finding, count: group.count, group.examples)
      }
    }
  }

  /// A rule may be told at the entity that declares the property.
  private func isWarned(_ subject: String, _ warned: Set<String>, _ model: Model) -> Bool {
    if warned.contains(subject) { return true }
    let parts = subject.split(separator: ".", maxSplits: 1)
    guard parts.count == 2, let entity = model.entity(named: String(parts[0])) else { return false }
    return model.lineage(of: entity.index).contains { warned.contains("\(model.name(ofEntity: $0)).\(parts[1])") }
  }

  private func isKnown(_ breach: StoreFinding, _ known: Set<StoreFinding>) -> Bool {
    known.contains { $0.code == breach.code && $0.key == breach.key && (breach.key != nil || $0 == breach) }
  }

  // MARK: The way with every version

  private mutating func walk(
    _ original: RehearsedStore, _ before: StoreImage, _ known: Set<StoreFinding>, _ way: [MigrationRehearsal.Program],
    _ jumped: StoreImage?, hasSteps: Bool, _ place: URL
  ) throws {
    if way.count < 2 { return }
    let store = try original.copy(to: place.appending(path: "way"))
    var path = RehearsedPath(start: before)
    for program in way {
      let number = program.version?.number
      let former = path.stops.last?.image ?? before
      let start = clock.now
      do {
        if number == nil, asks(try rehearsal.plan(of: store), of: former.model) { return }
        try rehearsal.migrate(store, program)
      } catch {
        guard let number else { return refuse(store, error) }
        let reason = "\(error)".split(separator: "\n").prefix(2).joined(separator: " ")
        return omit(
          current.version, "\(current.store), with every version in turn",
          "Version \(number) refuses the store; its program may have had steps in Swift. "
            + reason.replacing(store.url.path, with: "the store"))
      }
      current.stepsTime += clock.now - start
      try rehearsal.didMigrate(
        RehearsedMigration(from: current.version, to: number, isStepwise: true, url: store.url))
      guard let after = image(of: store, program.model) else { return }
      let match = ModelMatch(from: former.model, to: program.model)
      let isStep = number == nil && hasSteps
      let differences = ImageComparison(
        former, after,
        ImageComparison.Expectation(
          match: match, program: number, hasSteps: isStep, changedBySteps: rehearsal.changedBySteps)
      ).differences
      // What former versions have consented to has happened.
      tell(differences.filter { !$0.isAnnounced || number == nil && jumped == nil })
      path.stops.append(RehearsedPath.Stop(version: number, image: after, match: match))
    }
    current.steps = way.count
    check(store, rehearsal.newestProgram.model, known, try? rehearsal.plan(of: original))
    guard let jumped else { return }
    let comparison = PathComparison(path, jumped, hasSteps: hasSteps)
    for (finding, examples) in comparison.differences.sorted(by: { $0.key.subject < $1.key.subject }) {
      find(finding, count: examples.count, examples)
    }
    for (finding, examples) in comparison.fillings.sorted(by: { $0.key.subject < $1.key.subject }) {
      announce(finding, count: examples.count, examples)
    }
  }
}

extension MigrationPlan.Step {
  /// What is to be done about a question.
  fileprivate var toDo: String {
    switch risk {
    case .asks(let question): question.answer
    case .impossible(let reason): reason
    case .none, .rewrites, .loses, .warns: ""
    }
  }
}

extension String {
  /// A sentence as the end of another one.
  fileprivate var asEndOfSentence: String { hasSuffix(".") ? String(dropLast()) : self }
}
