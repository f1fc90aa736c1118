import Dispatch
import Foundation
import TrellisSQL
import TrellisSchema
package import TrellisStorage

/// A SQLite file and its connections.
package final class SQLiteStore: Store {
  package let name: String
  let setup: StoreSetup
  let pool: ConnectionPool

  init(url: URL, model: Model, options: OpenOptions) throws {
    try SQLiteLibrary.load()
    guard url.isFileURL else {
      throw StoreError(
        .cannotOpen, "\(url.absoluteString) is no file.", remedy: "Give the store a file URL, as URL(filePath:) makes.")
    }
    let path = url.withUnsafeFileSystemRepresentation { $0.map { String(cString: $0) } } ?? url.path
    name = path
    let (setup, database) = try StoreOpening(path: path, model: model, options: options).open()
    self.setup = setup
    pool = ConnectionPool(
      SQLiteConnection(setup, database, isFirst: true), name: path, most: options.mostConnections,
      sweepInterval: .milliseconds(Int(options.idleSeconds * 1_000)), open: setup.connect)
    // Other programs may have the file open. Then the collection is left to the next time.
    if !setup.options.isReadOnly, setup.folder?.isMarked == true { _ = try? collectExternalFiles() }
  }

  /// Opens no connection: the result borrows one for each call.
  package func connect() throws -> any StoreConnection { LeasingConnection(self) }

  /// A connection for one or several related calls. The caller returns it.
  func take() throws(StoreError) -> SQLiteConnection {
    let connection = try pool.take()
    do throws(StoreError) {
      try setup.watch.look(through: connection)
    } catch {
      giveBack(connection)
      throw error
    }
    return connection
  }

  func giveBack(_ connection: SQLiteConnection) {
    let isClosed = pool.giveBack(connection)
    // SQLite leaves the log of a moved file, and another file that has replaced it would be read with this log.
    if isClosed && connection.database.hasMoved { bringDown(connection.database) }
  }

  private func bringDown(_ database: Database) {
    guard !setup.options.isReadOnly else { return }
    // The data in a remaining log is safe: the next connection that opens the file reads it.
    try? database.execute("PRAGMA wal_checkpoint(TRUNCATE)", doing: "close the file")
  }

  /// Checkpoints the log into the file. The last connection to close removes the files beside it.
  package func close() {
    // The counter's memory is freed with the last connection.
    setup.ledger.close()
    let idle = pool.close()
    setup.folder?.close()
    if let database = idle.first?.database { bringDown(database) }
  }
}
