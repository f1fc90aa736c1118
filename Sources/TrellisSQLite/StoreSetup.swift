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
  /// Whether the file still holds an earlier text of the model, which the first save replaces.
  let hasOldModelText: Atomic<Bool>
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
    path: String, options: OpenOptions, layout: TableLayout, marked: SearchPlan, hasOldModelText: Bool,
    isImmutable: Bool
  ) {
    self.marked = marked
    self.path = path
    self.options = options
    self.layout = layout
    self.hasOldModelText = Atomic(hasOldModelText)
    self.isImmutable = isImmutable
    identity = try? options.files.stamp(path)
    // Whoever opens the file by another name finds the same folder.
    let besides = options.files.resolved(path)
    folder =
      layout.model.hasExternalData
      ? ExternalFolder(besides: besides, largestInRow: options.largestInRow, files: options.files) : nil
  }

  func connect() throws(StoreError) -> Database {
    let database = try Database(path: path, options: options, isImmutable: isImmutable)
    try checkIdentity()
    try database.configure(options)
    try database.mark(marked)
    return database
  }

  var uniqueIndexes: [PlannedIndex] {
    indexes.withLock { plan in
      if plan == nil { plan = IndexPlan(layout.model) }
      return plan?.all.filter(\.isUnique) ?? []
    }
  }
}

extension Database {
  /// The settings of a connection, once for its life.
  func configure(_ options: OpenOptions) throws(StoreError) {
    var pragmas = [
      "foreign_keys = ON", "cell_size_check = ON", "temp_store = MEMORY", "cache_size = -16384",
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
