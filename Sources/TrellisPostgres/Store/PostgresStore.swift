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
  let watcher: ChangeWatcher
  /// The number of saves with a history.
  private let saves = Atomic(0)
  /// Distinguishes the saves of this object from those of other processes and containers.
  package let origin: Int64

  init(
    _ setup: PostgresSetup, _ pool: ServerPool, _ generation: StoreGeneration, refusalOfWrites: StoreError?,
    _ history: ServerHistory?, origin: Int64, transaction: Int64
  ) {
    self.setup = setup
    self.pool = pool
    self.generation = generation
    self.refusalOfWrites = refusalOfWrites
    self.history = history
    self.origin = origin
    watcher = ChangeWatcher(setup, history, origin: origin, from: transaction)
    name = setup.name
  }

  package func close() {
    watcher.close()
    pool.close()
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
      try? HistoryPurge(pool, setup.layout.names, history).deleteOld()
    }
  }

  package var concurrentWorkers: Int { setup.options.connections }

  // MARK: Keys

  /// Few keys, because each machine that starts takes some, and JavaScript has integers up to 2⁵³.
  package var keyBlock: Int64 { 65_536 }

  package func reserveKeys(_ count: Int64) throws -> Range<Int64> {
    let count = max(0, count)
    return try pool.reading(doing: "reserve keys") { connection in
      do {
        return try self.watcher.countingTransaction { try self.reserveKeys(count, connection) }
      } catch let error as ServerError where error.isRefusalOfWrites {
        // Nothing can be saved by this role, or to this server, so its keys need not be reserved.
        let next = try self.nextKey(connection, "SELECT \"next\" FROM \(self.setup.layout.names.keys)")
        return next..<(next + min(count, .max - next))
      }
    }
  }

  private func reserveKeys(_ count: Int64, _ connection: ServerConnection) throws -> Range<Int64> {
    var parameters = ServerParameters()
    parameters.add(count)
    let next = try nextKey(
      connection, "UPDATE \(setup.layout.names.keys) SET \"next\" = \"next\" + $1 RETURNING \"next\"", parameters)
    return (next - count)..<next
  }

  private func nextKey(
    _ connection: ServerConnection, _ text: String, _ parameters: ServerParameters = ServerParameters()
  ) throws -> Int64 {
    let result = try connection.run(ServerStatement(text, parameters))
    guard result.count == 1, result.integer(0, 0) > 0 else {
      throw StoreError(
        .damaged, "\(name) does not say which keys are free.", remedy: "Restore the database from a backup.")
    }
    return result.integer(0, 0)
  }

  package func returnKeys(_ unused: Range<Int64>) {
    guard !unused.isEmpty else { return }
    var parameters = ServerParameters()
    parameters.add(unused.lowerBound)
    parameters.add(unused.upperBound)
    let statement = ServerStatement(
      "UPDATE \(setup.layout.names.keys) SET \"next\" = $1 WHERE \"next\" = $2", parameters)
    // If this fails, unused keys are lost, and nothing else.
    _ = try? pool.withConnection { try $0.run(statement) }
  }
}
