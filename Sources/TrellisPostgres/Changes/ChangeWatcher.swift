internal import CPQ
import Dispatch
import Foundation
import Synchronization
import TrellisModel
import TrellisStorage

/// Tells other programs of saves, and hears of theirs, on a connection beside those of the calls.
///
/// A notice is only a doorbell: it is sent after a save, and not in its transaction, where the server would let savers
/// wait for each other. Several saves ring once. The server is asked as well now and then, because a notice may be lost
/// with the connection, and programs other than Trellis ring no bell.
///
/// `@unchecked` is sound because the connection and what belongs to it are used on one serial queue only, and the rest is
/// atomic.
final class ChangeWatcher: @unchecked Sendable {
  private let setup: PostgresSetup
  private let history: ServerHistory?
  /// The replica that must have replayed the saves of others before it answers. Nil without a replica.
  private let replica: ReadReplica?
  private let origin: Int64
  private let channel: String
  /// Whether the connection can wait for notices, which one of a pool for transactions cannot.
  private let listens: Bool
  private let hasNews = Atomic(false)
  /// Whether a program that is not Trellis has told of changes, which no history has.
  private let hasUnknownNews = Atomic(false)
  private let isRinging = Atomic(false)
  private let isStarted = Atomic(false)
  private let isClosed = Atomic(false)
  /// The transactions of this program since the store was opened.
  private let ownTransactions = Atomic(0)
  private let queue = DispatchQueue(label: "Trellis.ChangeWatcher", qos: .utility)

  // Used on the queue only.
  private var connection: ServerConnection?
  private var source: (any DispatchSourceRead)?
  private var timer: (any DispatchSourceTimer)?
  /// The number of the next transaction when the store was opened.
  private let firstTransaction: Int64
  /// The number of transactions that were not of this program, when the server was last asked.
  private var lastOthers: Int64 = 0
  /// The number of the newest transaction of the history that was settled, when the server was last asked.
  private var lastSettled: Int64 = 0
  private var wasConnected = false
  /// Whether the server has not been asked since the connection was lost. It may be another one, with other numbers.
  private var isAnew = false

  /// The time between two notices, and between two questions.
  private static let ringInterval: DispatchTimeInterval = .milliseconds(50)
  private static let askInterval: DispatchTimeInterval = .seconds(2)

  /// - Parameter start: the number of the next transaction when the store was opened.
  init(
    _ setup: PostgresSetup, _ history: ServerHistory?, _ replica: ReadReplica?, origin: Int64, from start: Int64
  ) {
    self.setup = setup
    self.history = history
    self.replica = replica
    firstTransaction = start
    self.origin = origin
    listens = !setup.options.usesTransactionPool
    channel = SQLNames(qualifier: "", limit: 63, reserved: []).fitted("trellis.\(setup.options.schema)")
  }

  /// Whether others have saved, or may have, since the last call. The first call begins to listen.
  func takeNews() -> Bool {
    if !isStarted.exchange(true, ordering: .acquiringAndReleasing) { queue.async { self.start() } }
    return hasNews.exchange(false, ordering: .acquiringAndReleasing)
  }

  /// Whether a program other than Trellis has told of changes since the last call.
  func takeUnknownNews() -> Bool { hasUnknownNews.exchange(false, ordering: .acquiringAndReleasing) }

  /// Runs a transaction of this program. It is counted before the server gives it a number, so that it is never taken for
  /// one of others. One that fails may have got none.
  func countingTransaction<Result>(_ body: () throws -> Result) throws -> Result {
    ownTransactions.add(1, ordering: .sequentiallyConsistent)
    do {
      return try body()
    } catch {
      ownTransactions.subtract(1, ordering: .sequentiallyConsistent)
      throw error
    }
  }

  /// Tells others of a save.
  func didSave() {
    guard !isRinging.exchange(true, ordering: .acquiringAndReleasing) else { return }
    queue.asyncAfter(deadline: .now() + Self.ringInterval) {
      self.isRinging.store(false, ordering: .releasing)
      self.ring()
    }
  }

  func close() {
    isClosed.store(true, ordering: .releasing)
    queue.sync {
      timer?.cancel()
      timer = nil
      disconnect()
    }
  }

  /// Whether the connection waits for notices.
  var isListening: Bool { queue.sync { source != nil } }

  // MARK: On the queue

  private func start() {
    if isClosed.load(ordering: .acquiring) { return }
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now(), repeating: Self.askInterval, leeway: .milliseconds(200))
    timer.setEventHandler { [weak self] in self?.ask() }
    timer.resume()
    self.timer = timer
  }

  private func connected() -> ServerConnection? {
    if let connection, !connection.isLost { return connection }
    disconnect()
    guard !isClosed.load(ordering: .acquiring), let connection = try? setup.connect() else { return nil }
    self.connection = connection
    // Notices were lost while there was no connection.
    if wasConnected {
      isAnew = true
      hasUnknownNews.store(true, ordering: .releasing)
      hasNews.store(true, ordering: .releasing)
    }
    wasConnected = true
    return connection
  }

  private func listen(_ connection: ServerConnection) {
    guard (try? connection.run(ServerStatement("LISTEN \(SQLName.quoted(channel))"))) != nil else { return }
    let source = DispatchSource.makeReadSource(fileDescriptor: connection.socket, queue: queue)
    source.setEventHandler { [weak self] in self?.hear() }
    source.resume()
    self.source = source
  }

  private func disconnect() {
    source?.cancel()
    source = nil
    connection = nil
  }

  private func hear() {
    guard let connection else { return }
    let news = connection.notices().filter { $0 != String(origin) }
    // Before anybody reads because of them.
    if !news.isEmpty, let replica {
      replica.require(try? connection.run(ServerStatement("SELECT \(ReadReplica.position)")))
    }
    for notice in news {
      // Trellis sends a number.
      if Int64(notice) == nil { hasUnknownNews.store(true, ordering: .releasing) }
      hasNews.store(true, ordering: .releasing)
    }
    if connection.isLost { disconnect() }
  }

  private func ring() {
    guard let connection = connected() else { return }
    var parameters = ServerParameters()
    parameters.add(channel)
    parameters.add(String(origin))
    _ = try? countingTransaction { try connection.run(ServerStatement("SELECT pg_notify($1, $2)", parameters)) }
    hear()
  }

  /// Asks for the number of the next transaction.
  static let question = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"

  /// Asks whether there were more transactions than those of this program.
  private func ask() {
    guard let connection = connected() else { return }
    // A replica has no notices. It may be promoted, so it is asked again.
    if listens, source == nil, isPrimary(connection) { listen(connection) }
    guard let result = try? connection.run(question), result.count == 1 else { return }
    let own = Int64(ownTransactions.load(ordering: .sequentiallyConsistent))
    // Before anybody reads because of what others have saved.
    if !result.isNull(0, 2) { replica?.require(result, column: 2) }
    let others = result.integer(0, 0) - firstTransaction - own
    if others > lastOthers || isAnew {
      lastOthers = others
      hasNews.store(true, ordering: .releasing)
    }
    // A transaction of the history may be settled long after its notice came.
    if history != nil, result.integer(0, 1) > lastSettled || isAnew {
      lastSettled = result.integer(0, 1)
      hasNews.store(true, ordering: .releasing)
    }
    isAnew = false
    hear()
  }

  private func isPrimary(_ connection: ServerConnection) -> Bool {
    let answer = try? connection.run(.isInRecovery)
    return answer?.count == 1 && answer?.integer(0, 0) == 0
  }

  private var question: ServerStatement {
    var parameters = ServerParameters()
    if let history { parameters.add(history.base) }
    let settled =
      history == nil
      ? "NULL::bigint"
      : "(SELECT max(\"number\") FROM \(setup.layout.names.history) WHERE \(ServerHistory.isSettled))"
    let position = replica == nil ? "NULL::bigint" : ReadReplica.position
    return ServerStatement("\(Self.question), \(settled), \(position)", parameters)
  }
}
