internal import CSQLite
import Synchronization
import TrellisSQL
import TrellisSchema
import TrellisStorage

/// The state that all connections of a store share.
final class StoreSetup: Sendable {
  let path: String
  let options: OpenOptions
  let layout: TableLayout
  /// The columns where each connection marks changes.
  private let marked: SearchPlan
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
  /// Checks that the file still has the model that it had when it was opened.
  let watch: ModelWatch
  /// Set when a commit failed halfway: the content of the disk is unknown, so no connection writes any more.
  let refusesWrites = Atomic(false)
  /// Set when a save did not find the file at its path.
  let mayHaveMoved = Atomic(false)
  /// The identity of the file. Nil if the system could not tell it.
  let identity: FileStamp?
  /// The folder of external storage. Nil if the model has none.
  let folder: ExternalFolder?
  /// Whether the file can be opened only as immutable.
  let isImmutable: Bool

  init(
    path: String, options: OpenOptions, layout: TableLayout, marked: SearchPlan, fileModel: FileModel,
    isImmutable: Bool, refusalOfWrites: StoreError? = nil
  ) {
    self.marked = marked
    self.path = path
    self.options = options
    self.layout = layout
    hasOtherModelText = !TextBytes.areEqual(fileModel.checksum, layout.model.checksum)
    writesModelText = hasOtherModelText && !fileModel.hadThis
    isBehind = Atomic(!options.isReadOnly && (writesModelText || !fileModel.hasLineage))
    self.refusalOfWrites = refusalOfWrites
    watch = ModelWatch(path: path, model: layout.model, checksum: fileModel.checksum)
    self.isImmutable = isImmutable
    identity = try? options.files.stamp(path)
    // A program that opens the file under another name finds the same folder.
    let besides = options.files.resolved(path)
    folder =
      layout.model.hasExternalData
      ? ExternalFolder(besides: besides, largestInRow: options.largestInRow, files: options.files) : nil
  }

  /// Opens another connection.
  func connect() throws(StoreError) -> SQLiteConnection {
    let database = try Database(path: path, options: options, isImmutable: isImmutable)
    try checkIdentity()
    try database.configure(options, isFirst: false)
    try database.mark(marked)
    return SQLiteConnection(self, database)
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
    try execute(pragmas.map { "PRAGMA \($0)" }.joined(separator: ";"), doing: "prepare the connection")
    if !options.isReadOnly { try useLog(waiting: .milliseconds(Int64(options.busyTimeoutMilliseconds))) }
  }

  /// Switches a new file to the write-ahead log, once. While another connection does the same, SQLite returns "busy" at
  /// once without waiting, because the connection reads before it requests the write lock. So the waiting is done here.
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
