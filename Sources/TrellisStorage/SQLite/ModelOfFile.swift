internal import CSQLite
package import Foundation
package import TrellisModel

extension SQLiteStore {
  /// The model that a file carries. Nothing is written to the file, nor beside it.
  ///
  /// - Throws: ``StoreError`` if the file is no store of Trellis, or one that this version cannot read.
  package static func storedModel(at url: URL) throws(StoreError) -> Model {
    try SQLiteLibrary.load()
    let path = try path(of: url)
    let start: [UInt8]
    do throws(FileProblem) { start = try PlatformFiles.start(of: path, FileHeader.length) } catch {
      throw StoreError(
        .cannotOpen, "\(path) cannot be opened: \(error.reason).", remedy: "Give the store the path of a file.")
    }
    try FileHeader.check(start, path: path)
    let options = OpenOptions(durability: .durable, busyTimeoutMilliseconds: 5_000, isReadOnly: true)
    // A log that another program has left is read, but stays.
    let hasLog = PlatformFiles.exists(path + "-wal")
    let database = try Database(path: path, options: options, isImmutable: !hasLog)
    if hasLog { _ = trellis_sqlite3_db_config(database.handle, TRELLIS_SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
    return try Metadata.storedModel(in: database)
  }
}
