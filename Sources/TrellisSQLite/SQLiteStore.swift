import Dispatch
import Foundation
import TrellisSQL
import TrellisSchema
package import TrellisStorage

/// A SQLite file, and the connections to it.
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
    // Others may have it open; then it stays for the next time.
    if !setup.options.isReadOnly, setup.folder?.isMarked == true { _ = try? collectExternalFiles() }
  }

  /// Opens nothing: what it returns borrows a connection for each of its calls.
  package func connect() throws -> any StoreConnection { LeasingConnection(self) }

  /// A connection for one call, or for some that belong together. The caller gives it back.
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
    // SQLite leaves the log of a file that has moved, and whatever file has come in its place would be read with it.
    if isClosed && connection.database.hasMoved { bringDown(connection.database) }
  }

  private func bringDown(_ database: Database) {
    guard !setup.options.isReadOnly else { return }
    // What stays in the log is safe there; the next one to open the file reads it from it.
    try? database.execute("PRAGMA wal_checkpoint(TRUNCATE)", doing: "close the file")
  }

  /// Brings the log into the file. The last connection that goes takes the files beside it along.
  package func close() {
    // The memory of the counter goes with the last connection.
    setup.ledger.close()
    let idle = pool.close()
    setup.folder?.close()
    if let database = idle.first?.database { bringDown(database) }
  }
}
