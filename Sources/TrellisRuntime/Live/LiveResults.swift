public import Observation
import TrellisModel
import TrellisStorage

/// The results of a request, kept up to date with saves: a collection that updates itself and reports its changes.
///
/// ```swift
/// let live = try context.live(EmotionDiary.where { $0.emotion == .happy }.sorted { $0.createdAt.descending })
/// show(live)
/// for await change in live.changes { table.apply(change) }
/// ```
/// The collection contains *saved* data. Saves of this context show immediately. Saves of other contexts show when this
/// context merges them: at its next fetch or save, by ``ManagedObjectContext/mergeChanges()``, and during an
/// iteration over ``changes``. Unsaved changes are visible in the objects, which belong to the context, but do not add,
/// remove or move any.
///
/// After each save, every live request examines the changed objects of its entity, independent of the number of
/// results. The request is run again only if its conditions or sort order depend on other objects and some of those
/// changed, if a limited list has to be filled beyond its end, if one save changed more than a thousand of its objects,
/// or if another process wrote to the store.
///
/// Live results belong to their context's isolation domain and keep the context alive. They support Swift's
/// Observation: code that reads them in `withObservationTracking`, or in a SwiftUI view, is notified when they change.
/// Those of the main context and of its children are also brought up to date without a task that waits, by the saves of
/// other contexts and of other processes.
public final class LiveResults<Columns: EntityColumns>: RandomAccessCollection, Observable {
  /// The class of the objects.
  public typealias Element = Columns.Object
  /// The position of an object.
  public typealias Index = Int

  private let context: ManagedObjectContext
  let core: LiveResultsCore
  private let registrar = ObservationRegistrar()
  private let externalChanges: ExternalChangeWatch?

  init(_ request: StoreRequest, _ sectioning: Sectioning, _ context: ManagedObjectContext) throws {
    self.context = context
    externalChanges = context.graph.watchForObservers()
    core = try LiveResultsCore(request, sectioning, context.graph)
    core.willChange = { [weak self] in
      self?.willChange()
      self?.announce()
    }
    core.didChange = { [weak self] in
      self?.confirm()
      self?.didChange()
    }
    context.graph.addLiveResults(core)
  }

  var graph: ObjectGraph { context.graph }

  /// Called before and after the results change, for one that passes it on to its own observers, in its own way.
  @_spi(UI) public var willChange: () -> Void = {}
  @_spi(UI) public var didChange: () -> Void = {}

  private func announce() { registrar.willSet(self, keyPath: \.ids) }
  private func confirm() { registrar.didSet(self, keyPath: \.ids) }

  /// The identifiers of the results, in order.
  public var ids: [ObjectID<Columns.Object>] {
    registrar.access(self, keyPath: \.ids)
    return core.keys.map { ObjectID($0) }
  }

  /// The position of the first object, 0.
  public var startIndex: Int { 0 }

  /// The number of results.
  public var endIndex: Int {
    registrar.access(self, keyPath: \.ids)
    return core.count
  }

  /// The object at a position, which must be valid, as for every Swift collection.
  ///
  /// An object that is not in memory is loaded together with those that follow it. If its row cannot be loaded, for
  /// example because another context deleted it and this context has not merged that save yet, the result is an object
  /// of no context with placeholder values, whose `isDeleted` is true if the row is gone. Writes to it are ignored.
  public subscript(position: Int) -> Columns.Object {
    registrar.access(self, keyPath: \.ids)
    return core.rows.object(at: core.offset + position, entity: core.entity, graph)
  }

  /// The results as they are now, which stay as they are: for a view, which compares what it shows with what it has shown.
  ///
  /// - Complexity: linear in the number of blocks of a few hundred results, which are shared.
  public var snapshot: LiveSnapshot<Columns> {
    registrar.access(self, keyPath: \.ids)
    return unobservedSnapshot
  }

  /// The same as ``snapshot``, for an observer of ``willChange``.
  @_spi(UI) public var unobservedSnapshot: LiveSnapshot<Columns> {
    LiveSnapshot(core.rows, offset: core.offset, entity: core.entity, context)
  }

  /// The changes from now on, each as steps from the previous list to the new one.
  ///
  /// Each access creates a separate sequence. During an iteration, the context merges the saves of other contexts as
  /// soon as they happen, between other work of its isolation domain. Changes that occur before the next element is
  /// requested are combined into one. The sequence ends when its task is cancelled.
  public var changes: LiveChanges<Columns> { LiveChanges(self) }
}

@available(*, unavailable, message: "live results belong to their context; pass ids or snapshots instead")
extension LiveResults: @unchecked Sendable {}

/// The changes of live results; see ``LiveResults/changes``.
public struct LiveChanges<Columns: EntityColumns>: AsyncSequence {
  /// The change of the results.
  public typealias Element = LiveChange<Columns.Object>
  /// The sequence never throws.
  public typealias Failure = Never

  private let results: LiveResults<Columns>
  private let listener = LiveListener()

  init(_ results: LiveResults<Columns>) {
    self.results = results
    results.core.add(listener)
  }

  /// Creates an iterator over the changes.
  public func makeAsyncIterator() -> Iterator { Iterator(results, listener) }

  /// Takes the next change without waiting for one: for code that observes changes in another way, such as by
  /// Observation, and asks which they were. The saves of other contexts are not merged for it.
  ///
  /// - Returns: nil if nothing has changed since the sequence was made or the last change was taken.
  public func takeChange() -> LiveChange<Columns.Object>? { listener.take(results.core) }

  /// An iterator over the changes of live results.
  public struct Iterator: AsyncIteratorProtocol {
    private let results: LiveResults<Columns>
    private let listener: LiveListener
    private let externalChanges: ExternalChangeWatch
    private var bells: AsyncStream<Void>.Iterator

    fileprivate init(_ results: LiveResults<Columns>, _ listener: LiveListener) {
      self.results = results
      self.listener = listener
      bells = results.graph.inbox.listen().makeAsyncIterator()
      externalChanges = results.graph.core.externalChanges.watch()
    }

    /// Waits for the next change; returns nil when the task is cancelled.
    public mutating func next() async -> LiveChange<Columns.Object>? { await next(isolation: #isolation) }

    /// Waits for the next change; returns nil when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> LiveChange<Columns.Object>? {
      repeat {
        results.graph.mergeInbox()
        if let change: LiveChange<Columns.Object> = listener.take(results.core) { return change }
      } while await bells.next(isolation: actor) != nil
      return nil
    }
  }
}

extension FetchableObject {
  /// The results of a request, kept up to date.
  public typealias LiveResults = TrellisRuntime.LiveResults<Columns>
}

extension ManagedObjectContext {
  /// The results of a request, kept up to date with saves.
  ///
  /// - Returns: the results in the store, without unsaved changes.
  /// - Throws: ``StoreError`` if the store fails; ``ContextError`` if an earlier lazy load failed.
  /// - Complexity: that of the store's query. For each result, its key and its sort values are kept in memory.
  public func live<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> LiveResults<Columns> {
    try graph.prepareFetch()
    return try LiveResults(request.storeRequest(in: graph), .none, self)
  }
}

// MARK: - Live results core

/// The untyped part of live results: the query and the listeners for changes.
final class LiveResultsCore {
  /// The results as last published, preceded by those that the request's offset skips.
  private(set) var rows: LiveRows
  let sectioning: Sectioning
  /// Called before and after the results change.
  var willChange: () -> Void = {}
  var didChange: () -> Void = {}
  private var query: LiveQuery
  private var listeners: [ListenerReference] = []
  /// Whether the store failed when the request was last run again.
  private(set) var isStale = false

  private struct ListenerReference {
    weak var listener: LiveListener?
  }

  init(_ request: StoreRequest, _ sectioning: Sectioning, _ graph: ObjectGraph) throws {
    query = try LiveQuery(request, graph.runtime.model)
    self.sectioning = sectioning
    try query.run(in: graph)
    rows = query.entries.rows
  }

  var entity: Int { query.request.entity }
  var reach: RequestReach { query.reach }

  // MARK: The results

  var offset: Int { query.request.offset }

  var count: Int { max(0, rows.count - offset) }

  /// The keys of the results.
  ///
  /// - Complexity: linear.
  var keys: [Int64] { keys(of: rows) }

  /// The section of each result, as a stored value; empty without sections.
  ///
  /// - Complexity: linear.
  var sectionValues: [StoredValue] { sectionValues(of: rows) }

  fileprivate func sectionValues(of rows: LiveRows) -> [StoredValue] {
    sectioning.values(rows.firstValues.dropFirst(offset))
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

  func refresh(after notices: [SaveNotice], _ rows: inout ChangedRows, _ graph: ObjectGraph) {
    var changed: Set<Int64> = []
    var gone: Set<Int64> = []
    var updated: Set<Int64> = []
    var mustRun = isStale
    // Any result may have changed by a save whose changes are not known, or one after which the store failed.
    var isUnknown = isStale
    for notice in notices {
      isUnknown = isUnknown || notice.isUnknown
      switch query.reach.meaning(of: notice, isResult: query.entries.contains) {
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
      try refresh(changed, isUnknown ? nil : updated, mustRun: mustRun, &rows, graph)
      isStale = false
    } catch {
      isStale = true
      let name = graph.runtime.info(entity).name
      graph.report(
        ContextError(.loadFailed, "Live results of \(name) could not be brought up to date.", cause: error))
    }
  }

  /// - Parameter updated: The objects with changed values or members; nil if they are not known.
  private func refresh(
    _ changed: Set<Int64>, _ updated: Set<Int64>?, mustRun: Bool, _ rows: inout ChangedRows,
    _ graph: ObjectGraph
  ) throws {
    if !mustRun && changed.count <= LiveQuery.fewRows {
      let changes = try rows.rows(changed.sorted(), entity: entity, graph)
      if let steps = try query.apply(changes) {
        if steps.isEmpty { return }
        return publish(offset == 0 ? steps : nil, updated)
      }
    }
    try query.run(in: graph)
    publish(nil, updated)
  }

  /// - Parameters:
  ///   - steps: the steps; nil if they have to be found by comparing the lists.
  ///   - updated: The objects with changed values or members; nil if any may have.
  private func publish(_ steps: [KeyStep]?, _ updated: Set<Int64>?) {
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
    if former == nil && results.sectioning.isSectioned { former = before }
    noteUpdates(in: new)
    if base != nil { return }
    steps += new
    guard steps.count > Self.mostSteps else { return }
    var keys = results.keys
    for step in steps.reversed() { step.revert(in: &keys) }
    base = keys
    steps = []
  }

  private func noteUpdates(in steps: [KeyStep]) {
    for case .update(let key, _) in steps { updated.insert(key) }
  }

  /// The changes since the last call; nil if there are none.
  func take<Object: ManagedObject>(_ results: LiveResultsCore) -> LiveChange<Object>? {
    guard hasNews else { return nil }
    let found = base.map { LiveDifference.steps(from: $0, to: results.keys, updated: updated) } ?? steps.combined
    let sections = former.map { SectionRuns.steps(from: results.sectionValues(of: $0), to: results.sectionValues) }
    steps = []
    base = nil
    updated = []
    former = nil
    return found.isEmpty ? nil : LiveChange(steps: found.map { $0.typed() }, sections: sections ?? [])
  }
}

// MARK: - Live refreshing

/// The live results of a context, found by the entities that can affect them.
final class LiveResultsList {
  private struct Reference {
    weak var results: LiveResultsCore?
    let entities: Set<Int>
  }

  /// By their numbers, in the order in which they were added.
  private var all: [Int: Reference] = [:]
  /// The numbers of the results that an entity can affect.
  private var numbers: [Int: Set<Int>] = [:]
  private var nextNumber = 0
  /// The results that the store failed to bring up to date, which are tried again after each save.
  private var stale: Set<Int> = []
  /// The number of results at which the released ones are removed.
  private var sweepCount = 64

  var wantsSaves: Bool { !all.isEmpty }

  func add(_ results: LiveResultsCore) {
    if all.count >= sweepCount {
      for (number, reference) in all where reference.results == nil { remove(number, reference) }
      sweepCount = max(64, 2 * all.count)
    }
    let entities = results.reach.entities
    all[nextNumber] = Reference(results: results, entities: entities)
    for entity in entities { numbers[entity, default: []].insert(nextNumber) }
    nextNumber += 1
  }

  private func remove(_ number: Int, _ reference: Reference) {
    all[number] = nil
    stale.remove(number)
    for entity in reference.entities {
      numbers[entity]?.remove(number)
      if numbers[entity]?.isEmpty == true { numbers[entity] = nil }
    }
  }

  /// Updates the live results after saves of this context or of others.
  ///
  /// - Complexity: linear in the number of changed rows, and in that of the results that they can affect.
  func didSave(_ notices: [SaveNotice], in graph: ObjectGraph) {
    guard !all.isEmpty else { return }
    var rows = ChangedRows()
    var hasNews = false
    for number in concerned(by: notices) {
      guard let reference = all[number] else { continue }
      guard let results = reference.results else {
        remove(number, reference)
        continue
      }
      results.refresh(after: notices, &rows, graph)
      if results.isStale { stale.insert(number) } else { stale.remove(number) }
      hasNews = hasNews || results.hasNews
    }
    if hasNews { graph.inbox.ring() }
  }

  private func concerned(by notices: [SaveNotice]) -> [Int] {
    if notices.contains(where: \.mayConcernAnything) { return all.keys.sorted() }
    var entities: Set<Int> = []
    for notice in notices {
      var last = -1
      for row in [notice.inserted, notice.updated, notice.relinked, notice.deleted].joined() where row.entity != last {
        last = row.entity
        entities.insert(last)
      }
    }
    var found = stale
    for entity in entities { found.formUnion(numbers[entity] ?? []) }
    return found.sorted()
  }
}

extension SaveNotice {
  /// Whether rows have changed whose entities are not known.
  fileprivate var mayConcernAnything: Bool { isUnknown || !cascaded.isEmpty || !cleared.isEmpty }
}

extension ObjectGraph {
  fileprivate func addLiveResults(_ results: LiveResultsCore) {
    let list = liveResults ?? LiveResultsList()
    liveResults = list
    list.add(results)
  }

  /// A row as an object that is not registered in the context.
  func unregistered(_ row: RowReader) throws -> ManagedObject {
    guard row.entity >= 0 && row.entity < runtime.types.count else { throw unreadable(row) }
    row.problem = nil
    let object = runtime.types[row.entity].init(row, in: link)
    if row.problem != nil { throw unreadable(row) }
    return object
  }
}

/// The rows that saves changed, read once for all live results.
struct ChangedRows {
  /// The rows by key; nil for a deleted row.
  private var known: [Int64: ManagedObject?] = [:]

  /// The stored rows with these keys.
  ///
  /// - Parameter entity: an entity of their hierarchy.
  mutating func rows(
    _ keys: some Sequence<Int64>, entity: Int, _ graph: ObjectGraph
  ) throws -> [LiveQuery.ChangedRow] {
    var wanted: [Int64] = []
    for key in keys where known[key] == nil {
      if let object = graph.map[key], object.isAsStored {
        known[key] = .some(object)
      } else {
        wanted.append(key)
      }
    }
    if !wanted.isEmpty { try read(wanted, entity: graph.runtime.info(entity).root, graph) }
    return keys.map { ($0, known[$0] ?? nil) }
  }

  private mutating func read(_ keys: [Int64], entity: Int, _ graph: ObjectGraph) throws {
    for key in keys { known[key] = .some(nil) }
    try graph.connection().rows(of: entity, keys: keys) { row in
      if let object = graph.map[row.key], object.phase == .persistent, !object.isInChangedList {
        // The row is likely to be displayed, so the object is filled from it.
        known[row.key] = .some(try graph.object(of: row, batch: 0))
      } else {
        known[row.key] = .some(try graph.unregistered(row))
      }
    }
  }
}

extension ManagedObject {
  /// Whether the values are those that were last read or saved.
  fileprivate var isAsStored: Bool { phase == .persistent && !isInChangedList && !accessFlags.contains(.fault) }
}
