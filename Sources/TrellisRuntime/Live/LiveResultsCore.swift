import TrellisQuery
import TrellisSchema
import TrellisStorage

/// The untyped part of live results: the query and the listeners for changes.
final class LiveResultsCore {
  /// The results as last published, preceded by those that the request's offset skips.
  private var rows: LiveRows
  let isSectioned: Bool
  /// Called before and after the results change.
  var willChange: () -> Void = {}
  var didChange: () -> Void = {}
  private var query: LiveQuery
  private var listeners: [ListenerReference] = []
  /// Whether the store failed when the request was last run again.
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

  /// The first sort value of each result, for sections; empty without sections.
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

  /// Whether a listener has changes to deliver.
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
    // A deleted row can affect the results only if it is one of them.
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

  /// - Parameter steps: the steps; nil if they have to be found by comparing the lists.
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

/// Collects the changes for one observer until they are taken.
final class LiveListener {
  private var steps: [KeyStep] = []
  /// The keys at the observer's last change, once there are so many steps that comparing the lists is cheaper.
  private var base: [Int64]?
  private var updated: Set<Int64> = []
  /// The results at the observer's last change, for their sections.
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

  /// The changes since the last call; nil if there are none.
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
