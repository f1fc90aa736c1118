import Dispatch
import Synchronization
import TrellisStorage

/// A schema of a PostgreSQL database, and the connections to it.
package final class PostgresStore: Store {
  package let name: String
  let setup: PostgresSetup
  let pool: ServerPool
  let generation: StoreGeneration
  /// The reason why the store may only be read. Nil if it may be written.
  let refusalOfWrites: StoreError?
  /// The history. Nil if the model has none.
  let history: ServerHistory?
  /// The functions that compute as evaluation in memory does. Nil if the store has none.
  let functions: ServerFunctions?
  /// What the store keeps beside the rows.
  let features: StoreFeatureParts
  let watcher: ChangeWatcher
  /// The replica that answers reads of contexts which ask for it. Nil without a replica.
  let replica: ReadReplica?
  private let keys: ServerKeys
  /// Whether the server was written to, since it has last refused to be.
  private let wasWritten = Atomic(false)
  /// The number of saves with a history.
  private let saves = Atomic(0)
  /// Distinguishes the saves of this object from those of other processes and containers.
  package let origin: Int64

  init(
    _ setup: PostgresSetup, _ pool: ServerPool, _ keys: ServerKeys, _ generation: StoreGeneration,
    refusalOfWrites: StoreError?, _ history: ServerHistory?, _ functions: ServerFunctions?,
    _ features: StoreFeatureParts, _ replica: ReadReplica?,
    origin: Int64, transaction: Int64
  ) {
    self.setup = setup
    self.pool = pool
    self.keys = keys
    self.generation = generation
    self.refusalOfWrites = refusalOfWrites
    self.history = history
    self.functions = functions
    self.features = features
    self.origin = origin
    self.replica = replica
    watcher = ChangeWatcher(setup, history, replica, origin: origin, from: transaction)
    name = setup.name
  }

  /// A store whose statements read other rows than those of the tables. It needs nothing that the present rows are found by.
  init(_ store: PostgresStore, _ setup: PostgresSetup) {
    self.setup = setup
    pool = store.pool
    keys = store.keys
    generation = store.generation
    refusalOfWrites = store.refusalOfWrites
    history = store.history
    functions = store.functions
    features = StoreFeatureParts()
    origin = store.origin
    replica = nil
    watcher = store.watcher
    name = store.name
  }

  package func close() {
    watcher.close()
    pool.close()
    replica?.pool.close()
  }

  /// The number of saves after which old entries of the history are looked for.
  private static let purgeInterval = 64

  /// Tells others of a save, and deletes what the history keeps no longer, outside of the save.
  func didSave() {
    watcher.didSave()
    guard let history, history.limit != nil else { return }
    guard saves.add(1, ordering: .relaxed).newValue % Self.purgeInterval == 1 else { return }
    DispatchQueue.global(qos: .utility).async { [weak self] in
      guard let self else { return }
      // Entries that cannot be deleted now are deleted next time.
      try? HistoryPurge(pool, setup, history).deleteOld()
    }
  }

  package var concurrentWorkers: Int { setup.options.connections }

  // MARK: Keys

  /// Few keys, because each machine that starts takes some, and JavaScript has integers up to 2⁵³.
  package var keyBlock: Int64 { 65_536 }

  /// - Throws: ``StoreError`` with the code `readOnly` if the server can only be read, and `cannotOpen` if the role may
  ///   not write.
  package func reserveKeys(_ count: Int64) throws -> Range<Int64> {
    // Objects that are never saved have keys as well.
    if setup.options.isReadOnly { return try pool.reading { try keys.free(max(0, count), $0) } }
    var hasRenewed = false
    while true {
      do {
        return try pool.reading { connection in
          let keys = try watcher.countingTransaction { try self.keys.reserve(max(0, count), connection) }
          didWrite()
          return keys
        }
      } catch let error as ServerError {
        guard !hasRenewed, leavesReadOnlyServer(after: error) else {
          throw error.storeError(name, doing: "save new objects")
        }
        hasRenewed = true
      }
    }
  }

  package func returnKeys(_ unused: Range<Int64>) {
    guard !unused.isEmpty, !setup.options.isReadOnly else { return }
    // If this fails, unused keys are lost, and nothing else.
    _ = try? pool.withConnection { try keys.giveBack(unused, $0) }
  }

  // MARK: Servers that become read-only

  /// Notes that something was written to the server.
  func didWrite() { wasWritten.store(true, ordering: .relaxed) }

  /// Whether an attempt to write should be made again on a new connection: the server could be written to before, so
  /// another one may have taken its place.
  func leavesReadOnlyServer(after error: ServerError) -> Bool {
    guard error.isOfReadOnlyServer, wasWritten.exchange(false, ordering: .relaxed) else { return false }
    pool.renew()
    return true
  }
}
