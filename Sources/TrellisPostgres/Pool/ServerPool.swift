internal import CPQ
import Dispatch
import Foundation
import TrellisModel
import TrellisStorage

/// The connections of a store. Each is lent to one call at a time; callers wait in the order in which they came.
final class ServerPool: Sendable {
  private let name: String
  private let most: Int
  private let timeout: TimeInterval
  private let open: @Sendable (_ limit: TimeInterval) throws(StoreError) -> ServerConnection

  /// A connection that is not in use. `@unchecked` is sound because it is moved from one owner to the next under the lock.
  private struct Idle: @unchecked Sendable {
    let connection: ServerConnection
    let since: ContinuousClock.Instant
  }

  /// A thread that waits for a connection. `@unchecked` is sound because the fields are set before the semaphore is
  /// signalled, and read after it was waited for or under the pool's lock.
  private final class Waiter: @unchecked Sendable {
    let semaphore = DispatchSemaphore(value: 0)
    var connection: ServerConnection?
    let since = ContinuousClock.now
    /// Whether the waiter may open a connection in the place of one that is gone.
    var mayOpen = false
  }

  private struct State {
    var idle: [Idle] = []
    var count = 0
    var waiting: [Waiter] = []
    var isClosed = false
    /// The number of times that the connections were renewed.
    var epoch = 0
    var figures: PoolFigures

    init(limit: Int) { figures = PoolFigures(limit: limit) }

    mutating func nextWaiter() -> Waiter? {
      if waiting.isEmpty { return nil }
      let next = waiting.removeFirst()
      figures.addWait(since: next.since, gotMember: true)
      return next
    }
  }

  private let state: Locked<State>

  /// A connection that was not used for this long is closed, except for the last.
  private static let longestIdle: Duration = .seconds(60)

  /// - Parameter open: opens a connection within a number of seconds.
  init(
    name: String, most: Int, timeout: TimeInterval,
    open: @escaping @Sendable (_ limit: TimeInterval) throws(StoreError) -> ServerConnection
  ) {
    self.name = name
    self.most = most
    self.timeout = timeout
    self.open = open
    state = Locked(State(limit: most))
  }

  /// What the connections do.
  var figures: PoolFigures {
    state.withLock { state in
      var figures = state.figures
      figures.inUse = state.count - state.idle.count
      figures.waiting = state.waiting.count
      return figures
    }
  }

  private enum Answer {
    case found(Idle)
    case mayOpen
    case mustWait(Waiter)
    case closed
  }

  /// Lends a connection. A thread that has one already gets another beyond the limit, because it would wait for itself.
  ///
  /// - Parameter limit: the number of seconds that the caller waits, if it is less than the pool's timeout.
  /// - Throws: ``StoreError``: `busy` after the timeout, `closed`, or why no connection can be opened.
  func take(within limit: TimeInterval = .infinity) throws(StoreError) -> ServerConnection {
    let hasOne = trellis_pq_thread_leases(0) > 0
    let answer = state.withLock { state -> Answer in
      if state.isClosed { return .closed }
      if let found = state.idle.popLast() {
        state.figures.uses += 1
        return .found(found)
      }
      if state.count >= most && !hasOne {
        let waiter = Waiter()
        state.waiting.append(waiter)
        return .mustWait(waiter)
      }
      state.count += 1
      state.figures.uses += 1
      return .mayOpen
    }
    let connection: ServerConnection
    switch answer {
    case .found(let idle): connection = idle.connection
    case .mayOpen: connection = try openOne(within: limit)
    case .mustWait(let waiter): connection = try wait(waiter, within: limit)
    case .closed:
      throw StoreError(.closed, "The store \(name) is closed.", remedy: "Open it with a new container.")
    }
    _ = trellis_pq_thread_leases(1)
    return connection
  }

  private func openOne(within limit: TimeInterval) throws(StoreError) -> ServerConnection {
    let epoch = state.withLock { $0.epoch }
    do {
      let connection = try open(min(timeout, limit))
      connection.epoch = epoch
      state.withLock { $0.figures.made += 1 }
      if connection.isFirstOfTimeline {
        // What other connections lead to is left behind.
        renew()
        connection.epoch = state.withLock { $0.epoch }
      }
      return connection
    } catch {
      // Another thread may have more luck, and must not wait for a connection that never comes.
      leave()
      throw error
    }
  }

  private func wait(_ waiter: Waiter, within limit: TimeInterval) throws(StoreError) -> ServerConnection {
    let timeout = min(timeout, limit)
    if waiter.semaphore.wait(timeout: .now() + timeout) == .timedOut {
      let waitingOthers = state.withLock { state -> Int? in
        // The connection may have come at the last moment.
        guard let place = state.waiting.firstIndex(where: { $0 === waiter }) else { return nil }
        state.waiting.remove(at: place)
        state.figures.addWait(since: waiter.since, gotMember: false)
        return state.waiting.count
      }
      if let waitingOthers {
        throw StoreError(
          .busy,
          "All \(most) connections to \(name) were in use for \(timeout.formatted()) seconds, and \(waitingOthers) other "
            + "callers wait.", remedy: "Open the store with more connections, or do less in each block.")
      }
      waiter.semaphore.wait()
    }
    if let connection = waiter.connection { return connection }
    guard waiter.mayOpen else {
      throw StoreError(.closed, "The store \(name) is closed.", remedy: "Open it with a new container.")
    }
    return try openOne(within: limit)
  }

  /// Takes a connection back. One that is lost is closed.
  func giveBack(_ connection: ServerConnection) {
    _ = trellis_pq_thread_leases(-1)
    if connection.isLost { return leave() }
    let idle = Idle(connection: connection, since: .now)
    // Closed connections are released outside of the lock, because closing one writes to the network.
    let closed = state.withLock { state -> [Idle] in
      if state.isClosed || state.count > most || connection.epoch != state.epoch {
        state.count -= 1
        return [idle]
      }
      if let next = state.nextWaiter() {
        next.connection = idle.connection
        next.semaphore.signal()
        return []
      }
      state.idle.append(idle)
      return Self.sweep(&state)
    }
    _ = closed
  }

  /// Removes connections that were idle for long. The most recent ones are at the end.
  private static func sweep(_ state: inout State) -> [Idle] {
    var closed: [Idle] = []
    while state.idle.count > 1, let oldest = state.idle.first, oldest.since < .now - longestIdle {
      closed.append(state.idle.removeFirst())
      state.count -= 1
    }
    return closed
  }

  /// Lends a connection to a closure.
  ///
  /// - Parameter limit: the number of seconds that the caller waits for one, if it is less than the pool's timeout.
  func withConnection<Result>(
    within limit: TimeInterval = .infinity, _ body: (ServerConnection) throws -> Result
  ) throws -> Result {
    let connection = try take(within: limit)
    defer { giveBack(connection) }
    return try body(connection)
  }

  /// The number of times that a read is tried.
  private static let mostAttempts = 4

  /// Runs a read, again on a new connection if the server has closed an idle one, and again after a short time if a
  /// replica has ended it because it needed what was read.
  ///
  /// - Throws: ``ServerError``; what the closure throws.
  func reading<Result>(_ body: (ServerConnection) throws -> Result) throws -> Result {
    var attempt = 1
    while true {
      do {
        return try withConnection(body)
      } catch let error as ServerError {
        // A server that is silent on one connection is so on all.
        if error.isSilence && error.isLost { renew() }
        guard error.isTransient && attempt < Self.mostAttempts || error.isShutdown && attempt == 1 else { throw error }
        if error.isShutdown { renew() }
        if attempt > 1 { Thread.sleep(forTimeInterval: .random(in: 0.001...0.01) * Double(attempt)) }
        attempt += 1
      }
    }
  }

  /// Runs a read, and describes errors of the server in the terms of a store.
  ///
  /// - Parameter doing: what is done, as an infinitive.
  func reading<Result>(doing: String, _ body: (ServerConnection) throws -> Result) throws -> Result {
    do { return try reading(body) } catch let error as ServerError { throw error.storeError(name, doing: doing) }
  }

  /// Notes that a connection is gone. The next waiter may open one in its place.
  private func leave() {
    state.withLock { state in
      guard !state.isClosed, state.count <= most, let next = state.nextWaiter() else {
        state.count -= 1
        return
      }
      next.mayOpen = true
      next.semaphore.signal()
    }
  }

  /// Closes all connections, because the server was restarted or another one has taken its place: idle ones at once, the
  /// others when they are given back.
  func renew() {
    let closed = state.withLock { state -> [Idle] in
      state.epoch += 1
      let idle = state.idle
      state.count -= idle.count
      state.idle = []
      return idle
    }
    _ = closed
  }

  func close() {
    let closed = state.withLock { state -> [Idle] in
      state.isClosed = true
      for waiter in state.waiting { waiter.semaphore.signal() }
      state.waiting = []
      let idle = state.idle
      state.count -= idle.count
      state.idle = []
      return idle
    }
    _ = closed
  }
}
