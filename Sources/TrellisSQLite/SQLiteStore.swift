import Foundation
import Synchronization
import TrellisSQL
import TrellisSchema
package import TrellisStorage

/// A SQLite file, and the connections to it that nobody uses at the moment.
package final class SQLiteStore: Store {
  package let name: String
  let setup: StoreSetup
  private let idle: Mutex<[IdleDatabase]>

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
    idle = Mutex([IdleDatabase(database)])
  }

  /// - Throws: ``StoreError``.
  package func connect() throws -> any StoreConnection {
    try SQLiteConnection(self, borrow())
  }

  func borrow() throws(StoreError) -> Database {
    if let waiting = idle.withLock({ $0.popLast() }) { return waiting.database }
    return try setup.connect()
  }

  func giveBack(_ database: Database) {
    let idleDatabase = IdleDatabase(database)
    idle.withLock { $0.append(idleDatabase) }
  }
}

/// A connection between two users.
///
/// Sound because a database is either in the store's list, which a lock guards, or with the one who took it out of there.
private struct IdleDatabase: @unchecked Sendable {
  let database: Database

  init(_ database: Database) { self.database = database }
}
