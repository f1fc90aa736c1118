internal import CSQLite
package import Foundation
package import TrellisModel

extension SQLiteStore {
  /// The model that a file carries. Nothing is written to the file, nor beside it.
  ///
  /// - Parameter key: the key of an encrypted file.
  /// - Throws: ``StoreError`` if the file is no store of Trellis, or one that this version cannot read.
  package static func storedModel(at url: URL, key: FileKey? = nil) throws(StoreError) -> Model {
    try SQLiteLibrary.load(for: key)
    let path = try path(of: url)
    try FileHeader.checkStart(of: path, isEncrypted: key != nil)
    let options = OpenOptions(key: key, durability: .durable, busyTimeoutMilliseconds: 5_000, isReadOnly: true)
    // A log that another program has left is read, but stays.
    let hasLog = PlatformFiles.exists(path + "-wal")
    let database = try Database(path: path, options: options, access: hasLog ? .reading : .readingAlone)
    if hasLog { _ = trellis_sqlite3_db_config(database.handle, TRELLIS_SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
    try FileHeader.check(database)
    return try Metadata.storedModel(in: database)
  }
}
