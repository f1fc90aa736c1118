internal import CSQLite
import Synchronization
import TrellisModel

/// The state that all connections of a store share.
final class StoreSetup: Sendable {
  let path: String
  let options: OpenOptions
  let layout: SQLiteLayout
  /// The columns where each connection marks changes.
  let marked: SearchPlan
  /// The stored derived attributes for which each connection marks changes.
  let markedDerived: DerivedPlan
  /// What records the history. Nil if the store has none.
  let history: HistorySetup?
  /// The triggers of connections that write to a file with another history than that of the program's model.
  let historyTriggers: [String]
  /// The unique indexes, which tell the key that two objects share. Created on first use.
  private let indexes = Locked<IndexPlan?>(nil)
  /// The state of the model in the file.
  struct FileModel {
    var checksum: String
    /// Whether the file keeps the models that it has had.
    var hasLineage = true
    /// Whether the file had the program's model before its current one.
    var hadThis = false
  }

  /// Whether the file contains the text of another model, with other indexes.
  let hasOtherModelText: Bool
  /// Whether the first save updates the file to the model and to the current features of Trellis.
  let isBehind: Atomic<Bool>
  /// Whether that update writes the model's text to the file.
  let writesModelText: Bool
  /// The reason why the file is opened read-only although it is writable. Nil if it is not.
  let refusalOfWrites: StoreError?
  /// Distinguishes the commits of this store from those of other writers.
  let ledger = CommitLedger()
  /// The open connections, and whether the store is suspended.
  let handles = OpenHandles()
  /// Checks that the file still has the model that it had when it was opened.
  let watch: ModelWatch
  /// The keys that are given out, and that the file could not reserve for want of room. The next save reserves them.
  let unreservedKeys = Locked<Range<Int64>?>(nil)
  /// Whether there are such keys, without the lock.
  let hasUnreservedKeys = Atomic(false)
  /// Set when a commit failed halfway: the content of the disk is unknown, so no connection writes any more.
  let refusesWrites = Atomic(false)
  /// Set when a save did not find the file at its path.
  let mayHaveMoved = Atomic(false)
  /// The identity of the file. Nil if the system could not tell it.
  let identity: FileStamp?
  /// The folder of external storage. Nil if the model has none, or if the file is encrypted: its data stays in the rows.
  let folder: ExternalFolder?
  /// How connections use the file.
  let access: FileAccess
  /// The file as it was when it was last opened by a reader that takes no locks.
  private let readAlone: Locked<FileStamp?>
  /// Whether the connection is within a transaction of a migration, so that saves are savepoints.
  let isWithinTransaction: Bool

  init(
    path: String, options: OpenOptions, layout: SQLiteLayout, marked: SearchPlan,
    markedDerived: DerivedPlan = DerivedPlan(), fileModel: FileModel, access: FileAccess,
    refusalOfWrites: StoreError? = nil, isWithinTransaction: Bool = false,
    history: HistoryState = HistoryState()
  ) {
    self.history = history.setup
    historyTriggers = history.triggers
    self.isWithinTransaction = isWithinTransaction
    self.marked = marked
    self.markedDerived = markedDerived
    self.path = path
    self.options = options
    self.layout = layout
    hasOtherModelText = !TextBytes.areEqual(fileModel.checksum, layout.model.checksum)
    writesModelText = hasOtherModelText && !fileModel.hadThis
    isBehind = Atomic(!options.isReadOnly && (writesModelText || !fileModel.hasLineage))
    self.refusalOfWrites = refusalOfWrites
    watch = ModelWatch(path: path, model: layout.model, checksum: fileModel.checksum, history: history.signature)
    self.access = access
    identity = try? options.files.stamp(path)
    readAlone = Locked(identity)
    // A program that opens the file under another name finds the same folder.
    let besides = options.files.resolved(path)
    folder =
      layout.model.hasExternalData && options.key == nil
      ? ExternalFolder(besides: besides, largestInRow: options.largestInRow, files: options.files) : nil
  }

  /// Opens another connection.
  ///
  /// - Parameter isFirst: whether it stays open as long as the store.
  func connect(isFirst: Bool) throws(StoreError) -> SQLiteConnection {
    let database = try open(isFirst: isFirst)
    try mark(database)
    try database.refuseChanges()
    return SQLiteConnection(self, database, isFirst: isFirst)
  }

  private func open(isFirst: Bool = false) throws(StoreError) -> Database {
    let hasLog = access == .readingAlone && PlatformFiles.exists(path + "-wal")
    let database = try Database(path: path, options: options, access: hasLog ? .reading : access)
    database.join(handles)
    try checkIdentity()
    try database.configure(options, isFirst: isFirst)
    return database
  }

  /// Makes a connection mark what it changes, for the search index, for derived values and for a history that the program does not record.
  ///
  /// - Parameter derived: whether that includes derived values.
  func mark(_ database: Database, derived: Bool = true) throws(StoreError) {
    try database.mark(marked)
    if derived { try database.mark(markedDerived) }
    for trigger in historyTriggers { try database.execute(trigger, doing: "prepare the connection") }
  }

  /// Whether a connection may have triggers on a table that insert with a conflict clause. An insert that has another one
  /// would replace it.
  ///
  /// - Parameter table: the quoted name.
  func hasTriggers(on table: String) -> Bool {
    !historyTriggers.isEmpty || marked.tables.values.contains { $0.name == table }
  }

  /// Opens a connection that reads the store as of a transaction.
  func connect(asOf number: Int64, _ plan: HistoryPlan) throws(StoreError) -> SQLiteConnection {
    let database = try open()
    let views = try plan.views(asOf: number, of: layout.model) { table throws(StoreError) in
      try database.lastPastRow(of: table, through: number)
    }
    for view in views {
      try database.execute(view, doing: "prepare the connection")
    }
    try database.refuseChanges()
    return SQLiteConnection(self, database, layout: SQLiteLayout(layout.model, isPast: true))
  }

  /// Whether a file that is read without locks was written to since the last call. Then connections to it may have read
  /// parts of it, and are not used any more.
  func wasWrittenMeanwhile() -> Bool {
    guard access == .readingAlone else { return false }
    let present = try? options.files.stamp(path)
    return readAlone.withLock { last in
      defer { last = present }
      return last != present || PlatformFiles.exists(path + "-wal")
    }
  }

  /// Gives out keys that the file does not reserve before the next save. Some are left out, for programs that reserve
  /// keys until then.
  func giveOut(_ count: Int64, after next: Int64) throws(StoreError) -> Range<Int64> {
    let keys = unreservedKeys.withLock { present -> Range<Int64>? in
      let start = present?.upperBound ?? next &+ KeyReservation.size &* .random(in: 1...1_024)
      let (end, overflow) = start.addingReportingOverflow(count)
      guard !overflow, start >= next else { return nil }
      present = (present?.lowerBound ?? start)..<end
      return start..<end
    }
    guard let keys else { throw KeyReservation.exhausted(path) }
    hasUnreservedKeys.store(true, ordering: .releasing)
    return keys
  }

  /// Called after a commit that has reserved keys which were given out before.
  func didReserve(_ keys: Range<Int64>) {
    unreservedKeys.withLock { present in
      // More keys may have been given out in the meantime.
      guard let given = present else { return }
      present = given.upperBound > keys.upperBound ? keys.upperBound..<given.upperBound : nil
      hasUnreservedKeys.store(present != nil, ordering: .releasing)
    }
  }

  var uniqueIndexes: [PlannedIndex] {
    indexes.withLock { plan in
      if plan == nil { plan = IndexPlan(layout.model) }
      return plan?.all.filter(\.isUnique) ?? []
    }
  }
}

extension Database {
  /// Configures a connection, once. The first connection of a store serves programs with one context, and keeps a
  /// larger cache than the additional ones.
  func configure(_ options: OpenOptions, isFirst: Bool = true) throws(StoreError) {
    var pragmas = [
      "foreign_keys = ON", "cell_size_check = ON", "temp_store = MEMORY",
      "cache_size = \(isFirst ? -16_384 : -2_048)",
      "synchronous = \(Self.synchronous(options.durability))",
    ]
    if !options.isReadOnly { pragmas.append("journal_size_limit = 67108864") }
    try execute(pragmas.map { "PRAGMA \($0)" }.separated(by: ";"), doing: "prepare the connection")
    if !options.isReadOnly { try useLog(waiting: .milliseconds(Int64(options.busyTimeoutMilliseconds))) }
  }

  /// Switches a new file to the write-ahead log, once. While another connection does the same, SQLite returns "busy" at
  /// once without waiting, because the connection reads before it requests the write lock. So the waiting is done here.
  /// Called last, because a reader has temporary views.
  func refuseChanges() throws(StoreError) { try refuseChanges(true) }

  func allowChanges() throws(StoreError) { try refuseChanges(false) }

  private func refuseChanges(_ isOn: Bool) throws(StoreError) {
    guard access == .readingAmongWriters else { return }
    try execute("PRAGMA query_only = \(isOn ? "ON" : "OFF")", doing: "prepare the connection")
  }

  private func useLog(waiting timeout: Duration) throws(StoreError) {
    let end = ContinuousClock.now + timeout
    while true {
      do throws(StoreError) {
        return try execute("PRAGMA journal_mode = WAL", doing: "prepare the connection")
      } catch {
        guard error.code == .busy, ContinuousClock.now < end else { throw error }
        trellis_sqlite3_sleep(5)
      }
    }
  }

  static func synchronous(_ durability: Durability) -> String {
    switch durability {
    case .durable: "FULL"
    case .relaxed: "NORMAL"
    }
  }
}

// MARK: - Commit ledger

/// Distinguishes the commits of this store from those of other writers.
///
/// The file counts its commits. A connection that is about to commit holds the write lock, so the count cannot change
/// until then: if it differs from the count after this store's last commit, another writer has committed.
final class CommitLedger: Sendable {
  // Sound because the counter's memory is shared by all threads and processes, and is read as one word.
  private struct State: @unchecked Sendable {
    /// The memory of the file's commit counter, which exists as long as the store's first connection. Nil until that
    /// connection has looked it up.
    var counter: UnsafeRawPointer?
    var isClosed = false
    /// The counter's value if no other writer commits. Nil before the counter was first read.
    var expected: UInt32?
    /// The number of commits in progress.
    var writing = 0
    var hasExternalWrites = false
  }

  private let state = Locked(State())

  /// Sets the counter, which belongs to the connection that stays open until ``close()``. Other writers' commits count
  /// from now on.
  func follow(_ counter: UnsafeRawPointer) {
    state.withLock { state in
      if state.isClosed { return }
      state.counter = counter
      if state.expected == nil { state.expected = trellis_sqlite_read_counter(counter) }
    }
  }

  /// Called before the first connection is closed, because the counter's memory is freed with it.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.counter = nil
    }
  }

  /// Called before the connection of a counter is closed, and another one is opened later. Others may commit meanwhile,
  /// and the counter may begin anew.
  func leave(_ counter: UnsafeRawPointer) {
    let address = UInt(bitPattern: counter)
    state.withLock { state in
      guard UInt(bitPattern: state.counter) == address else { return }
      state.counter = nil
      state.expected = nil
      state.hasExternalWrites = true
    }
  }

  /// Called inside a transaction that has written something.
  func willCommit(at counter: UInt32) {
    state.withLock { state in
      if let expected = state.expected, expected != counter { state.hasExternalWrites = true }
      state.expected = counter &+ 1
      state.writing += 1
    }
  }

  func didEnd() { state.withLock { $0.writing -= 1 } }

  /// Whether another writer has committed since the last call. This needs no connection.
  func look() -> Bool {
    state.withLock { state in
      if state.isClosed { return false }
      if state.writing == 0, let counter = state.counter.map({ trellis_sqlite_read_counter($0) }) {
        if let expected = state.expected, expected != counter { state.hasExternalWrites = true }
        state.expected = counter
      }
      defer { state.hasExternalWrites = false }
      return state.hasExternalWrites
    }
  }
}

extension Database {
  /// The address of the file's commit counter. Nil if commits are not counted.
  func commitCounter() -> UnsafeRawPointer? { trellis_sqlite_commit_counter(handle) }
}

extension SQLiteConnection {
  /// The number of commits to the file. Nil if they are not counted, or if the store is read-only.
  var commitCount: UInt32? {
    if let commitCounter { return trellis_sqlite_read_counter(commitCounter) }
    return findCounter().map { trellis_sqlite_read_counter($0) }
  }

  /// Runs a closure in a transaction of its own that others need not notice, unless one is open.
  func committing<Result>(
    doing: String, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard trellis_sqlite3_get_autocommit(database.handle) != 0 else { return try body() }
    try database.execute("BEGIN IMMEDIATE", doing: doing)
    do throws(StoreError) {
      let result = try body()
      let count = commitCount
      if let count { setup.ledger.willCommit(at: count) }
      defer { if count != nil { setup.ledger.didEnd() } }
      try database.execute("COMMIT", doing: doing)
      if let count { setup.watch.didCommit(at: count) }
      return result
    } catch {
      try? database.execute("ROLLBACK", doing: doing)
      throw error
    }
  }

  @inline(never) private func findCounter() -> UnsafeRawPointer? {
    guard database.access == .writing || database.access == .readingAmongWriters else { return nil }
    commitCounter = database.commitCounter()
    if isFirst, let commitCounter { setup.ledger.follow(commitCounter) }
    return commitCounter
  }
}

// MARK: - Model watch

/// Prevents a connection from using a file that another program has migrated since it was opened here.
///
/// The file counts its commits, and its model stays the same as long as only this store commits. So a check is usually
/// one comparison. If another program has committed, one short row is read.
final class ModelWatch: Sendable {
  private static let never = UInt64.max

  private let path: String
  private let model: Model
  /// The history that the file had when it was opened.
  private let history: Set<String>
  /// The checksum of the file's model when it was opened.
  private let opened: String
  /// The checksum that was last read from the file.
  private let found: Locked<String>
  /// The commit count up to which the model is known to be the same.
  private let seen = Atomic(never)
  private let isMigrated = Atomic(false)

  init(path: String, model: Model, checksum: String, history: Set<String>) {
    self.path = path
    self.model = model
    self.history = history
    opened = checksum
    found = Locked(checksum)
  }

  /// Whether another program has replaced the model's text since the file was opened with one of the same storage
  /// layout.
  var hasOtherText: Bool { found.withLock { !TextBytes.areEqual($0, opened) } }

  /// - Throws: ``StoreError`` if the file was migrated.
  @inline(__always) func look(through connection: SQLiteConnection) throws(StoreError) {
    guard let count = connection.commitCount else { return try lookUncounted(through: connection) }
    if UInt64(count) == seen.load(ordering: .relaxed) { return }
    try lookAgain(through: connection)
    // The model that was read is at least as new as the count.
    seen.store(UInt64(count), ordering: .relaxed)
  }

  /// Checks the model of a snapshot. The snapshot may be old, so the result does not count for later commits.
  func lookInSnapshot(through connection: SQLiteConnection) throws(StoreError) { try lookAgain(through: connection) }

  /// Called before all connections are closed for a while. The counter may begin anew.
  func pause() { seen.store(Self.never, ordering: .relaxed) }

  /// Called after a commit of this store, with the commit count before it.
  @inline(__always) func didCommit(at count: UInt32) {
    _ = seen.compareExchange(
      expected: UInt64(count), desired: UInt64(count &+ 1), ordering: .relaxed)
  }

  /// Checks the model if commits are not counted: each write transaction reads it, other calls do not.
  @inline(never) private func lookUncounted(through connection: SQLiteConnection) throws(StoreError) {
    if isMigrated.load(ordering: .relaxed) { throw migrated }
    if trellis_sqlite3_get_autocommit(connection.database.handle) == 0 { try lookAgain(through: connection) }
  }

  /// The actual reason of a failure: after a migration by another program, tables and columns may be missing or have
  /// another meaning.
  @inline(never) func explanation(of failure: any Error, through connection: SQLiteConnection) -> any Error {
    guard failure is StoreError || failure is SaveConflict else { return failure }
    do throws(StoreError) {
      try lookAgain(through: connection)
      return failure
    } catch {
      return error.code == .migratedByOthers ? error : failure
    }
  }

  @inline(never) private func lookAgain(through connection: SQLiteConnection) throws(StoreError) {
    if isMigrated.load(ordering: .relaxed) { throw migrated }
    let present = try Metadata.checksum(through: connection)
    if found.withLock({ TextBytes.areEqual($0, present) }) { return }
    // Another history needs other records than this program writes.
    guard try Metadata.isStoredAlike(model, history, in: connection.database) else {
      isMigrated.store(true, ordering: .relaxed)
      throw migrated
    }
    found.withLock { $0 = present }
  }

  private var migrated: StoreError {
    StoreError(
      .migratedByOthers,
      "Another program has migrated \(path) to another model since it was opened here; nothing is read or written any more.",
      remedy: "Update this program, or open the store again if its model fits by then.")
  }
}
