internal import CSQLite
public import Foundation
import TrellisModel

/// Work on encrypted SQLite files that no program has open.
public enum EncryptedStore {
  /// Encrypts a store with another key, in place and in one transaction.
  ///
  /// ```swift
  /// try EncryptedStore.changeKey(at: url, from: { former }, to: { next })
  /// ```
  /// Programs must have closed the store, because those with the former key could not read it any more. If this process is killed,
  /// the store has either the former key or the next one; keep both until this has returned. Backups keep the key that they were
  /// made with.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - key: Returns the present key.
  ///   - next: Returns the next key. To make a store without a key, copy it with ``copy(at:key:to:key:)``.
  /// - Throws: ``StoreError``: `busy` if a program has the store open, `wrongKey`, `notEncrypted`, `noKey`, `noEncryption`, or
  ///   another code if the file cannot be read or written. Then the key is the former one.
  /// - Complexity: linear in the size of the file, which is written twice.
  public static func changeKey(
    at url: URL, from key: @escaping @Sendable () throws -> Data, to next: @escaping @Sendable () throws -> Data
  ) throws(StoreError) {
    let (key, next) = (FileKey(key), FileKey(next))
    try SQLiteLibrary.load(for: key)
    let path = try SQLiteStore.path(of: url)
    try FileHeader.checkStart(of: path, isEncrypted: true)
    let options = OpenOptions(key: key, durability: .durable, busyTimeoutMilliseconds: 1_000, isReadOnly: false)
    let database = try Database(path: path, options: options)
    try FileHeader.check(database)
    do throws(StoreError) {
      // Without a log, the journal takes back a change that a crash has interrupted. The lock is kept to the end.
      try database.execute(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; COMMIT",
        doing: "change the key")
    } catch {
      guard error.code == .busy else { throw error }
      throw StoreError(
        .busy, "The key of \(path) was not changed, because a program has the store open.",
        remedy: "Close the store in all programs, and try again.")
    }
    try database.check(
      try next.pass(for: path) { trellis_sqlite_rekey(database.handle, $0, $1) }, doing: "change the key")
    try database.execute("PRAGMA journal_mode = WAL", doing: "change the key")
  }

  /// Copies a store into a new file with another key, with a key, or without one.
  ///
  /// ```swift
  /// try EncryptedStore.copy(at: plain, key: nil, to: encrypted, key: { key })
  /// ```
  /// Keys, versions, order, external data and the former models are copied; the history is not. The store must have no open
  /// migration, and is only read. An existing file is refused.
  ///
  /// - Parameters:
  ///   - url: The file of the store.
  ///   - key: Returns its key. Nil if it is not encrypted.
  ///   - copy: The new file.
  ///   - copyKey: Returns the key of the new file. With nil it is plain text.
  /// - Throws: ``StoreError``. Then nothing is left of the copy.
  /// - Complexity: linear in the number of rows, and O(*n* log *n*) for the indexes.
  public static func copy(
    at url: URL, key: (@Sendable () throws -> Data)?, to copy: URL, key copyKey: (@Sendable () throws -> Data)?
  ) throws {
    func options(_ key: (@Sendable () throws -> Data)?, readOnly isReadOnly: Bool) -> OpenOptions {
      OpenOptions(
        key: key.map { FileKey($0) }, durability: .durable, busyTimeoutMilliseconds: 5_000, isReadOnly: isReadOnly,
        migration: .refused)
    }
    let (source, target) = (options(key, readOnly: true), options(copyKey, readOnly: false))
    let model = try SQLiteStore.storedModel(at: url, key: source.key)
    try SQLiteLibrary.load(for: target.key)
    let path = try SQLiteStore.path(of: copy)
    // The check and the creation are one step, so nobody's file is written to or removed.
    switch PlatformFiles.create(path) {
    case .created: break
    case .exists:
      throw StoreError(
        .fileExists, "\(path) exists already.", remedy: "Choose another name for the copy, or remove the file.")
    case .failed(let problem):
      throw StoreError(
        .cannotOpen, "\(path) cannot be made: \(problem.reason).",
        remedy: "Check that the folder exists and may be written to.")
    }
    do {
      let from = try SQLiteStore(url: url, model: model, options: source)
      defer { from.close() }
      let into = try SQLiteStore(url: copy, model: model, options: target)
      defer { into.close() }
      let connection = LeasingConnection(from)
      try connection.pin()
      defer { connection.unpin() }
      try into.load(try connection.lineage()) { writer in try connection.transfer(model, to: writer) }
    } catch {
      for end in ["", "-journal", "-wal", "-shm", ".external"] { PlatformFiles.remove(path + end) }
      throw error
    }
  }
}
