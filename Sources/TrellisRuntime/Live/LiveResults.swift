public import Observation
import TrellisSchema
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
public final class LiveResults<Columns: EntityColumns>: RandomAccessCollection, Observable {
  /// The class of the objects.
  public typealias Element = Columns.Object
  /// The position of an object.
  public typealias Index = Int

  let context: ManagedObjectContext
  let core: LiveResultsCore
  private let registrar = ObservationRegistrar()

  init(_ request: StoreRequest, isSectioned: Bool, _ context: ManagedObjectContext) throws {
    self.context = context
    core = try LiveResultsCore(request, isSectioned: isSectioned, context)
    core.willChange = { [weak self] in self?.announce() }
    core.didChange = { [weak self] in self?.confirm() }
    context.liveResults.append(LiveResultsReference(results: core))
  }

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
    let key = core.key(at: position)
    if let known = context.map[key] as? Columns.Object { return known }
    let keys = core.keys(position..<Swift.min(position + 256, core.count)).filter { context.map[$0] == nil }
    var isGone = true
    do {
      try context.loadObjects(keys, entity: core.entity)
    } catch {
      isGone = false
      let name = context.runtime.entities[core.entity].name
      context.report(ContextError(.loadFailed, "Objects of \(name) could not be loaded.", cause: error))
    }
    if let loaded = context.map[key] as? Columns.Object { return loaded }
    return .standIn(for: key, isDeleted: isGone, in: context.link)
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

  /// An iterator over the changes of live results.
  public struct Iterator: AsyncIteratorProtocol {
    private let results: LiveResults<Columns>
    private let listener: LiveListener
    private let externalChanges: ExternalChangeWatch
    private var bells: AsyncStream<Void>.Iterator

    fileprivate init(_ results: LiveResults<Columns>, _ listener: LiveListener) {
      self.results = results
      self.listener = listener
      bells = results.context.inbox.listen().makeAsyncIterator()
      externalChanges = results.context.core.externalChanges.watch()
    }

    /// Waits for the next change; returns nil when the task is cancelled.
    public mutating func next() async -> LiveChange<Columns.Object>? { await next(isolation: #isolation) }

    /// Waits for the next change; returns nil when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> LiveChange<Columns.Object>? {
      repeat {
        results.context.mergeInbox()
        if let change: LiveChange<Columns.Object> = listener.take(results.core) { return change }
      } while await bells.next(isolation: actor) != nil
      return nil
    }
  }
}

extension ManagedObjectContext {
  /// The results of a request, kept up to date with saves.
  ///
  /// - Returns: the results in the store, without unsaved changes.
  /// - Throws: ``StoreError`` if the store fails; ``ContextError`` if an earlier lazy load failed.
  /// - Complexity: that of the store's query. For each result, its key and its sort values are kept in memory.
  public func live<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> LiveResults<Columns> {
    try prepareFetch()
    return try LiveResults(request.storeRequest(in: self), isSectioned: false, self)
  }
}
