public import TrellisSchema
public import TrellisStorage

/// An in-memory store for tests, previews and work that needs no file. Its contents are lost when it is released.
///
/// It behaves like every other store with respect to conflicts, uniqueness, dangling references and order. A reader
/// works on a snapshot and holds no lock, so readers and a writer do not wait for each other.
public final class MemoryStore: Store, SnapshotSource {
  public let name: String
  package let layout: Layout

  private struct Shared: Sendable {
    var state: MemoryState
    var nextKey: Int64 = 1
  }

  private let shared: Locked<Shared>

  /// Creates an empty store.
  ///
  /// - Parameter name: the store's name in messages.
  public init(_ model: Model, name: String = "memory") {
    self.name = name
    let layout = Layout(model)
    self.layout = layout
    shared = Locked(Shared(state: MemoryState(layout)))
  }

  public func connect() -> any StoreConnection { MemoryConnection(self) }

  public func reserveKeys(_ count: Int64) throws -> Range<Int64> {
    try shared.withLock { shared in
      let (end, overflow) = shared.nextKey.addingReportingOverflow(max(0, count))
      guard !overflow else {
        throw StoreError(.limit, "The store has no keys left.", remedy: "Reserve fewer keys at a time.")
      }
      defer { shared.nextKey = end }
      return shared.nextKey..<end
    }
  }

  public func returnKeys(_ unused: Range<Int64>) {
    shared.withLock { shared in
      if unused.upperBound == shared.nextKey && !unused.isEmpty { shared.nextKey = unused.lowerBound }
    }
  }

  /// A snapshot of the current state. Later saves do not change it.
  package func snapshot() -> Snapshot {
    Snapshot(shared.withLock { $0.state }, layout)
  }

  /// Reads the records first, without the lock, because they may be slow. Then checks and writes under one lock.
  package func save(_ request: SaveRequest) throws -> SaveOutcome {
    let draft = try SaveDraft(request, layout)
    return try shared.withLock { shared in
      let outcome = try Self.save(draft, to: &shared.state, layout)
      shared.nextKey = max(shared.nextKey, draft.highestKey &+ 1)
      return outcome
    }
  }

  private static func save(_ draft: SaveDraft, to state: inout MemoryState, _ layout: Layout) throws -> SaveOutcome {
    if draft.counts.isEmpty && draft.denials.isEmpty {
      // Nothing can fail after the plan is made, so the state is changed in place, without copying a block.
      let plan = try SavePlan(draft, state, layout)
      plan.apply(to: &state, layout)
      return SaveOutcome(cascaded: plan.cascaded)
    }
    let saved = try state.saving(draft, layout)
    state = saved.state
    return saved.outcome
  }
}
