import TrellisQuery
import TrellisSchema
import TrellisStorage

/// What live results are, whatever their type: the query, and who wants to hear of changes.
final class LiveResultsCore {
  /// The results as observers know them, and before them those that the request's offset leaves out.
  private var rows: LiveRows
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
    rows = query.entries.rows
  }

  var entity: Int { query.request.entity }

  // MARK: The results

  private var offset: Int { query.request.offset }

  var count: Int { max(0, rows.count - offset) }

  /// The keys of the results.
  ///
  /// - Complexity: linear.
  var keys: [Int64] { keys(of: rows) }

  func key(at position: Int) -> Int64 { rows.key(at: offset + position) }

  func keys(_ positions: Range<Int>) -> [Int64] {
    rows.keys((offset + positions.lowerBound)..<(offset + positions.upperBound))
  }

  /// What the first sort key of each result is, for sections; empty without sections.
  ///
  /// - Complexity: linear.
  var sectionValues: [StoredValue] { sectionValues(of: rows) }

  fileprivate func sectionValues(of rows: LiveRows) -> [StoredValue] {
    isSectioned ? Array(rows.firstValues.dropFirst(offset)) : []
  }

  private func keys(of rows: LiveRows) -> [Int64] { offset == 0 ? rows.keys : Array(rows.keys.dropFirst(offset)) }

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
        ContextError(.loadFailed, "Live results of \(name) could not be brought up to date.", cause: error))
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
        return publish(offset == 0 ? steps : nil, updated)
      }
    }
    try query.run(in: context)
    publish(nil, updated)
  }

  /// - Parameter steps: nil when they have to be found by comparing.
  private func publish(_ steps: [KeyStep]?, _ updated: Set<Int64>) {
    let before = rows
    let after = query.entries.rows
    let steps = steps ?? LiveDifference.steps(from: keys(of: before), to: keys(of: after), updated: updated)
    if steps.isEmpty {
      rows = after
      return
    }
    willChange()
    rows = after
    for listener in listeners.compactMap(\.listener) { listener.note(steps, before, self) }
    didChange()
  }
}

/// Gathers what changed for one observer until it is taken.
final class LiveListener {
  private var steps: [KeyStep] = []
  /// The keys when the observer was last told, once there are so many steps that comparing is less work.
  private var base: [Int64]?
  private var updated: Set<Int64> = []
  /// The results when the observer was last told, for their sections.
  private var former: LiveRows?

  private static let mostSteps = 1000

  var hasNews: Bool { !steps.isEmpty || base != nil }

  fileprivate func note(_ new: [KeyStep], _ before: LiveRows, _ results: LiveResultsCore) {
    if former == nil && results.isSectioned { former = before }
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
    let sections = former.map { SectionRuns.steps(from: results.sectionValues(of: $0), to: results.sectionValues) }
    steps = []
    base = nil
    updated = []
    former = nil
    return found.isEmpty ? nil : LiveChange(steps: found.map { $0.typed() }, sections: sections ?? [])
  }
}
