internal import CSQLite
import Foundation
import TrellisSQL
import TrellisSchema
import TrellisStorage

/// Opens or creates a file for a model. A file that does not fit is not changed.
struct StoreOpening {
  let path: String
  let model: Model
  let options: OpenOptions
  /// The reason why the file is opened read-only although it is writable. Nil if it is not.
  var refusalOfWrites: StoreError?

  func open() throws(StoreError) -> (StoreSetup, Database) {
    if !options.isReadOnly {
      switch PlatformFiles.create(path) {
      case .created: return try createOrRemove()
      case .exists: break
      case .failed(let reason): throw cannotOpen(FileProblem(.other, reason))
      }
    }
    let start: [UInt8]
    do throws(FileProblem) { start = try PlatformFiles.start(of: path, FileHeader.length) } catch {
      throw cannotOpen(error)
    }
    let isHalfMade = try isHalfMade(start)
    if start.isEmpty || isHalfMade {
      guard !options.isReadOnly else {
        throw cannotOpen(FileProblem(.other, "it is empty, and was to be opened for reading only"))
      }
      return try create()
    }
    try FileHeader.check(start, path: path)
    return try openExisting()
  }

  private func cannotOpen(_ problem: FileProblem) -> StoreError {
    if case .irregular = problem.kind {
      return StoreError(
        .cannotOpen, "\(path) cannot be opened: \(problem.reason).", remedy: "Give the store the path of a file.")
    }
    return StoreError(
      .cannotOpen, "\(path) cannot be opened: \(problem.reason).",
      remedy: "Check that the folder exists and may be written to.")
  }

  // MARK: A new file

  /// Creates the file. A file that could not be created is removed, unless another program has created it in the
  /// meantime or is about to.
  private func createOrRemove() throws(StoreError) -> (StoreSetup, Database) {
    do {
      return try create()
    } catch {
      let isEmpty = (try? PlatformFiles.start(of: path, 1))?.isEmpty ?? false
      if isEmpty && error.code != .busy {
        for end in ["", "-journal", "-wal", "-shm"] { PlatformFiles.remove(path + end) }
      }
      throw error
    }
  }

  /// Whether a program was terminated while it created the file: the journal beside the file rolls it back to nothing.
  private func isHalfMade(_ start: [UInt8]) throws(StoreError) -> Bool {
    guard let journal = try? PlatformFiles.start(of: path + "-journal", FileHeader.journalLength),
      FileHeader.takesBackToNothing(journal)
    else { return false }
    // A file that another program has begun is not changed.
    if !start.allSatisfy({ $0 == 0 }) { try FileHeader.check(start, path: path) }
    return true
  }

  private func create() throws(StoreError) -> (StoreSetup, Database) {
    if let clash = SchemaStatements(model).nameClash {
      throw StoreError(
        .limit, "SQLite cannot keep this model: \(clash).", remedy: "Choose another name in the model.")
    }
    let database = try Database(path: path, options: options)
    try database.execute("PRAGMA synchronous = FULL; BEGIN EXCLUSIVE", doing: "create the store")
    // Another connection may have created the store in the meantime.
    if try database.text("SELECT 1 FROM sqlite_schema LIMIT 1") != nil {
      try database.execute("ROLLBACK", doing: "create the store")
      return try openExisting()
    }
    try database.execute(
      "PRAGMA application_id = \(FileHeader.applicationID); PRAGMA user_version = \(FileHeader.format)",
      doing: "create the store")
    try database.execute(
      ([SchemaStatements.metadata, SchemaStatements.models] + SchemaStatements(model).all).joined(separator: ";\n"),
      doing: "create the tables")
    let search = try SearchOpening(model: model, options: options, database: database).create()
    try Metadata.write(model, to: database)
    // The store is created with a rollback journal, so that the file's first page identifies it from the start.
    try database.execute("COMMIT", doing: "create the store")
    try database.configure(options)
    return (try setup(database, (search, search), StoreSetup.FileModel(checksum: model.checksum)), database)
  }

  private func setup(
    _ database: Database, _ search: (marked: SearchPlan, asked: SearchPlan), _ fileModel: StoreSetup.FileModel,
    isImmutable: Bool = false
  ) throws(StoreError) -> StoreSetup {
    try database.mark(search.marked)
    return StoreSetup(
      path: path, options: options, layout: TableLayout(model, search: search.asked), marked: search.marked,
      fileModel: fileModel, isImmutable: isImmutable, refusalOfWrites: refusalOfWrites)
  }

  // MARK: An existing file

  private enum Opened {
    case store(StoreSetup, Database)
    /// The file may only be read, for this reason.
    case onlyReadable(StoreError)
  }

  private func openExisting() throws(StoreError) -> (StoreSetup, Database) {
    switch try openForWhatWasAsked() {
    case .store(let setup, let database): return (setup, database)
    case .onlyReadable(let refusal):
      // The first connection is closed by now, and with it the files that SQLite keeps for writers.
      var options = options
      options.isReadOnly = true
      return try StoreOpening(path: path, model: model, options: options, refusalOfWrites: refusal).open()
    }
  }

  private func openForWhatWasAsked() throws(StoreError) -> Opened {
    let hasLog = PlatformFiles.exists(path + "-wal")
    let isImmutable = options.isReadOnly && !hasLog
    let database = try Database(path: path, options: options, isImmutable: isImmutable)
    // Until the file is known to fit, closing must not checkpoint the write-ahead log that a crashed program has left.
    // An own log, which is empty, must be removed when the file is closed.
    if hasLog { _ = trellis_sqlite3_db_config(database.handle, TRELLIS_SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
    let head = try Metadata.head(of: database)
    let checksum = try Metadata.check(model, head, in: database)
    if !options.isReadOnly, let refusal = head.features.refusalOfWrites(to: path) { return .onlyReadable(refusal) }
    let isSameModel = TextBytes.areEqual(checksum, model.checksum)
    var fileModel = StoreSetup.FileModel(checksum: checksum, hasLineage: head.hasModels)
    // A model that the file had earlier must not replace its newer model.
    if !isSameModel && head.hasModels {
      fileModel.hadThis = try ModelLineage.contains(model.checksum, in: database)
    }
    let searchOpening = SearchOpening(model: model, options: options, database: database)
    // The first write is usually a key reservation, which may fail. If something else is written before, the
    // reservation is tried now.
    let isWritten = try searchOpening.writes(isSameModel: isSameModel)
    if !options.isReadOnly, isWritten || hasLog || hasFilesToCollect {
      try Metadata.rehearseReserving(KeyReservation.size, in: database)
    }
    _ = trellis_sqlite3_db_config(database.handle, TRELLIS_SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    try database.configure(options)
    let search = try searchOpening.open(isSameModel: isSameModel)
    return .store(try setup(database, search, fileModel, isImmutable: isImmutable), database)
  }

  private var hasFilesToCollect: Bool {
    guard model.hasExternalData else { return false }
    return ExternalFolder(
      besides: options.files.resolved(path), largestInRow: options.largestInRow, files: options.files
    ).isMarked
  }
}
