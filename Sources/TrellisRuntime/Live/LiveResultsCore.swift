import TrellisQuery
import TrellisSchema
import TrellisStorage

/// What live results are, whatever their type: the query, and who wants to hear of changes.
final class LiveResultsCore {
  private(set) var keys: [Int64]
  /// What the first sort key of each result is, for sections; empty without sections.
  private(set) var sectionValues: [StoredValue] = []
  let isSectioned: Bool
  /// Called before and after the results change.
  var willChange: () -> Void = {}
  var didChange: () -> Void = {}
  private var query: LiveQuery
  private var listeners: [ListenerReference] = []
  /// Set when the store failed while the request was run again.
  private var isStale = false

  private struct ListenerReference {
    weak var listener: LiveListener?
  }

  init(_ request: StoreRequest, isSectioned: Bool, _ context: ManagedObjectContext) throws {
    query = try LiveQuery(request, context.runtime.model)
    self.isSectioned = isSectioned
    try query.run(in: context)
    keys = query.keys
    sectionValues = Self.sections(of: query, isSectioned)
  }

  private static func sections(of query: LiveQuery, _ isSectioned: Bool) -> [StoredValue] {
    isSectioned ? query.entries.values.dropFirst(query.request.offset).map { $0.first ?? .null } : []
  }

  var entity: Int { query.request.entity }

  // MARK: Listeners

  func add(_ listener: LiveListener) {
    listeners.removeAll { $0.listener == nil }
    listeners.append(ListenerReference(listener: listener))
  }

  /// Whether somebody has something to be told.
  var hasNews: Bool { listeners.contains { $0.listener?.hasNews == true } }

  // MARK: Following saves

  func refresh(after notices: [SaveNotice], _ rows: inout ChangedRows, _ context: ManagedObjectContext) {
    var changed: Set<Int64> = []
    var gone: Set<Int64> = []
    var updated: Set<Int64> = []
    var mustRun = isStale
    for notice in notices {
      switch query.reach.meaning(of: notice) {
      case .nothing: continue
      case .rows(let some, let went):
        changed.formUnion(some)
        gone.formUnion(went)
      case .anything: mustRun = true
      }
      updated.formUnion(notice.updated.lazy.map(\.key))
      updated.formUnion(notice.relinked.lazy.map(\.key))
    }
    // Without a row, only a result can be concerned.
    changed.formUnion(gone.filter(query.entries.contains))
    guard mustRun || !changed.isEmpty else { return }
    do {
      try refresh(changed, updated, mustRun: mustRun, &rows, context)
      isStale = false
    } catch {
      isStale = true
      let name = context.runtime.entities[entity].name
      context.report(
        GraphProblem(.loadFailed, "Live results of \(name) could not be brought up to date.", cause: error))
    }
  }

  private func refresh(
    _ changed: Set<Int64>, _ updated: Set<Int64>, mustRun: Bool, _ rows: inout ChangedRows,
    _ context: ManagedObjectContext
  ) throws {
    if !mustRun && changed.count <= LiveQuery.fewRows {
      let changes = try rows.rows(changed.sorted(), entity: entity, context)
      if let steps = try query.apply(changes) {
        if steps.isEmpty { return }
        return publish(query.request.offset == 0 ? steps : nil, updated)
      }
    }
    try query.run(in: context)
    publish(nil, updated)
  }

  /// - Parameter steps: nil when they have to be found by comparing.
  private func publish(_ steps: [KeyStep]?, _ updated: Set<Int64>) {
    let before = keys
    let sectionsBefore = sectionValues
    let after = query.keys
    let steps = steps ?? LiveDifference.steps(from: before, to: after, updated: updated)
    if steps.isEmpty { return }
    willChange()
    keys = after
    sectionValues = Self.sections(of: query, isSectioned)
    for listener in listeners.compactMap(\.listener) { listener.note(steps, sectionsBefore, self) }
    didChange()
  }
}

/// Gathers what changed for one observer until it is taken.
final class LiveListener {
  private var steps: [KeyStep] = []
  /// The keys when the observer was last told, once there are so many steps that comparing is less work.
  private var base: [Int64]?
  private var updated: Set<Int64> = []
  /// The sections when the observer was last told.
  private var formerSections: [StoredValue]?

  private static let mostSteps = 1000

  var hasNews: Bool { !steps.isEmpty || base != nil }

  fileprivate func note(_ new: [KeyStep], _ sections: [StoredValue], _ results: LiveResultsCore) {
    if formerSections == nil { formerSections = sections }
    noteUpdates(in: new)
    if base != nil { return }
    steps += new
    guard steps.count > Self.mostSteps else { return }
    var keys = results.keys
    for step in steps.reversed() { step.takeBack(in: &keys) }
    base = keys
    steps = []
  }

  private func noteUpdates(in steps: [KeyStep]) {
    for case .update(let key, _) in steps { updated.insert(key) }
  }

  /// What changed since the last time; nil when nothing did.
  func take<Object: ManagedObject>(_ results: LiveResultsCore) -> LiveChange<Object>? {
    guard hasNews else { return nil }
    let found = base.map { LiveDifference.steps(from: $0, to: results.keys, updated: updated) } ?? steps
    let sections = SectionRuns.steps(from: formerSections ?? [], to: results.sectionValues)
    steps = []
    base = nil
    updated = []
    formerSections = nil
    return found.isEmpty ? nil : LiveChange(steps: found.map { $0.typed() }, sections: sections)
  }
}
