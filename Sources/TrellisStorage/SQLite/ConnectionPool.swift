internal import CSQLite
import Dispatch
package import TrellisModel

/// A pool of a few connections to a file, each lent for the duration of a call.
///
/// A caller waits in a queue if all connections are lent. A thread that already has a connection, of any store, never
/// waits: it gets one beyond the limit, so that two threads cannot wait for each other. The first connection stays open
/// as long as the pool. Others are closed after some idle seconds.
final class ConnectionPool: Sendable {
  /// Sound because a connection is either in the pool, which a lock guards, or used by the caller that took it.
  private struct Kept: @unchecked Sendable {
    let connection: SQLiteConnection
  }

  /// The first connection while it is not lent. A program with one context takes and returns it with each call, so its
  /// reference is moved and not counted.
  private struct Parked: @unchecked Sendable {
    let reference: Unmanaged<SQLiteConnection>
  }

  private struct State {
    /// Preferred to the others, because it has the largest cache.
    var first: Parked?
    /// The other connections that are not lent, the most recently returned last.
    var idle: [Kept] = []
    /// The number of open connections, including lent ones.
    var count = 1
    var waiting: [Waiter] = []
    var isClosed = false
    /// Whether connections are closed when they are returned, and none is lent.
    var isSuspended = false
    /// The number of times that all connections were to be closed. Those of an earlier time are not lent again.
    var renewals = 0
    /// Whether the first connection is open, or being opened.
    var hasFirst = true
    /// The connections of past moments that are not lent, by those who use them.
    var past: [ObjectIdentifier: Kept] = [:]
    /// The number of lent connections of past moments.
    var lentPast = 0
    /// Whether a sweep that closes idle connections is scheduled.
    var isSweeping = false

    var refusal: Refusal? { isClosed ? .closed : isSuspended ? .suspended : nil }
  }

  /// Why no connection is lent.
  private enum Refusal { case closed, suspended }

  /// A caller in the queue.
  private final class Waiter: Sendable {
    enum Turn {
      case waiting
      case has(Kept)
      /// The caller may open a connection.
      case mayOpen
    }

    let turn = Locked(Turn.waiting)
    let bell = DispatchSemaphore(value: 0)

    func call(_ turn: Turn) {
      self.turn.withLock { $0 = turn }
      bell.signal()
    }
  }

  /// The maximum waiting time before a connection beyond the limit is opened. One connection too many is better than a
  /// deadlock, if the holders of connections wait for this caller in a way that the pool cannot see.
  private static let patience = DispatchTimeInterval.seconds(5)

  private let most: Int
  private let sweepInterval: DispatchTimeInterval
  private let name: String
  private let open: @Sendable (_ isFirst: Bool) throws(StoreError) -> SQLiteConnection
  private let handles: OpenHandles
  private let state: Locked<State>

  /// - Parameters:
  ///   - first: the connection that stays open.
  ///   - most: the maximum number of open connections.
  ///   - sweepInterval: a connection is closed after one or two such intervals without use.
  ///   - handles: the open connections of the store.
  init(
    _ first: sending SQLiteConnection, name: String, most: Int, sweepInterval: DispatchTimeInterval,
    handles: OpenHandles,
    open: @escaping @Sendable (_ isFirst: Bool) throws(StoreError) -> SQLiteConnection
  ) {
    self.handles = handles
    self.most = max(1, most)
    self.sweepInterval = sweepInterval
    self.name = name
    self.open = open
    state = Locked(State(first: Parked(reference: .passRetained(first))))
  }

  deinit { _ = close() }

  /// The number of open connections.
  package var count: Int { state.withLock { $0.count } }
  /// The number of waiting threads.
  package var waitingCount: Int { state.withLock { $0.waiting.count } }

  // MARK: Lending

  private enum Answer {
    case found(Kept)
    case mayOpen
    case mayOpenFirst
    case mustWait(Waiter)
    case refused(Refusal)
  }

  /// - Throws: ``StoreError`` if the pool is closed, or if no connection can be opened.
  func take() throws(StoreError) -> SQLiteConnection {
    let first = state.withLock { state -> Parked? in
      let first = state.first
      state.first = nil
      return first
    }
    let connection = if let first { first.reference.takeRetainedValue() } else { try takeAnother() }
    connection.isStale = false
    _ = trellis_thread_leases(1)
    return connection
  }

  private func takeAnother() throws(StoreError) -> SQLiteConnection {
    let answer = state.withLock { state -> Answer in
      if let first = state.first {
        state.first = nil
        return .found(Kept(connection: first.reference.takeRetainedValue()))
      }
      if let found = state.idle.popLast() { return .found(found) }
      if let refusal = state.refusal { return .refused(refusal) }
      if !state.hasFirst {
        state.hasFirst = true
        state.count += 1
        return .mayOpenFirst
      }
      if state.count >= most && trellis_thread_leases(0) == 0 {
        let waiter = Waiter()
        state.waiting.append(waiter)
        return .mustWait(waiter)
      }
      state.count += 1
      return .mayOpen
    }
    switch answer {
    case .found(let kept): return kept.connection
    case .mayOpen: return try openOne()
    case .mayOpenFirst: return try openOne(isFirst: true)
    case .mustWait(let waiter): return try wait(waiter)
    case .refused(let refusal): throw error(refusal)
    }
  }

  private func error(_ refusal: Refusal) -> StoreError {
    switch refusal {
    case .closed: StoreError(.closed, "The store \(name) is closed.", remedy: "Open it with a new container.")
    case .suspended: .suspended(name)
    }
  }

  /// - Returns: whether the pool was closed in the meantime. Then the connection is closed when the caller releases it.
  @discardableResult func giveBack(_ connection: SQLiteConnection) -> Bool {
    _ = trellis_thread_leases(-1)
    if connection.isFirst && park(connection) { return false }
    let kept = Kept(connection: connection)
    let (next, isClosed, mustSweep) = state.withLock { state -> (Waiter?, Bool, Bool) in
      if state.isClosed || state.isSuspended || connection.renewals != state.renewals {
        state.count -= 1
        if connection.isFirst { state.hasFirst = false }
        return (nil, state.isClosed, false)
      }
      if !state.waiting.isEmpty { return (state.waiting.removeFirst(), false, false) }
      if connection.isFirst {
        state.first = Parked(reference: .passRetained(kept.connection))
      } else if state.count > most {
        state.count -= 1
      } else {
        state.idle.append(kept)
      }
      let mustSweep = state.count > 1 && !state.isSweeping
      if mustSweep { state.isSweeping = true }
      return (nil, false, mustSweep)
    }
    next?.call(.has(kept))
    if mustSweep { sweepLater() }
    return isClosed
  }

  /// Puts the first connection back if no caller waits and no other connection is open. False if there is more to do.
  private func park(_ connection: SQLiteConnection) -> Bool {
    let parked = Parked(reference: .passUnretained(connection))
    return state.withLock { state in
      guard state.count == 1, state.waiting.isEmpty, !state.isClosed, connection.renewals == state.renewals
      else { return false }
      _ = parked.reference.retain()
      state.first = parked
      return true
    }
  }

  /// Opens a connection that is already counted.
  private func openOne(isFirst: Bool = false) throws(StoreError) -> SQLiteConnection {
    do throws(StoreError) {
      let (renewals, refusal) = state.withLock { ($0.renewals, $0.refusal) }
      if let refusal { throw self.error(refusal) }
      let connection = try open(isFirst)
      connection.renewals = renewals
      return connection
    } catch {
      let next = state.withLock { state -> Waiter? in
        if isFirst { state.hasFirst = false }
        if !state.waiting.isEmpty { return state.waiting.removeFirst() }
        state.count -= 1
        return nil
      }
      next?.call(.mayOpen)
      throw error
    }
  }

  private func wait(_ waiter: Waiter) throws(StoreError) -> SQLiteConnection {
    if waiter.bell.wait(timeout: .now() + Self.patience) == .timedOut {
      let hasLeft = state.withLock { state -> Bool in
        let before = state.waiting.count
        state.waiting.removeAll { $0 === waiter }
        guard state.waiting.count < before else { return false }
        state.count += 1
        return true
      }
      if hasLeft { return try openOne() }
      // The waiter was called at the last moment.
      waiter.bell.wait()
    }
    if case .has(let kept) = waiter.turn.withLock({ $0 }) { return kept.connection }
    return try openOne()
  }

  // MARK: Closing

  /// - Returns: the connections that are not lent.
  func close() -> [SQLiteConnection] {
    let (idle, waiting) = state.withLock { state in
      let first = state.first.map { Kept(connection: $0.reference.takeRetainedValue()) }
      let idle = [first].compactMap { $0 } + state.idle
      state.isClosed = true
      state.count += state.waiting.count - idle.count
      state.first = nil
      state.idle = []
      defer { state.waiting = [] }
      return (idle, state.waiting)
    }
    // The waiters find the pool closed when they try to open a connection.
    for waiter in waiting { waiter.call(.mayOpen) }
    return idle.map(\.connection)
  }

  // MARK: Suspending

  /// Closes each connection as soon as it is not lent. Others are opened in their place.
  func renew() { close(andLendsNone: false) }

  /// Closes each connection as soon as it is not lent, and lends no other one.
  func suspend() { close(andLendsNone: true) }

  private func close(andLendsNone isSuspended: Bool) {
    let (kept, waiting) = state.withLock { state in
      if isSuspended { state.isSuspended = true }
      state.renewals += 1
      let first = state.first.map { Kept(connection: $0.reference.takeRetainedValue()) }
      let kept = [first].compactMap { $0 } + state.idle
      // Each caller in the queue counts until it has found the pool suspended.
      state.count += state.waiting.count - kept.count
      if first != nil { state.hasFirst = false }
      state.first = nil
      state.idle = []
      defer { (state.past, state.waiting) = ([:], []) }
      return (kept + state.past.values, state.waiting)
    }
    for waiter in waiting { waiter.call(.mayOpen) }
    // The connections are closed here, outside of the lock.
    _ = kept
  }

  func resume() { state.withLock { $0.isSuspended = false } }

  /// Whether all connections are closed, and none is being opened.
  var isReleased: Bool { state.withLock { $0.count == 0 && $0.lentPast == 0 } && handles.areAllClosed }

  // MARK: Past moments

  /// Lends the connection of a past moment, for which nobody waits.
  func takePast(
    _ owner: ObjectIdentifier, open: () throws(StoreError) -> SQLiteConnection
  ) throws(StoreError) -> SQLiteConnection {
    let (kept, renewals) = state.withLock { state -> (Kept?, Int?) in
      if state.isSuspended { return (nil, nil) }
      state.lentPast += 1
      return (state.past.removeValue(forKey: owner), state.renewals)
    }
    guard let renewals else { throw StoreError.suspended(name) }
    if let kept { return kept.connection }
    do throws(StoreError) {
      let connection = try open()
      connection.renewals = renewals
      return connection
    } catch {
      state.withLock { $0.lentPast -= 1 }
      throw error
    }
  }

  func giveBackPast(_ connection: SQLiteConnection, _ owner: ObjectIdentifier) {
    let kept = Kept(connection: connection)
    state.withLock { state in
      state.lentPast -= 1
      if connection.renewals == state.renewals { state.past[owner] = kept }
    }
  }

  /// Closes the connection of a past moment.
  func forgetPast(_ owner: ObjectIdentifier) {
    let kept = state.withLock { $0.past.removeValue(forKey: owner) }
    _ = kept
  }

  // MARK: Sweeping

  /// Schedules a sweep. There is a timer only while there is a connection to close.
  private func sweepLater() {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + sweepInterval) { [weak self] in self?.sweep() }
  }

  /// Closes the connections that were not used since the previous sweep.
  private func sweep() {
    let (stale, goesOn) = state.withLock { state -> ([Kept], Bool) in
      let stale = state.idle.filter(\.connection.isStale)
      state.idle.removeAll(where: \.connection.isStale)
      for kept in state.idle { kept.connection.isStale = true }
      state.count -= stale.count
      state.isSweeping = state.count > 1 && !state.isClosed
      return (stale, state.isSweeping)
    }
    if goesOn { sweepLater() }
    // The connections are closed here, outside of the lock.
    _ = stale
  }
}

// MARK: - Leasing connection

/// A context's connection to the file. It borrows a connection from the store for each call, and keeps it while it is
/// pinned to a snapshot. A nested call uses the connection of the outer call.
package final class LeasingConnection: StoreConnection {
  private let store: SQLiteStore
  // Each access ends before anything else is called, so accesses cannot overlap and need no check.
  @exclusivity(unchecked) private var lent: SQLiteConnection?
  @exclusivity(unchecked) package var trace: StatementTrace?

  init(_ store: SQLiteStore) { self.store = store }

  deinit {
    if let lent { release(lent, wasPinned: true) }
  }

  /// Runs a closure with a connection that no other caller uses in the meantime.
  @inline(__always) package func leased<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
    if let lent {
      if store.setup.handles.isSuspended.load(ordering: .relaxed) { throw StoreError.suspended(store.name) }
      return try body(lent)
    }
    let connection = try borrow()
    defer { release(connection, wasPinned: false) }
    do {
      return try body(connection)
    } catch {
      throw store.setup.watch.explanation(of: error, through: connection)
    }
  }

  private func borrow() throws(StoreError) -> SQLiteConnection {
    let connection = try store.take()
    if let trace { connection.trace = trace }
    lent = connection
    return connection
  }

  private func release(_ connection: SQLiteConnection, wasPinned: Bool) {
    if wasPinned { connection.unpin() }
    if trace != nil { connection.trace = nil }
    lent = nil
    store.giveBack(connection)
  }

  /// The work done by the connection that is lent next.
  package var statistics: StatementStatistics { (try? leased { $0.database.statistics }) ?? StatementStatistics() }

  // MARK: Pinning

  package func pin() throws {
    guard lent == nil else { return try leased { try $0.pin() } }
    let connection = try borrow()
    do {
      try connection.pin()
      // The snapshot is fixed now, and with it the model of its rows.
      try store.setup.watch.lookInSnapshot(through: connection)
    } catch {
      release(connection, wasPinned: true)
      throw error
    }
  }

  package func unpin() {
    if let lent { release(lent, wasPinned: true) }
  }

  /// Needs no connection as long as there are none: all connections and processes share the memory of the commit counter.
  package func hasExternalChanges() -> Bool {
    // What others commit during a suspension is noticed after it.
    if store.setup.handles.isSuspended.load(ordering: .relaxed) { return false }
    return store.setup.ledger.look() && !store.isMigratedByOthers
  }

  // MARK: Calls

  package func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    try leased { try $0.fetch(request, body) }
  }

  package func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    try leased { try $0.fetchKeys(request, body) }
  }

  package func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try leased { try $0.fetchValues(request, of: paths, body) }
  }

  package func fetchGroups(_ request: GroupRequest, _ body: ([StoredValue]) throws -> Void) throws {
    try leased { try $0.fetchGroups(request, body) }
  }

  package func plan(of request: StoreRequest) throws -> QueryPlan { try leased { try $0.plan(of: request) } }

  package func count(_ request: StoreRequest) throws -> Int { try leased { try $0.count(request) } }

  package func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    try leased { try $0.rows(of: entity, keys: keys, body) }
  }

  package func holders(
    of key: UniqueKey, values: [[StoredValue]], in model: Model, _ body: (_ number: Int, RowReader) throws -> Void
  ) throws {
    try leased { try $0.holders(of: key, values: values, in: model, body) }
  }

  package func scatteredMembers(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    try leased { try $0.scatteredMembers(of: relationship, owners: owners, body) }
  }

  package func members(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, RowReader) throws -> Void
  ) throws {
    try leased { try $0.members(of: relationship, owners: owners, body) }
  }

  package func memberKeys(
    of relationship: RelationshipNumber, owners: [Int64],
    _ body: (_ owner: Int64, _ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try leased { try $0.memberKeys(of: relationship, owners: owners, body) }
  }

  package func levels(
    of relationship: RelationshipNumber, below owners: [Int64], atMost limit: Int,
    _ body: (_ level: Int, RowReader) throws -> Void
  ) throws -> Int {
    try leased { try $0.levels(of: relationship, below: owners, atMost: limit, body) }
  }

  package func lastPlaces(
    of relationship: RelationshipNumber, owners: [Int64], _ body: (_ owner: Int64, _ place: Int64) throws -> Void
  ) throws {
    try leased { try $0.lastPlaces(of: relationship, owners: owners, body) }
  }

  package func memberPlaces(
    of relationship: RelationshipNumber, owner: Int64, members: [Int64],
    _ body: (_ member: Int64, _ place: Int64) throws -> Void
  ) throws {
    try leased { try $0.memberPlaces(of: relationship, owner: owner, members: members, body) }
  }

  @discardableResult package func save(_ request: SaveRequest) throws -> SaveOutcome {
    try leased { try $0.save(request) }
  }

  package func updateAll(_ update: BatchUpdate, in model: Model) throws -> BatchOutcome {
    try leased { try $0.updateAll(update, in: model) }
  }

  package func deleteAll(_ delete: BatchDelete, in model: Model) throws -> BatchOutcome {
    try leased { try $0.deleteAll(delete, in: model) }
  }

  package func check(_ body: (StoreFinding) throws -> Void) throws { try leased { try $0.check(body) } }
}
