import Synchronization
public import TrellisSchema
public import TrellisStorage

/// A store in memory: for tests, previews and work that needs no file. What it holds is gone when it is released.
///
/// It answers as every other store does: conflicts, uniqueness, dangling references, order. A reader works on a snapshot
/// and holds no lock, so readers and a writer do not wait for each other.
public final class MemoryStore: Store {
  public let name: String
  let layout: Layout

  private struct Shared: Sendable {
    var state: MemoryState
    var nextKey: Int64 = 1
  }

  private let shared: Mutex<Shared>

  /// Makes an empty store.
  ///
  /// - Parameter name: what the store calls itself in messages.
  public init(_ model: Model, name: String = "memory") {
    self.name = name
    let layout = Layout(model)
    self.layout = layout
    shared = Mutex(Shared(state: MemoryState(layout)))
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

  /// The store as it is now. It stays so whatever is saved meanwhile.
  func snapshot() -> Snapshot {
    Snapshot(shared.withLock { $0.state }, layout)
  }

  /// Reads the records first, without the lock, as they may be slow; then checks and writes in one go.
  func save(_ request: SaveRequest) throws -> SaveOutcome {
    let draft = try SaveDraft(request, layout)
    return try shared.withLock { shared in
      let plan = try SavePlan(draft, shared.state, layout)
      if draft.counts.isEmpty && draft.denials.isEmpty {
        plan.apply(to: &shared.state, layout)
      } else {
        var next = shared.state
        plan.apply(to: &next, layout)
        try RulesCheck.run(draft, Snapshot(shared.state, layout), Snapshot(next, layout))
        shared.state = next
      }
      shared.nextKey = max(shared.nextKey, draft.highestKey &+ 1)
      return SaveOutcome(cascaded: plan.cascaded)
    }
  }
}
