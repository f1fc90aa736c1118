import Dispatch
import Synchronization
import TrellisModel
import TrellisStorage

/// The save notices that a context has received from other contexts and not merged yet.
final class ContextInbox: Sendable {
  /// The place among the inboxes of the hub; nil after it was closed. Sound because only the hub uses it, under its lock.
  fileprivate nonisolated(unsafe) var place: Int?
  private let notices = Locked<[SaveNotice]>([])
  /// Whether there are notices, readable without a lock.
  private let isFull = Atomic<Bool>(false)
  /// The streams that are woken when a notice arrives.
  private let bells = Locked<[(number: Int, bell: AsyncStream<Void>.Continuation)]>([])
  /// The inbox of the parent context, whose streams are woken as well.
  private let parent: ContextInbox?

  init(parent: ContextInbox?) { self.parent = parent }

  func put(_ notice: SaveNotice) {
    notices.withLock { waiting in
      // A second notice of unknown changes adds nothing to the first.
      if notice.isUnknown && waiting.last?.isUnknown == true { return }
      waiting.append(notice)
    }
    isFull.store(true, ordering: .releasing)
    ring()
  }

  #if DEBUG
    var isEmpty: Bool { !isFull.load(ordering: .acquiring) }
  #endif

  func takeAll() -> [SaveNotice] {
    guard isFull.load(ordering: .acquiring) else { return [] }
    return notices.withLock { waiting in
      isFull.store(false, ordering: .releasing)
      defer { waiting = [] }
      return waiting
    }
  }

  // MARK: Waking

  /// Wakes all streams.
  func ring() {
    let all = bells.withLock { $0.map(\.bell) }
    for bell in all { bell.yield() }
    parent?.ring()
  }

  /// A stream with one element for all notices that arrived since the last element.
  func listen() -> AsyncStream<Void> {
    let (stream, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = bells.withLock { bells in
      let number = (bells.last?.number ?? 0) + 1
      bells.append((number, bell))
      return number
    }
    bell.onTermination = { [weak self] _ in self?.bells.withLock { $0.removeAll { $0.number == number } } }
    return stream
  }

  /// Ends all streams; no more notices arrive.
  func finish() {
    let all = bells.withLock { $0.map(\.bell) }
    for bell in all { bell.finish() }
  }
}

/// Delivers save notices to the contexts of one container and to its listeners.
final class ChangeHub: Sendable {
  typealias Listener = @Sendable (SaveNotice) -> Void

  private struct State {
    /// Each knows its place, so that closing one of many contexts does not look at the others.
    var inboxes: [ContextInbox] = []
    var listeners: [(number: Int, hear: Listener, end: @Sendable () -> Void)] = []
    var lastNumber = 0
  }

  private let state = Locked(State())

  /// - Parameter parent: The inbox of the parent context, which may merge on behalf of the new one.
  func makeInbox(below parent: ContextInbox?) -> ContextInbox {
    let inbox = ContextInbox(parent: parent)
    state.withLock { state in
      inbox.place = state.inboxes.count
      state.inboxes.append(inbox)
    }
    return inbox
  }

  func close(_ inbox: ContextInbox) {
    state.withLock { state in
      guard let place = inbox.place, let last = state.inboxes.popLast() else { return }
      inbox.place = nil
      guard last !== inbox else { return }
      last.place = place
      state.inboxes[place] = last
    }
    inbox.finish()
  }

  /// - Parameter end: called when no more notices arrive.
  /// - Returns: the number by which the listener is removed.
  func add(_ listener: @escaping Listener, end: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.listeners.append((state.lastNumber, listener, end))
      return state.lastNumber
    }
  }

  /// Ends all listeners; no more notices arrive.
  func close() {
    let ends = state.withLock { $0.listeners.map(\.end) }
    for end in ends { end() }
  }

  func removeListener(_ number: Int) {
    state.withLock { $0.listeners.removeAll { $0.number == number } }
  }

  func hasAudience(beside inbox: ContextInbox) -> Bool {
    state.withLock { state in
      let own = inbox.place == nil ? 0 : 1
      return !state.listeners.isEmpty || state.inboxes.count > own
    }
  }

  /// - Parameter sender: The inbox of the context that saved; nil if no context of this container did.
  func post(_ notice: SaveNotice, from sender: ContextInbox?) {
    let (others, listeners) = state.withLock { state in
      (state.inboxes.filter { $0 !== sender }, state.listeners.map(\.hear))
    }
    for inbox in others { inbox.put(notice) }
    for hear in listeners { hear(notice) }
  }
}

// MARK: - External change monitor

/// Detects writes to the store from outside the container, such as by another process.
///
/// Every use of a context checks the store, which costs about as much as reading a number. While anything waits for
/// external changes, a timer also checks the store ten times a second.
final class ExternalChangeMonitor: Sendable {
  private struct State {
    var watchers = 0
    var isClosed = false
    var timer: (any DispatchSourceTimer)?
  }

  private let hub: ChangeHub
  private let connect: @Sendable () throws -> any StoreConnection
  /// Tells what others have changed; nil if the store does not record it.
  private let news: HistoryFollower?
  private let state = Locked(State())
  private let queue = DispatchQueue(label: "Trellis.ExternalChangeMonitor", qos: .utility)

  init(
    _ hub: ChangeHub, following news: HistoryFollower?,
    connect: @escaping @Sendable () throws -> any StoreConnection
  ) {
    self.hub = hub
    self.news = news
    self.connect = connect
  }

  /// Checks the store, and posts notices to all contexts if there are external changes.
  func look(through connection: (any StoreConnection)?) {
    guard let connection, connection.hasExternalChanges() else { return }
    guard let news else { return hub.post(.ofExternalChanges, from: nil) }
    news.forEachNew { hub.post($0, from: nil) }
    if connection.hasUnknownChanges() { hub.post(.ofExternalChanges, from: nil) }
  }

  /// Checks the store periodically until the returned watch is released or ended.
  func watch() -> ExternalChangeWatch {
    state.withLock { state in
      state.watchers += 1
      if state.timer == nil && !state.isClosed { state.timer = makeTimer() }
    }
    return ExternalChangeWatch(self)
  }

  /// Whether the timer is running.
  var isWatching: Bool { state.withLock { $0.timer != nil } }

  /// Stops the timer for good, whatever still waits.
  func close() {
    let timer = state.withLock { state in
      state.isClosed = true
      defer { state.timer = nil }
      return state.timer
    }
    timer?.cancel()
  }

  fileprivate func endWatch() {
    let timer = state.withLock { state in
      state.watchers -= 1
      defer { if state.watchers == 0 { state.timer = nil } }
      return state.watchers == 0 ? state.timer : nil
    }
    timer?.cancel()
  }

  private func makeTimer() -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    let eye = Eye()
    timer.schedule(deadline: .now() + .milliseconds(100), repeating: .milliseconds(100), leeway: .milliseconds(50))
    timer.setEventHandler { [weak self] in
      guard let self else { return }
      if eye.connection == nil { eye.connection = try? connect() }
      look(through: eye.connection)
    }
    timer.resume()
    return timer
  }
}

/// The connection that the timer uses. Sound because only the timer's handler accesses it, which runs on one queue.
private final class Eye: @unchecked Sendable {
  var connection: (any StoreConnection)?
}

/// Keeps the monitor checking the store for as long as it is held.
final class ExternalChangeWatch: Sendable {
  private let externalChanges: ExternalChangeMonitor
  private let isOver = Atomic(false)

  init(_ externalChanges: ExternalChangeMonitor) { self.externalChanges = externalChanges }

  deinit { end() }

  func end() {
    if !isOver.exchange(true, ordering: .acquiringAndReleasing) { externalChanges.endWatch() }
  }
}

// MARK: - Save notice

/// The changes of one save, as delivered to all other contexts.
struct SaveNotice: Sendable {
  struct Row: Sendable {
    let key: Int64
    let entity: Int
    /// The changed properties, including to-many relationships.
    var properties = ColumnMask(bits: 0)
  }

  var author: String?
  /// Whether the store was written from outside the container, so that the changes are unknown.
  var isUnknown = false
  var inserted: [Row] = []
  /// Rows with changed values, and objects of which only to-many relationships changed.
  var updated: [Row] = []
  var relinked: [Row] = []
  var deleted: [Row] = []
  /// Rows that the store deleted in cascades.
  var cascaded: [Int64] = []
  /// Objects that are or were the partners of changed objects, so that their members may have changed.
  var referred: [Int64] = []
  /// Whether members of objects changed that are not listed here.
  var movesMembers = false
  /// One-way references that the store may have cleared, in any row.
  var cleared: [RelationshipNumber] = []

  static let ofExternalChanges = {
    var notice = SaveNotice()
    notice.isUnknown = true
    return notice
  }()

  /// The number of changed objects.
  var count: Int { inserted.count + updated.count + relinked.count + deleted.count + cascaded.count }
}
