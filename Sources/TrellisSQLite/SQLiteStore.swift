import Foundation
import TrellisSQL
import TrellisSchema
package import TrellisStorage

/// A SQLite file, and the connections to it that nobody uses at the moment.
package final class SQLiteStore: Store {
  package let name: String
  let setup: StoreSetup
  let ledger = CommitLedger()
  private let pool: Locked<Pool>

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
    pool = Locked(Pool(idle: [IdleDatabase(database)]))
    // Others may have it open; then it stays for the next time.
    if !options.isReadOnly, setup.folder?.isMarked == true { _ = try? collectExternalFiles() }
  }

  /// - Throws: ``StoreError``.
  package func connect() throws -> any StoreConnection {
    try SQLiteConnection(self, borrow())
  }

  func borrow() throws(StoreError) -> Database {
    let (waiting, isClosed) = pool.withLock { ($0.idle.popLast(), $0.isClosed) }
    if let waiting { return waiting.database }
    if isClosed {
      throw StoreError(.closed, "The store \(name) is closed.", remedy: "Open it with a new container.")
    }
    return try setup.connect()
  }

  func giveBack(_ database: Database) {
    let idleDatabase = IdleDatabase(database)
    let isClosed = pool.withLock { pool in
      if !pool.isClosed { pool.idle.append(idleDatabase) }
      return pool.isClosed
    }
    // SQLite leaves the log of a file that has moved, and whatever file has come in its place would be read with it.
    if isClosed && database.hasMoved { bringDown(database) }
  }

  private func bringDown(_ database: Database) {
    guard !setup.options.isReadOnly else { return }
    // What stays in the log is safe there; the next one to open the file reads it from it.
    try? database.execute("PRAGMA wal_checkpoint(TRUNCATE)", doing: "close the file")
  }

  /// Brings the log into the file. The last connection that goes takes the files beside it along.
  package func close() {
    let idle = pool.withLock { pool in
      defer { pool = Pool(isClosed: true) }
      return pool.idle
    }
    setup.folder?.close()
    if let database = idle.first?.database { bringDown(database) }
  }
}

/// The connections that nobody uses.
private struct Pool {
  var idle: [IdleDatabase] = []
  var isClosed = false
}

/// A connection between two users.
///
/// Sound because a database is either in the store's list, which a lock guards, or with the one who took it out of there.
private struct IdleDatabase: @unchecked Sendable {
  let database: Database

  init(_ database: Database) { self.database = database }
}
