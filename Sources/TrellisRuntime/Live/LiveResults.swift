public import Observation
import TrellisSchema
import TrellisStorage

/// The results of a request, kept up to date with what is saved: a collection that changes by itself and tells how.
///
/// ```swift
/// let live = try context.live(EmotionDiary.where { $0.emotion == .happy }.sorted { $0.createdAt.descending })
/// show(live)
/// for await change in live.changes { table.apply(change) }
/// ```
/// It shows what is *saved*, by this context at once, by others when the context takes their saves over: at its next fetch or
/// save, by ``ManagedObjectContext/mergeChanges()``, and while somebody goes through ``changes``. Unsaved edits show in
/// the objects, which are those of the context, but bring none in, keep none away, and move none.
///
/// A save costs each live request a look at the changed objects of its entity, whatever else there is. The request is run
/// again only when its conditions or order look at other objects and some of those changed, when a limited list has to be
/// filled from behind its end, when one save changed more than a thousand of its objects, and when another program wrote.
///
/// Live results belong to their context's isolation domain and keep the context alive. They work with Swift's Observation:
/// what reads them in `withObservationTracking`, or in a SwiftUI view, is told when they change.
public final class LiveResults<Columns: EntityColumns>: RandomAccessCollection, Observable {
  public typealias Element = Columns.Object
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

  /// The identities of the results, in order.
  public var ids: [ObjectID<Columns.Object>] {
    registrar.access(self, keyPath: \.ids)
    return core.keys.map { ObjectID($0) }
  }

  public var startIndex: Int { 0 }

  public var endIndex: Int {
    registrar.access(self, keyPath: \.ids)
    return core.count
  }

  /// The object at a position, which must be one of the collection's, as with every Swift collection.
  ///
  /// What is not in memory is loaded, with what follows it. An object that somebody has deleted meanwhile, which nobody could
  /// know before, is one that says so.
  public subscript(position: Int) -> Columns.Object {
    registrar.access(self, keyPath: \.ids)
    let key = core.key(at: position)
    if let known = context.map[key] as? Columns.Object { return known }
    let keys = core.keys(position..<Swift.min(position + 256, core.count)).filter { context.map[$0] == nil }
    do {
      try context.loadObjects(keys, entity: core.entity)
    } catch {
      let name = context.runtime.entities[core.entity].name
      context.report(ContextError(.loadFailed, "Objects of \(name) could not be loaded.", cause: error))
    }
    return context.map[key] as? Columns.Object ?? Columns.Object(PlaceholderRow(key: key), in: context.link)
  }

  /// The changes from now on, each as steps from the list before to the list after.
  ///
  /// Each use makes a sequence of its own. While somebody goes through one, the context takes over what others save as soon as
  /// they do, between other work of its isolation domain. Changes that come before they are asked for are told together. It
  /// ends when its task is cancelled.
  public var changes: LiveChanges<Columns> { LiveChanges(self) }
}

@available(*, unavailable, message: "live results belong to their context; pass ids or snapshots instead")
extension LiveResults: @unchecked Sendable {}

/// The changes of live results; see ``LiveResults/changes``.
public struct LiveChanges<Columns: EntityColumns>: AsyncSequence {
  public typealias Element = LiveChange<Columns.Object>
  public typealias Failure = Never

  private let results: LiveResults<Columns>
  private let listener = LiveListener()

  init(_ results: LiveResults<Columns>) {
    self.results = results
    results.core.add(listener)
  }

  public func makeAsyncIterator() -> Iterator { Iterator(results, listener) }

  public struct Iterator: AsyncIteratorProtocol {
    private let results: LiveResults<Columns>
    private let listener: LiveListener
    private let externalChanges: StrangerWatch
    private var bells: AsyncStream<Void>.Iterator

    fileprivate init(_ results: LiveResults<Columns>, _ listener: LiveListener) {
      self.results = results
      self.listener = listener
      bells = results.context.inbox.listen().makeAsyncIterator()
      externalChanges = results.context.core.externalChanges.watch()
    }

    public mutating func next() async -> LiveChange<Columns.Object>? { await next(isolation: #isolation) }

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
  /// The results of a request, kept up to date with what is saved.
  ///
  /// - Returns: what the store holds now; what is not saved is not among it.
  /// - Throws: ``StoreError`` when the store fails; ``ContextError`` when a lazy load failed before.
  /// - Complexity: that of the store's query. Kept are, for each result, its identity and what it is sorted by.
  public func live<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> LiveResults<Columns> {
    try prepareFetch()
    return try LiveResults(request.storeRequest(in: self), isSectioned: false, self)
  }
}
