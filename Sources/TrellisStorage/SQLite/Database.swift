internal import CSQLite
import Foundation

/// How a connection uses a file.
enum FileAccess {
  case writing
  /// Reads while others may write. SQLite opens the file for writing, because readers and writers agree about the log in
  /// memory beside the file, but changes nothing.
  case readingAmongWriters
  /// Reads a file that may not be written to, and that others have open.
  case reading
  /// Reads a file without write permission and without a log, without any lock.
  case readingAlone
}

/// One open SQLite connection with its prepared statements. It is used by one thread at a time.
final class Database {
  let handle: OpaquePointer
  let path: String
  /// Whether the file is encrypted, and was decrypted with the key of this connection.
  let isEncrypted: Bool
  let access: FileAccess
  /// The file, as long as this connection is open.
  private let file: LockedFiles.Identity?
  /// How long it waits for locks. It outlives the connection.
  private let waiting: UnsafeMutablePointer<trellis_waiting>
  /// The connections of the store that this one belongs to.
  private var store: OpenHandles?
  // One connection uses this, and each access ends before anything else is called, so accesses cannot overlap.
  @exclusivity(unchecked) var cache = StatementCache()
  @exclusivity(unchecked) var statistics = StatementStatistics()

  /// Opens an existing file.
  ///
  /// - Throws: ``StoreError``.
  init(path: String, options: OpenOptions, access: FileAccess? = nil) throws(StoreError) {
    let access = access ?? (options.isReadOnly ? .reading : .writing)
    self.path = path
    isEncrypted = options.key != nil
    self.access = access
    file = LockedFiles.willOpen(path)
    waiting = .allocate(capacity: 1)
    waiting.initialize(to: trellis_waiting(milliseconds: options.busyTimeoutMilliseconds, is_over: 0))
    var flags = TRELLIS_SQLITE_OPEN_NOMUTEX | TRELLIS_SQLITE_OPEN_EXRESCODE
    let opensForWriting = access == .writing || access == .readingAmongWriters
    flags |= opensForWriting ? TRELLIS_SQLITE_OPEN_READWRITE : TRELLIS_SQLITE_OPEN_READONLY
    let isImmutable = access == .readingAlone
    if isImmutable { flags |= TRELLIS_SQLITE_OPEN_URI }
    if opensForWriting { flags |= options.marks.openFlags }
    var opened: OpaquePointer?
    let code = trellis_sqlite3_open_v2(isImmutable ? Self.immutableURI(path) : path, &opened, Int32(flags), nil)
    guard let opened, code == TRELLIS_SQLITE_OK else {
      let message = opened.map { String(cString: trellis_sqlite3_errmsg($0)) } ?? "out of memory"
      _ = trellis_sqlite3_close_v2(opened)
      waiting.deallocate()
      if let file { LockedFiles.didClose(file) }
      throw SQLiteErrors.error(code, message, path: path, doing: "open the file")
    }
    handle = opened
    if let key = options.key { try unlock(with: key) }
    // SQLite opens a file without write permission, and would leave other files beside it before it reports an error.
    if opensForWriting && trellis_sqlite3_db_readonly(handle, "main") == 1 {
      throw error(TRELLIS_SQLITE_READONLY, doing: "open the file")
    }
    try harden()
    if isEncrypted { try checkKey() }
  }

  private var hasLog: Bool { PlatformFiles.size(path + "-wal") != 0 }

  /// Lets a suspension of the store end what this connection does.
  func join(_ store: OpenHandles) {
    self.store = store
    store.add(handle, waiting)
  }

  deinit {
    store?.willClose(handle)
    for statement in cache.all { _ = trellis_sqlite3_finalize(statement.pointer) }
    // A suspension does not wait for a checkpoint, and a reader makes none: the next program that writes does. An empty log
    // is removed.
    if store?.isSuspended.load(ordering: .relaxed) == true || access == .readingAmongWriters && hasLog {
      _ = trellis_sqlite3_db_config(handle, TRELLIS_SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }
    _ = trellis_sqlite3_close_v2(handle)
    waiting.deallocate()
    if let file { LockedFiles.didClose(file) }
    store?.didClose()
  }

  /// Secures the connection. The file may come from anywhere: nothing in its schema is trusted, and no SQL can damage
  /// it.
  private func harden() throws(StoreError) {
    try check(trellis_sqlite_wait(handle, waiting), doing: "prepare the connection")
    for (option, on) in [
      (TRELLIS_SQLITE_DBCONFIG_DEFENSIVE, 1), (TRELLIS_SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
      (TRELLIS_SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), (TRELLIS_SQLITE_DBCONFIG_ENABLE_VIEW, 0),
      (TRELLIS_SQLITE_DBCONFIG_DQS_DML, 0), (TRELLIS_SQLITE_DBCONFIG_DQS_DDL, 0),
    ] { _ = trellis_sqlite3_db_config(handle, Int32(option), Int32(on)) }
    try check(trellis_sqlite_extend(handle), doing: "add functions")
    try check(TextFunctions.add(to: handle), doing: "add functions")
    try check(ValueFunctions.add(to: handle), doing: "add functions")
    try check(LanguageCollation.add(to: handle), doing: "add collations")
    try check(SearchFunctions.add(to: handle), doing: "add functions")
  }

  private static func immutableURI(_ path: String) -> String {
    var uri = "file:"
    for byte in path.utf8 {
      let isPlain =
        byte == 0x2F || byte == 0x2E || byte == 0x2D || byte == 0x5F || (byte >= 0x30 && byte <= 0x39)
        || (byte >= 0x41 && byte <= 0x5A) || (byte >= 0x61 && byte <= 0x7A)
      if isPlain {
        uri.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        uri += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
      }
    }
    return uri + "?immutable=1"
  }

  // MARK: Statements

  func check(_ code: Int32, doing: @autoclosure () -> String) throws(StoreError) {
    guard code == TRELLIS_SQLITE_OK else { throw error(code, doing: doing()) }
  }

  /// The codes of statements that are interrupted, and of waits that end. A table function that is interrupted while it
  /// declares its columns has the general one.
  private static let codesOfAnEnd: Set<Int32> = [
    TRELLIS_SQLITE_INTERRUPT, TRELLIS_SQLITE_BUSY, TRELLIS_SQLITE_LOCKED, TRELLIS_SQLITE_ERROR, TRELLIS_SQLITE_SCHEMA,
  ]

  /// Whether a suspension has ended what this connection does.
  var isEnded: Bool { trellis_sqlite_is_ended(waiting) != 0 }

  func error(_ code: Int32, doing: String) -> StoreError {
    if isEnded && Self.codesOfAnEnd.contains(code & 0xFF) { return .suspended(path) }
    return SQLiteErrors.error(lacksRoom(code) ? TRELLIS_SQLITE_FULL : code, message, path: path, doing: doing)
  }

  /// Whether an operation failed because the disk is full or a quota is used up. SQLite has a code of its own for most
  /// writes only. After a failed sync the content of the disk is unknown, so that is never such a failure.
  private func lacksRoom(_ code: Int32) -> Bool {
    switch code {
    case TRELLIS_SQLITE_IOERR_SHMSIZE: return true
    case TRELLIS_SQLITE_IOERR_WRITE, TRELLIS_SQLITE_IOERR_SHMOPEN: break
    default: guard code & 0xFF == TRELLIS_SQLITE_CANTOPEN else { return false }
    }
    #if os(Windows)
      return false
    #else
      return [ENOSPC, EDQUOT, EFBIG].contains(trellis_sqlite3_system_errno(handle))
    #endif
  }

  var message: String { String(cString: trellis_sqlite3_errmsg(handle)) }

  /// Runs statements without parameters and results.
  func execute(_ sql: String, doing: String) throws(StoreError) {
    statistics.run += 1
    try check(trellis_sqlite3_exec(handle, sql, nil, nil, nil), doing: doing)
  }

  /// Prepares a statement that is cached and used often.
  func prepare(_ sql: String, parameters: [Parameter] = []) throws(StoreError) -> Statement {
    statistics.prepared += 1
    var text = sql
    var pointer: OpaquePointer?
    let code = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        trellis_sqlite3_prepare_v3(
          handle, bytes.baseAddress, Int32(truncatingIfNeeded: bytes.count), UInt32(TRELLIS_SQLITE_PREPARE_PERSISTENT),
          &pointer, nil)
      }
    }
    try check(code, doing: "prepare a statement")
    guard let pointer else { throw error(TRELLIS_SQLITE_ERROR, doing: "prepare a statement") }
    return Statement(pointer, sql, parameters)
  }

  /// Whether there is another row.
  @inline(__always) func step(_ statement: OpaquePointer, doing: @autoclosure () -> String) throws(StoreError) -> Bool {
    let code = trellis_sqlite3_step(statement)
    if code == TRELLIS_SQLITE_ROW { return true }
    if code == TRELLIS_SQLITE_DONE { return false }
    throw error(code, doing: doing())
  }
}

/// The work that a connection has done, for tests and diagnostics.
package struct StatementStatistics: Hashable, Sendable {
  /// The number of statements that were run.
  package var run = 0
  /// The number of statements that were compiled.
  package var prepared = 0
  /// The number of runs of a prepared statement.
  package var reused = 0
}

/// The options for opening a file.
struct OpenOptions: Sendable {
  /// The key of an encrypted file. Nil if the file is not encrypted.
  var key: FileKey?
  /// The maximum number of bytes of external data in a row.
  var largestInRow = ExternalFolder.usualLargestInRow
  /// The file operations for external data.
  var files: any FileOperations = SystemFiles()
  var durability: Durability
  var busyTimeoutMilliseconds: Int32
  /// The maximum number of open connections.
  var mostConnections = 8
  /// The idle time after which a connection is closed. It may be up to twice that.
  var idleSeconds = 5.0
  var isReadOnly: Bool
  /// Whether full-text tables are used, if the library has them. Without them, results are the same, but searches are
  /// slower.
  var usesSearchIndex = true
  /// What happens to a file that was made with a former version of the model.
  var migration = MigrationPolicy.automatic
  /// What the system does with the files.
  var marks = FileMarks()
  /// Follows a migration. Nil if nothing does.
  var observer: MigrationObserver?
}

extension Database {
  /// SQLite's query plan for a statement, one line per step.
  func plan(of sql: String) throws(StoreError) -> String {
    let statement = try prepare("EXPLAIN QUERY PLAN " + sql)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var lines: [String] = []
    while try step(statement.pointer, doing: "explain a statement") {
      lines.append(trellis_sqlite3_column_text(statement.pointer, 3).map { String(cString: $0) } ?? "")
    }
    return lines.joined(separator: "\n")
  }
}

// MARK: - Statement cache

/// A prepared statement.
final class Statement {
  let pointer: OpaquePointer
  let text: String
  /// The parameters of a request's statement.
  let parameters: [Parameter]
  /// The number of values that a row's statement binds.
  var valueCount: Int32 = 0
  fileprivate(set) var words: ContiguousArray<UInt64> = []
  fileprivate var lastUse: UInt64 = 0
  /// The next statement of the same chain.
  fileprivate var next: Statement?

  init(_ pointer: OpaquePointer, _ text: String, _ parameters: [Parameter]) {
    self.pointer = pointer
    self.text = text
    self.parameters = parameters
  }
}

/// Prepared statements by the words that describe their SQL. If there are too many, the least recently used ones are
/// removed.
struct StatementCache {
  static let limit = 256

  /// The first statement of each chain, by the hash of its words.
  private var chains = ContiguousArray<Statement?>(repeating: nil, count: StatementCache.limit)
  private var count = 0
  private var clock: UInt64 = 0
  /// Statements with two words that were found lately, each at a place that its words determine. Small saves ask for the
  /// same few again and again.
  private var recents = ContiguousArray<Recent?>(repeating: nil, count: StatementCache.recentCount)

  private static let recentCount = 16

  private struct Recent {
    let name: UInt64
    let detail: UInt64
    let statement: Statement
  }

  var all: [Statement] {
    var all: [Statement] = []
    for first in chains {
      var open = first
      while let statement = open {
        all.append(statement)
        open = statement.next
      }
    }
    return all
  }

  /// The cached statement for two words, if it was found lately.
  func recent(_ name: UInt64, _ detail: UInt64) -> Statement? {
    guard let recent = recents[Self.recentPlace(of: name)], recent.name == name, recent.detail == detail else {
      return nil
    }
    return recent.statement
  }

  mutating func noteRecent(_ statement: Statement, _ name: UInt64, _ detail: UInt64) {
    recents[Self.recentPlace(of: name)] = Recent(name: name, detail: detail, statement: statement)
  }

  private static func recentPlace(of name: UInt64) -> Int {
    Int(truncatingIfNeeded: (name ^ name >> 16) % UInt64(recentCount))
  }

  /// The cached statement for these words.
  ///
  /// - Complexity: linear in the number of words.
  mutating func statement(_ words: ContiguousArray<UInt64>) -> Statement? {
    clock &+= 1
    var open = chains[Self.chain(of: words)]
    while let statement = open {
      if statement.words == words {
        statement.lastUse = clock
        return statement
      }
      open = statement.next
    }
    return nil
  }

  /// Caches a statement, and returns the statements that were removed for it.
  mutating func insert(_ statement: Statement, _ words: ContiguousArray<UInt64>) -> [Statement] {
    let removed = count >= Self.limit ? evict() : []
    statement.words = words
    statement.lastUse = clock
    link(statement)
    count += 1
    return removed
  }

  /// Removes the older half, so that the cost of a pass over all statements is shared by many insertions.
  private mutating func evict() -> [Statement] {
    for place in recents.indices {
      // What was found lately was used lately.
      recents[place]?.statement.lastUse = clock
      recents[place] = nil
    }
    let sorted = all.sorted { $0.lastUse < $1.lastUse }
    let kept = sorted[(sorted.count / 2)...]
    for chain in chains.indices { chains[chain] = nil }
    for statement in kept { link(statement) }
    count = kept.count
    let removed = Array(sorted[..<(sorted.count / 2)])
    for statement in removed { statement.next = nil }
    return removed
  }

  private mutating func link(_ statement: Statement) {
    let chain = Self.chain(of: statement.words)
    statement.next = chains[chain]
    chains[chain] = statement
  }

  private static func chain(of words: ContiguousArray<UInt64>) -> Int {
    var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
    for word in words { hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD ^ (hash >> 29) }
    return Int(truncatingIfNeeded: (hash ^ hash >> 32) % UInt64(limit))
  }
}

// MARK: - SQLite errors

/// Converts SQLite's result codes to ``StoreError``.
enum SQLiteErrors {
  /// - Parameter doing: the failed operation, as the end of a sentence.
  static func error(_ code: Int32, _ message: String, path: String, doing: String) -> StoreError {
    let what = "SQLite could not \(doing) in \(path): \(message)"
    switch code & 0xFF {
    case TRELLIS_SQLITE_BUSY, TRELLIS_SQLITE_LOCKED:
      return StoreError(
        .busy, "\(path) was held by another writer for longer than the time-out.",
        remedy: "Try again, or open the store with a longer busyTimeout.")
    case TRELLIS_SQLITE_FULL:
      return StoreError(.full, "There is no room for \(path).", remedy: "Make room on the disk and try again.")
    case TRELLIS_SQLITE_IOERR, TRELLIS_SQLITE_PROTOCOL:
      return StoreError(.inputOutput, "\(what) (code \(code)).", remedy: "Check the disk; then open the store again.")
    case TRELLIS_SQLITE_CORRUPT:
      return damaged(path, message)
    case TRELLIS_SQLITE_NOTADB:
      return damaged(path, message)
    case TRELLIS_SQLITE_READONLY:
      if code == TRELLIS_SQLITE_READONLY_DBMOVED { return moved(path) }
      return StoreError(
        .readOnly, "\(path) may not be written to.", remedy: "Change the permissions, or open the store readOnly.")
    case TRELLIS_SQLITE_CANTOPEN, TRELLIS_SQLITE_PERM, TRELLIS_SQLITE_AUTH:
      return StoreError(
        .cannotOpen, "\(path) cannot be opened: \(message).",
        remedy: "Check that the folder exists and may be written to.")
    case TRELLIS_SQLITE_TOOBIG:
      return StoreError(
        .limit, "A value or a statement is too large for SQLite.",
        remedy: "Keep values below one thousand million bytes, or use externalStorage.")
    case TRELLIS_SQLITE_INTERRUPT: return MigrationObserver.cancellation(of: path)
    case TRELLIS_SQLITE_NOMEM:
      return StoreError(.limit, "There is not enough memory to \(doing).", remedy: "Ask for fewer objects at once.")
    default:
      return other(code, message, what)
    }
  }

  private static func other(_ code: Int32, _ message: String, _ what: String) -> StoreError {
    let limits = ["maximum depth", "stack overflow", "too many", "too large", "at most"]
    if limits.contains(where: { message.contains($0) }) {
      return StoreError(
        .limit, "The request is too large for SQLite: \(message).",
        remedy: "Put the terms into one list of and, or, or use a list of values with isIn.")
    }
    if message.contains("no such table") || message.contains("no such column") || message.contains("no such index") {
      return StoreError(.damaged, "\(what).", remedy: "Restore the file from a backup.")
    }
    return StoreError(.internalError, "\(what) (code \(code)).", remedy: "Report this as a mistake in Trellis.")
  }

  static func moved(_ path: String) -> StoreError {
    StoreError(
      .changedByOthers, "\(path) was removed, renamed or replaced while it was open.",
      remedy: "Put the file back, or open the store again to go on with what is there now.")
  }

  static func damaged(_ path: String, _ message: String) -> StoreError {
    StoreError(.damaged, "\(path) is damaged: \(message).", remedy: "Restore the file from a backup.")
  }
}

// MARK: - Platform files

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#elseif os(Windows)
  import ucrt
#endif

/// The file system operations that are needed besides SQLite.
enum PlatformFiles {
  enum Creation {
    case created, exists
    case failed(FileProblem)
  }

  /// Creates an empty file that only its owner may read and write.
  static func create(_ path: String) -> Creation {
    #if os(Windows)
      if FileManager.default.fileExists(atPath: path) { return .exists }
      return FileManager.default.createFile(atPath: path, contents: nil)
        ? .created : .failed(FileProblem(.other, "it cannot be created"))
    #else
      let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
      if descriptor >= 0 {
        close(descriptor)
        return .created
      }
      let code = errno
      if code == EEXIST { return .exists }
      let isFull = code == ENOSPC || code == EDQUOT
      return .failed(FileProblem(isFull ? .full : .other, String(cString: strerror(code))))
    #endif
  }

  /// The first bytes of a file.
  static func start(of path: String, _ count: Int) throws(FileProblem) -> [UInt8] {
    try SystemFiles().start(of: path, count)
  }

  /// The size of a file in bytes. 0 if there is none.
  static func size(_ path: String) -> Int64 { (try? SystemFiles().stamp(path))?.size ?? 0 }

  /// Whether a file may be written to, and files may be made beside it.
  static func isWritable(_ path: String) -> Bool {
    mayWrite(path) && mayWrite(URL(filePath: path).deletingLastPathComponent().path)
  }

  private static func mayWrite(_ path: String) -> Bool {
    #if os(Windows) || os(Android)
      FileManager.default.isWritableFile(atPath: path)
    #else
      // Of the user that the process acts as.
      faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
    #endif
  }

  static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
