internal import CSQLite
import Dispatch
public import Foundation
import TrellisModel

extension StoreConfiguration {
  /// A store in a SQLite file.
  ///
  /// ```swift
  /// let container = try PersistentContainer(model: .diary, store: .sqlite(at: url))
  /// ```
  /// A missing or empty file becomes a new store that only its owner can read. A file that was made with a former
  /// version of the model is migrated. A file of another model, of a newer version of the model, of a newer Trellis or
  /// of another program, or a damaged file, is refused and not changed.
  ///
  /// - Parameters:
  ///   - url: The file. Its folder must exist. SQLite keeps two more files beside it while it is open.
  ///   - durability: What a save guarantees when it returns.
  ///   - busyTimeout: The number of seconds that a save waits for another process or context that is saving.
  ///   - connections: The maximum number of open connections to the file, at least one. Contexts borrow one for each
  ///     call, so this limits how many contexts read at the same time, and not how many there are.
  ///   - readOnly: Whether the file is only read. Then it must exist, and saves fail.
  ///   - filesAbove: The maximum number of bytes that the value of an attribute with `externalStorage` has in the
  ///     row. A larger value is in a file of its own, in the folder beside the store whose name ends in `.external`.
  ///     A number below 0 counts as 0. The limit applies to values saved from now on, and may differ each time.
  ///   - migration: What happens to a file that was made with a former version of the model.
  ///   - protection: When the files can be read on a device that is locked, on iOS and the systems made from it. Nil for what
  ///     the system does otherwise.
  ///   - isInBackup: Whether the files are part of a device's backup, on Apple's systems.
  ///   - key: Returns the key of an encrypted file, as bytes. It is called each time that a connection opens, from any thread, and
  ///     nothing of it is kept. The library must be one with encryption, see ``SQLiteLibrary``. Then `filesAbove` has no effect:
  ///     all data is in the file.
  /// - Throws: opening throws ``StoreError``: `dataLoss` or `unanswered` if the model does not say what becomes of the
  ///   stored data, `newerModel` if the file has a newer version of the model. With a key: `wrongKey`, `notEncrypted`, `noKey` if
  ///   the closure throws or returns nothing, `noEncryption` if the library has none.
  public static func sqlite(
    at url: URL, durability: Durability = .durable, busyTimeout: TimeInterval = 5, readOnly: Bool = false,
    filesAbove: Int = 65_536, connections: Int = 8, migration: MigrationPolicy = .automatic,
    protection: StoreFileProtection? = nil, isInBackup: Bool = true,
    key: (@Sendable () throws -> Data)? = nil
  ) -> StoreConfiguration {
    let milliseconds = max(0, min(busyTimeout * 1_000, 1_000_000_000))
    var options = OpenOptions(
      durability: durability, busyTimeoutMilliseconds: milliseconds.isNaN ? 0 : Int32(milliseconds),
      isReadOnly: readOnly)
    options.largestInRow = filesAbove
    options.mostConnections = connections
    options.migration = migration
    options.marks = FileMarks(protection: protection, isInBackup: isInBackup)
    options.key = key.map { FileKey($0) }
    return StoreConfiguration { [options] model, observer in
      var options = options
      options.observer = observer
      return try SQLiteStore(url: url, model: model, options: options)
    } plan: { [options] model in
      try SQLiteLibrary.load(for: options.key)
      return try FileMigration(path: SQLiteStore.path(of: url), model: model, options: options).planOfFile()
    }
  }
}

// MARK: - SQLite store

/// A SQLite file and its connections.
package final class SQLiteStore: Store {
  package let name: String
  let setup: StoreSetup
  let pool: ConnectionPool
  /// Lets one suspension or its end run at a time.
  private let suspensions = Locked(())

  init(url: URL, model: Model, options: OpenOptions) throws {
    try SQLiteLibrary.load(for: options.key)
    let path = try Self.path(of: url)
    name = path
    let (setup, database) = try StoreOpening(path: path, model: model, options: options).open()
    self.setup = setup
    database.join(setup.handles)
    if !options.isReadOnly { options.marks.mark(path) }
    pool = ConnectionPool(
      SQLiteConnection(setup, database, isFirst: true), name: path, most: options.mostConnections,
      sweepInterval: .milliseconds(Int(options.idleSeconds * 1_000)), handles: setup.handles,
      open: setup.connect(isFirst:))
    // Other programs may have the file open. Then the collection is left to the next time.
    if !setup.options.isReadOnly, setup.folder?.isMarked == true { _ = try? collectExternalFiles() }
  }

  /// Creates a store on the connection of a migration, within its transaction. It has no other connection, and is used
  /// by the thread that migrates until it is closed.
  init(within database: Database, path: String, model: Model, options: OpenOptions) {
    name = path
    setup = StoreSetup(
      path: path, options: options, layout: SQLiteLayout(model), marked: SearchPlan(),
      fileModel: StoreSetup.FileModel(checksum: model.checksum), access: .writing, isWithinTransaction: true)
    // Sound because the migration does not use its connection while a step uses this store.
    nonisolated(unsafe) let connection = SQLiteConnection(setup, database, isFirst: true)
    pool = ConnectionPool(
      connection, name: path, most: 1, sweepInterval: .seconds(3_600), handles: setup.handles
    ) { _ throws(StoreError) in
      throw StoreError(
        .unsupported, "A step of a migration read and wrote at the same time, in two contexts.",
        remedy: "Use the context of the step, outside of the bodies of other contexts' reads.")
    }
  }

  static func path(of url: URL) throws(StoreError) -> String {
    guard url.isFileURL else {
      throw StoreError(
        .cannotOpen, "\(url.absoluteString) is no file.", remedy: "Give the store a file URL, as URL(filePath:) makes.")
    }
    return plainPath(of: url) ?? url.withUnsafeFileSystemRepresentation { $0.map { String(cString: $0) } } ?? url.path
  }

  /// The path of a URL that has nothing to decode; nil if it may have. Foundation's conversion takes 0.4 million
  /// instructions when a process first calls it, to look up conformances.
  private static func plainPath(of url: URL) -> String? {
    #if os(Linux)
      let path = url.path(percentEncoded: true)
      let bytes = path.utf8
      guard url.baseURL == nil, bytes.first == UInt8(ascii: "/"), bytes.last != UInt8(ascii: "/"),
        !bytes.contains(UInt8(ascii: "%"))
      else { return nil }
      return path
    #else
      return nil
    #endif
  }

  /// Opens no connection: the result borrows one for each call.
  package func connect() throws -> any StoreConnection { LeasingConnection(self) }

  /// A connection for one or several related calls. The caller returns it.
  func take() throws(StoreError) -> SQLiteConnection {
    if setup.wasWrittenMeanwhile() { pool.renew() }
    let connection = try pool.take()
    do throws(StoreError) {
      try setup.watch.look(through: connection)
    } catch {
      giveBack(connection)
      throw error
    }
    return connection
  }

  /// Whether another program has migrated the file. Nothing can be read then, so what is in memory is all there is.
  var isMigratedByOthers: Bool {
    do throws(StoreError) {
      giveBack(try take())
      return false
    } catch {
      return error.code == .migratedByOthers
    }
  }

  func giveBack(_ connection: SQLiteConnection) {
    let isClosed = pool.giveBack(connection)
    // SQLite leaves the log of a moved file, and another file that has replaced it would be read with this log.
    if isClosed && connection.database.hasMoved { bringDown(connection.database) }
  }

  private func bringDown(_ database: Database) {
    guard !setup.options.isReadOnly, !setup.isWithinTransaction else { return }
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

// MARK: - Suspension

extension SQLiteStore {
  /// - Throws: ``StoreError`` with the code `timedOut`.
  package func suspend(within timeout: Duration) throws {
    try suspensions.withLock { _ in try release(within: timeout) }
  }

  private func release(within timeout: Duration) throws {
    let end = ContinuousClock.now + timeout
    setup.handles.isSuspended.store(true, ordering: .sequentiallyConsistent)
    pool.suspend()
    // A statement may begin after an interrupt, and a commit is not interrupted.
    while !pool.isReleased {
      setup.handles.end()
      guard ContinuousClock.now < end else {
        throw StoreError.stillInUse(name, after: timeout)
      }
      trellis_sqlite3_sleep(1)
    }
    setup.folder?.release()
  }

  package func resume() {
    suspensions.withLock { _ in
      setup.watch.pause()
      setup.handles.isSuspended.store(false, ordering: .sequentiallyConsistent)
      pool.resume()
    }
  }
}

// MARK: - Keys

extension SQLiteStore {
  /// - Throws: ``StoreError``.
  package func reserveKeys(_ count: Int64) throws -> Range<Int64> {
    let connection = try take()
    defer { giveBack(connection) }
    let database = connection.database
    // Nothing can be saved to a read-only store, so its keys need not be reserved.
    if setup.options.isReadOnly {
      let next = try Metadata.nextKey(in: database)
      return next..<(next + min(count, .max - next))
    }
    // The write-ahead log keeps the order of transactions: a durable save of an object with such a key makes the
    // reservation durable, too.
    do throws(StoreError) {
      return try with(.relaxed, database) { () throws(StoreError) in
        let former = setup.unreservedKeys.withLock { $0 }
        let keys = try connection.committing(doing: "reserve keys") { () throws(StoreError) in
          if let former { try Metadata.reserve(former, in: database) }
          return try Metadata.reserve(count, in: database)
        }
        if let former { setup.didReserve(former) }
        return keys
      }
    } catch {
      guard error.code == .full else { throw error }
      return try setup.giveOut(count, after: Metadata.nextKey(in: database))
    }
  }

  package func returnKeys(_ unused: Range<Int64>) {
    guard !setup.options.isReadOnly, !unused.isEmpty, !setup.hasUnreservedKeys.load(ordering: .acquiring),
      let connection = try? take()
    else { return }
    defer { giveBack(connection) }
    let database = connection.database
    // If this fails, unused keys are lost, and nothing else.
    try? with(.relaxed, database) { () throws(StoreError) in try Metadata.giveBack(unused, in: database) }
  }

  /// Runs a closure with another durability than that of saves.
  func with<Result>(
    _ durability: Durability, _ database: Database, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let usual = setup.options.durability
    // The durability of a transaction is that of its commit.
    guard usual != durability, !setup.isWithinTransaction else { return try body() }
    try database.execute("PRAGMA synchronous = \(Database.synchronous(durability))", doing: "prepare the connection")
    defer {
      let setting = "PRAGMA synchronous = \(Database.synchronous(usual))"
      // If the setting could not be restored, later saves would be less durable than configured.
      if (try? database.execute(setting, doing: "prepare the connection")) == nil {
        setup.refusesWrites.store(true, ordering: .relaxed)
      }
    }
    return try body()
  }
}

// MARK: - Backup

extension SQLiteStore {
  /// - Throws: ``StoreError``. Then an existing file is unchanged.
  package func backUp(to path: String, replacing: Bool) throws {
    let files = SystemFiles()
    let own = ["", "-wal", "-shm", "-journal"].map { name + $0 }
    let copy = try BackupFile(path, replacing: replacing, own: own, files: files)
    try refuseIfOpen(files.resolved(path), files)
    let connection = try take()
    defer { giveBack(connection) }
    let database = connection.database
    guard let folder = setup.folder else {
      return try copy.write { _, temporary in try database.copy(to: temporary, named: path) }
    }
    try folder.keepingFiles {
      let externals = ExternalCopy(of: folder, besides: files.resolved(path))
      try copy.write(orDiscard: externals.discard) { _, temporary in
        try database.copy(to: temporary, named: path)
        try externals.copy(Database.references(inCopy: temporary, setup.options, setup.layout.model))
      }
    }
  }

  /// Refuses a target that SQLite has in use: the files beside it would be taken for those of the copy.
  private func refuseIfOpen(_ path: String, _ files: SystemFiles) throws(StoreError) {
    for ending in ["-wal", "-journal"] where (try? files.stamp(path + ending)) != nil {
      throw StoreError(
        .busy, "\(path) is open, or was not closed: \(path)\(ending) lies beside it.",
        remedy: "Close the store there, or choose another name.")
    }
  }
}

extension Database {
  /// Writes the current snapshot to an empty file, page after page in order and without gaps.
  ///
  /// - Parameter name: The path that the copy gets when it is complete, in messages.
  func copy(to path: String, named name: String) throws(StoreError) {
    // The copy counts as a change.
    try allowChanges()
    defer { try? refuseChanges() }
    let statement = try prepare("VACUUM INTO ?1")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    // SQLite would read this prefix as a URI.
    let target = path.hasPrefix("file:") ? "./" + path : path
    try check(try bind(.text(target), .plain, 1, statement.pointer), doing: "bind a value")
    do throws(StoreError) {
      _ = try step(statement.pointer, doing: "copy the store")
    } catch {
      // Nothing is written to the store, which SQLite's failure names.
      guard error.code == .full else { throw error }
      throw StoreError(.full, "There is no room for \(name).", remedy: error.remedy)
    }
    if isEncrypted { try FileHeader.checkEncryption(of: path) }
  }
}

// MARK: - External files

extension SQLiteStore {
  /// - Throws: ``StoreError``.
  package func collectExternalFiles() throws -> Int {
    guard let folder = setup.folder, !setup.options.isReadOnly else { return 0 }
    let connection = try take()
    defer { giveBack(connection) }
    let database = connection.database
    // A file that only the latest commits do not refer to any more must stay as long as a power failure may undo these
    // commits.
    let safe = try contentsOnDisk(connection)
    // No other connection commits until this transaction ends, and every file that is referred to then is referred to
    // now.
    try database.execute("BEGIN IMMEDIATE", doing: "collect files")
    defer { try? database.execute("ROLLBACK", doing: "collect files") }
    return try folder.collect { try database.externalContents(setup.layout.model).union(safe) }
  }

  /// Writes all commits to the disk, regardless of their durability.
  ///
  /// - Returns: the external contents that rows on the disk refer to.
  private func contentsOnDisk(_ connection: SQLiteConnection) throws(StoreError) -> Set<ContentDigest> {
    let database = connection.database
    return try with(.durable, database) { () throws(StoreError) in
      try connection.committing(doing: "collect files") { () throws(StoreError) in
        let contents = try database.externalContents(setup.layout.model)
        try Metadata.noteCollection(in: database)
        return contents
      }
    }
  }
}

extension Database {
  /// The files that the rows of a copy refer to.
  static func references(
    inCopy path: String, _ options: OpenOptions, _ model: Model
  ) throws(StoreError) -> [ExternalReference] {
    var options = options
    options.isReadOnly = true
    var references: [ExternalReference] = []
    try Database(path: path, options: options, access: .readingAlone).forEachReference(model) { references.append($0) }
    return references
  }

  /// The external contents that rows refer to.
  fileprivate func externalContents(_ model: Model) throws(StoreError) -> Set<ContentDigest> {
    var contents: Set<ContentDigest> = []
    try forEachReference(model) { contents.insert($0.digest) }
    return contents
  }

  private func forEachReference(_ model: Model, _ body: (ExternalReference) -> Void) throws(StoreError) {
    var columns = ExternalStatements.references(model)
    // The history is that of the file's model, which may be newer than the program's.
    if try Metadata.head(of: self).hasHistory {
      columns += ExternalStatements.formerReferences(try Metadata.storedModel(in: self))
    }
    for column in columns {
      let statement = try prepare(column.text)
      defer { _ = trellis_sqlite3_finalize(statement.pointer) }
      while try step(statement.pointer, doing: "read what refers to files") {
        guard let text = text(of: statement.pointer) else { continue }
        guard let parts = ExternalFile.parts(of: text) else { throw Self.noReference }
        body(
          ExternalReference(
            digest: parts.digest, size: parts.size, entity: column.entity,
            key: trellis_sqlite3_column_int64(statement.pointer, 1), property: column.property))
      }
    }
  }

  /// An unreadable reference might refer to any file, so nothing is removed.
  private static let noReference = StoreError(
    .unreadableValue, "A stored reference to a file is none, so no file was removed or copied.",
    remedy: "Check the store, and set the attribute to another value.")
}
