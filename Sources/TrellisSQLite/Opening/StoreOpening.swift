internal import CSQLite
import Foundation
import TrellisSQL
import TrellisSchema
import TrellisStorage

/// Opens a file for a model, or makes it; a file that does not fit is left as it is.
struct StoreOpening {
  let path: String
  let model: Model
  let options: OpenOptions
  /// Why the file is only read though it may be written to; nil where that is not so.
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

  /// A file that could not be made goes again, unless somebody else has made it meanwhile or is about to.
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

  /// Whether a program that made the file was ended in the midst: the journal beside it takes the file back to nothing.
  private func isHalfMade(_ start: [UInt8]) throws(StoreError) -> Bool {
    guard let journal = try? PlatformFiles.start(of: path + "-journal", FileHeader.journalLength),
      FileHeader.takesBackToNothing(journal)
    else { return false }
    // What others have begun is theirs to finish.
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
    // Somebody else may have been faster.
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
    // Written with a rollback journal, so that the file's own first page tells from the start whose it is.
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

  // MARK: A file that exists

  private enum Opened {
    case store(StoreSetup, Database)
    /// The file may only be read here, and why.
    case onlyReadable(StoreError)
  }

  private func openExisting() throws(StoreError) -> (StoreSetup, Database) {
    switch try openForWhatWasAsked() {
    case .store(let setup, let database): return (setup, database)
    case .onlyReadable(let refusal):
      // The first connection is gone by now, and with it what SQLite keeps beside the file for those who write.
      var options = options
      options.isReadOnly = true
      return try StoreOpening(path: path, model: model, options: options, refusalOfWrites: refusal).open()
    }
  }

  private func openForWhatWasAsked() throws(StoreError) -> Opened {
    let hasLog = PlatformFiles.exists(path + "-wal")
    let isImmutable = options.isReadOnly && !hasLog
    let database = try Database(path: path, options: options, isImmutable: isImmutable)
    // Until the file is known to fit, closing must not carry over what a crashed program left in its log. A log of one's
    // own, which is empty, must go when the file is closed.
    if hasLog { _ = trellis_sqlite3_db_config(database.handle, TRELLIS_SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
    let head = try Metadata.head(of: database)
    let checksum = try Metadata.check(model, head, in: database)
    if !options.isReadOnly, let refusal = head.features.refusalOfWrites(to: path) { return .onlyReadable(refusal) }
    let isSameModel = TextBytes.areEqual(checksum, model.checksum)
    var fileModel = StoreSetup.FileModel(checksum: checksum, hasLineage: head.hasModels)
    // A model that the file had before a later one must not take the file back.
    if !isSameModel && head.hasModels {
      fileModel.hadThis = try ModelLineage.contains(model.checksum, in: database)
    }
    let searchOpening = SearchOpening(model: model, options: options, database: database)
    // Taking keys, which may fail, is usually the first thing that is written. Where something comes before it, it is tried now.
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
