internal import CSQLite
import Synchronization
import TrellisSQL
import TrellisSchema
import TrellisStorage

/// What all connections of a store share.
final class StoreSetup: Sendable {
  let path: String
  let options: OpenOptions
  let layout: TableLayout
  /// Whose changes each connection marks.
  private let marked: SearchPlan
  /// The unique indexes, to tell which key two objects share. Made when it is first asked for.
  private let indexes = Locked<IndexPlan?>(nil)
  /// What a file says of the model that it was written with.
  struct FileModel {
    var checksum: String
    /// Whether it keeps the models that it had.
    var hasLineage = true
    /// Whether it had the program's model before the one it has.
    var hadThis = false
  }

  /// Whether the file holds the text of another model, whose indexes are then not those of this one.
  let hasOtherModelText: Bool
  /// Whether the first save brings the file up to the model, and to what this version of Trellis keeps in it.
  let isBehind: Atomic<Bool>
  /// Whether the model's text goes into the file by then.
  let writesModelText: Bool
  /// Why the file is only read though it may be written to; nil where that is not so.
  let refusalOfWrites: StoreError?
  /// Tells the commits of this store from those of strangers.
  let ledger = CommitLedger()
  /// Whether the file has the model still that it had when it was opened.
  let watch: ModelWatch
  /// Set when a commit failed half-way: nobody knows what the disk holds, so no connection writes anything more.
  let refusesWrites = Atomic(false)
  /// Set when a save did not find the file at its path any more.
  let mayHaveMoved = Atomic(false)
  /// Which file it is; nil where the system could not say.
  let identity: FileStamp?
  /// Where large data lies; nil where the model has none.
  let folder: ExternalFolder?
  /// Whether the file may be opened only as one that nobody changes.
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
    // Whoever opens the file by another name finds the same folder.
    let besides = options.files.resolved(path)
    folder =
      layout.model.hasExternalData
      ? ExternalFolder(besides: besides, largestInRow: options.largestInRow, files: options.files) : nil
  }

  /// Opens one more connection.
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
  /// The settings of a connection, once for its life. The first one of a store serves whoever is alone, and keeps more in memory
  /// than those that come to help it.
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

  /// A new file is turned to its log once. While another connection does so SQLite answers "busy" at once and does not wait,
  /// because the connection reads when it asks to write; so the waiting is done here.
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
