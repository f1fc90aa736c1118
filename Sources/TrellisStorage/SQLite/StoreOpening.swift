internal import CSQLite
import Foundation
import TrellisModel

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
      case .failed(let problem): throw cannotOpen(problem)
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
    try FileHeader.check(start, path: path, isEncrypted: options.key != nil)
    return try openExisting()
  }

  private func cannotOpen(_ problem: FileProblem) -> StoreError {
    let message = "\(path) cannot be opened: \(problem.reason)."
    return switch problem.kind {
    case .irregular: StoreError(.cannotOpen, message, remedy: "Give the store the path of a file.")
    case .full: StoreError(.full, message, remedy: "Make room on the disk and try again.")
    default: StoreError(.cannotOpen, message, remedy: "Check that the folder exists and may be written to.")
    }
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
    if !start.allSatisfy({ $0 == 0 }) { try FileHeader.check(start, path: path, isEncrypted: options.key != nil) }
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
    let derived = try DerivedOpening(model: model, options: options, database: database).create()
    try Metadata.write(model, passing: options.migration.steps, to: database)
    try HistoryUpdate(HistoryPlan(model), database).run()
    // The store is created with a rollback journal, so that the file's first page identifies it from the start.
    try database.execute("COMMIT", doing: "create the store")
    if options.key != nil { try FileHeader.checkEncryption(of: path) }
    try database.configure(options)
    let history = try HistoryOpening(
      model, database, isReadOnly: false, head: Metadata.head(of: database), isSameModel: true, hadThis: false
    ).open()
    let fileModel = StoreSetup.FileModel(checksum: model.checksum)
    return (try setup(database, (search, search), (derived, derived), fileModel, history.state), database)
  }

  private func setup(
    _ database: Database, _ search: (marked: SearchPlan, asked: SearchPlan),
    _ derived: (marked: DerivedPlan, asked: DerivedPlan), _ fileModel: StoreSetup.FileModel, _ history: HistoryState,
    access: FileAccess = .writing
  ) throws(StoreError) -> StoreSetup {
    let setup = StoreSetup(
      path: path, options: options, layout: SQLiteLayout(model, search: search.asked, derived: derived.asked),
      marked: search.marked, markedDerived: derived.marked,
      fileModel: fileModel, access: access, refusalOfWrites: refusalOfWrites, history: history)
    try setup.mark(database)
    try database.refuseChanges()
    return setup
  }

  // MARK: An existing file

  private enum Opened {
    case store(StoreSetup, Database)
    /// The file may only be read, for this reason.
    case onlyReadable(StoreError)
    /// The file has to be migrated, which an error may forbid.
    case formerModel(StoreError?)
  }

  private func openExisting() throws(StoreError) -> (StoreSetup, Database) {
    switch try openForWhatWasAsked() {
    case .store(let setup, let database): return (setup, database)
    case .formerModel(let refusal):
      // The connection is closed by now.
      try migrate(refusal)
      return try openExisting()
    case .onlyReadable(let refusal):
      // The first connection is closed by now, and with it the files that SQLite keeps for writers.
      if refusal.code == .full { takeInLog() }
      var options = options
      options.isReadOnly = true
      return try StoreOpening(path: path, model: model, options: options, refusalOfWrites: refusal).open()
    }
  }

  private func migrate(_ refusal: StoreError?) throws(StoreError) {
    if let refusal { throw refusal }
    if let clash = SchemaStatements(model).nameClash {
      throw StoreError(
        .limit, "SQLite cannot keep this model: \(clash).", remedy: "Choose another name in the model.")
    }
    let migration = FileMigration(path: path, model: model, options: options)
    guard options.isReadOnly else { return try migration.run() }
    if let plan = try migration.plan() {
      throw refusalOfWrites
        ?? plan.forbidden(
          path, because: "it was to be opened for reading only",
          remedy: "Open it for writing once, which migrates it, or read a migrated copy.")
    }
  }

  /// A full disk does not prevent reading: a file that could not be prepared for writing is opened for reading.
  private func openForWhatWasAsked() throws(StoreError) -> Opened {
    do throws(StoreError) {
      return try openAsAsked()
    } catch {
      guard error.code == .full, !options.isReadOnly else { throw error }
      return .onlyReadable(
        StoreError(
          .full, "There was no room on the disk when \(path) was opened, so it is only read.",
          remedy: "Make room on the disk, then open the store again."))
    }
  }

  /// Checkpoints the log that an opening without room for the shared memory has left, and removes it. A connection that
  /// has the file alone needs no shared memory.
  private func takeInLog() {
    guard PlatformFiles.exists(path + "-wal"), let database = try? Database(path: path, options: options) else {
      return
    }
    try? database.execute("PRAGMA locking_mode = EXCLUSIVE; SELECT 1 FROM sqlite_schema", doing: "read the log")
  }

  private func openAsAsked() throws(StoreError) -> Opened {
    let hasLog = PlatformFiles.exists(path + "-wal")
    let access = access(hasLog: hasLog)
    let database = try Database(path: path, options: options, access: access)
    // Until the file is known to fit, closing must not checkpoint the write-ahead log that a crashed program has left.
    // An own log, which is empty, must be removed when the file is closed.
    if hasLog { _ = trellis_sqlite3_db_config(database.handle, TRELLIS_SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
    try FileHeader.check(database)
    let models = try Metadata.models(of: database)
    let head = models.head
    let fit = try ModelFit(of: model, to: models)
    guard case .fits(let checksum) = fit, try MigrationNeed(of: model, options.migration, fit, models) == nil else {
      return .formerModel(head.features.refusalOfWrites(to: path, knowing: .knownWithHistory))
    }
    if !options.isReadOnly, let refusal = head.features.refusalOfWrites(to: path, knowing: .knownWithHistory) {
      return .onlyReadable(refusal)
    }
    let isSameModel = TextBytes.areEqual(checksum, model.checksum)
    var fileModel = StoreSetup.FileModel(checksum: checksum, hasLineage: head.hasModels)
    // A model that the file had earlier must not replace its newer model.
    if !isSameModel && head.hasModels {
      fileModel.hadThis = try ModelLineage.contains(model.checksum, in: database)
    }
    let searchOpening = SearchOpening(model: model, options: options, database: database)
    let historyOpening = HistoryOpening(
      model, database, isReadOnly: options.isReadOnly, head: head, isSameModel: isSameModel, hadThis: fileModel.hadThis)
    let derivedOpening = DerivedOpening(model: model, options: options, database: database)
    // The first write is usually a key reservation, which may fail. If something else is written before, the
    // reservation is tried now.
    let changesSearch = try searchOpening.writes(isSameModel: isSameModel)
    let changesDerived = try derivedOpening.writes(isSameModel: isSameModel)
    let isWritten = try historyOpening.writes() ? true : changesSearch || changesDerived
    if !options.isReadOnly, isWritten || hasLog || hasFilesToCollect {
      try Metadata.rehearseReserving(KeyReservation.size, in: database)
    }
    _ = trellis_sqlite3_db_config(database.handle, TRELLIS_SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    try database.configure(options)
    let search = try searchOpening.open(isSameModel: isSameModel)
    let derived = try derivedOpening.open(isSameModel: isSameModel)
    let history = try historyOpening.open()
    if history.isUpdated { fileModel = StoreSetup.FileModel(checksum: model.checksum) }
    return .store(try setup(database, search, derived, fileModel, history.state, access: access), database)
  }

  private func access(hasLog: Bool) -> FileAccess {
    if !options.isReadOnly { return .writing }
    // A program that was to write has found that it cannot.
    if refusalOfWrites == nil && PlatformFiles.isWritable(path) { return .readingAmongWriters }
    return hasLog ? .reading : .readingAlone
  }

  private var hasFilesToCollect: Bool {
    guard model.hasExternalData, options.key == nil else { return false }
    return ExternalFolder(
      besides: options.files.resolved(path), largestInRow: options.largestInRow, files: options.files
    ).isMarked
  }
}

// MARK: - File header

/// The first hundred bytes of a file, read without SQLite, which would leave other files beside it.
enum FileHeader {
  /// "Trls", as SQLite's application id.
  static let applicationID: UInt32 = 0x5472_6C73
  /// The newest file format that this version of Trellis supports.
  static let format: UInt32 = 1
  static let length = 100
  static let magic = Array("SQLite format 3\u{0}".utf8)

  /// Checks the header of a file that is not empty.
  ///
  /// - Parameter isEncrypted: whether the file is to be decrypted. Then only SQLite can read what its header says.
  /// - Throws: ``StoreError`` if the file is not a Trellis store that this version can read.
  static func check(_ start: [UInt8], path: String, isEncrypted: Bool = false) throws(StoreError) {
    if isEncrypted && !isDocument(start) {
      guard start.starts(with: magic) else { return }
      throw StoreError(
        .notEncrypted, "\(path) is not encrypted, and was to be opened with a key.",
        remedy: "Open it without a key, or copy it into an encrypted store with EncryptedStore.copy.")
    }
    guard start.count == length, start.starts(with: magic) else {
      if isDocument(start) {
        throw StoreError(
          .foreignFile, "\(path) is a JSON document, and no SQLite database.", remedy: "Open it with .json(at:).")
      }
      throw StoreError(
        .foreignFile, "\(path) is no SQLite database, or an encrypted one.",
        remedy: "Choose another file, or give the key that the store was made with.")
    }
    guard number(start, at: 68) == applicationID else {
      throw foreign("\(path) is a SQLite database of another program.")
    }
    let found = number(start, at: 60)
    guard found <= format else { throw newer(path, found: String(found)) }
    try checkEncoding(number(start, at: 56), path)
  }

  /// Trellis creates its files with UTF-8 texts, and compares and sorts them by their bytes.
  private static func checkEncoding(_ encoding: UInt32, _ path: String) throws(StoreError) {
    switch encoding {
    case 1: return
    case 2, 3: throw otherEncoding(path)
    default: throw SQLiteErrors.damaged(path, "the encoding of its texts is unknown")
    }
  }

  /// The file must exist and not be empty.
  static func checkStart(of path: String, isEncrypted: Bool) throws(StoreError) {
    let start: [UInt8]
    do throws(FileProblem) { start = try PlatformFiles.start(of: path, length) } catch {
      throw StoreError(
        .cannotOpen, "\(path) cannot be opened: \(error.reason).", remedy: "Give the store the path of a file.")
    }
    try check(start, path: path, isEncrypted: isEncrypted)
  }

  static func otherEncoding(_ path: String) -> StoreError {
    foreign("\(path) holds its texts as UTF-16, which no store of Trellis does.")
  }

  /// Whether a file begins like a JSON store.
  private static func isDocument(_ start: [UInt8]) -> Bool {
    start.starts(with: "{".utf8) && String(decoding: start, as: UTF8.self).contains("\"trellis\"")
  }

  static func newer(_ path: String, found: String) -> StoreError {
    StoreError(
      .newerFormat, "\(path) was written by a newer version of Trellis (format \(found), known up to \(format)).",
      remedy: "Update Trellis in this program.")
  }

  /// The length of the part of a rollback journal that contains the original file length
  /// (https://sqlite.org/fileformat.html#the_rollback_journal).
  static let journalLength = 20
  private static let journalMagic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

  /// Whether this is the start of a rollback journal for a file that was empty before.
  static func takesBackToNothing(_ journal: [UInt8]) -> Bool {
    journal.count == journalLength && journal.starts(with: journalMagic) && number(journal, at: 16) == 0
  }

  static func foreign(_ message: String) -> StoreError {
    StoreError(.foreignFile, message, remedy: "Choose another file; Trellis does not write to files of others.")
  }

  private static func number(_ data: [UInt8], at offset: Int) -> UInt32 {
    data.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}

// MARK: - Schema update

/// Updates a file to a model with the same storage layout but other texts, rules or indexes.
enum SchemaUpdate {
  /// Runs inside the transaction of the first save.
  static func apply(_ model: Model, to database: Database) throws(StoreError) {
    try Metadata.beginLineage(in: database)
    try updateIndexes(model, database)
    try Metadata.writeModel(model, to: database)
    try ModelLineage.add(ModelLineage.present(model), to: database)
  }

  /// Creates and drops the declared indexes. Their names tell their columns.
  private static func updateIndexes(_ model: Model, _ database: Database) throws(StoreError) {
    var present = try names(in: database)
    for index in IndexPlan(model).all where index.name.hasPrefix(IndexPlan.declaredPrefix) {
      if present.remove(index.name) == nil {
        try database.execute(index.statement, doing: "create an index")
      }
    }
    for name in present.sorted() {
      try database.execute("DROP INDEX \(SQLName.quoted(name))", doing: "drop an index")
    }
  }

  private static func names(in database: Database) throws(StoreError) -> Set<String> {
    let statement = try database.prepare("SELECT name FROM sqlite_schema WHERE type = 'index'")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var names: Set<String> = []
    while try database.step(statement.pointer, doing: "read the indexes") {
      if let name = database.text(of: statement.pointer), name.hasPrefix(IndexPlan.declaredPrefix) {
        names.insert(name)
      }
    }
    return names
  }
}

// MARK: - Search opening

/// Ensures that a file has exactly the full-text tables of a model.
struct SearchOpening {
  let model: Model
  let options: OpenOptions
  let database: Database

  /// - Parameter isSameModel: whether the file was last written with exactly the same model.
  /// - Returns: the columns where changes must insert marks, and the columns that searches may use.
  func open(isSameModel: Bool) throws(StoreError) -> (marked: SearchPlan, asked: SearchPlan) {
    let plan = SearchPlan(model)
    let none = SearchPlan()
    // Most models have no searchable attribute, and most files never had one.
    if plan.isEmpty && isSameModel { return (none, none) }
    let isUpToDate = try parts.areSame(as: plan.parts)
    if options.isReadOnly { return (none, isUpToDate && isAvailable ? plan : none) }
    guard isAvailable else {
      // The marks tell a library with full-text search later which rows have changed.
      return (try parts.contain("_searchMarks") ? plan : none, none)
    }
    if !isUpToDate {
      do throws(StoreError) {
        try parts.update(to: plan.parts) { isNew throws(StoreError) in
          guard isNew, !plan.isEmpty else { return }
          for statement in plan.markAll + plan.indexMarked {
            try database.execute(statement, doing: "fill the search index")
          }
        }
      } catch {
        guard error.code == .full else { throw error }
        return (try parts.contain("_searchMarks") ? plan : none, none)
      }
    }
    return (plan, plan)
  }

  /// Whether ``open(isSameModel:)`` will write to the file.
  func writes(isSameModel: Bool) throws(StoreError) -> Bool {
    let plan = SearchPlan(model)
    if plan.isEmpty && isSameModel { return false }
    guard isAvailable else { return false }
    return try !parts.areSame(as: plan.parts)
  }

  /// Creates the tables of a new file, inside the transaction that creates all other tables.
  func create() throws(StoreError) -> SearchPlan {
    let plan = isAvailable ? SearchPlan(model) : SearchPlan()
    try parts.create(plan.parts)
    return plan
  }

  /// Whether the library has full-text tables. Without them, searches read each text.
  private var isAvailable: Bool {
    options.usesSearchIndex
      && (try? database.text("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")) ?? nil != nil
  }

  /// The full-text tables of a file, the marks, and the triggers that insert them.
  static func parts(of database: Database) -> FeatureParts {
    FeatureParts(database: database, question: SearchPlan.present, purpose: "make the search index")
  }

  private var parts: FeatureParts { Self.parts(of: database) }
}

extension Database {
  /// Makes the connection mark each row whose searchable texts it changes.
  func mark(_ plan: SearchPlan) throws(StoreError) {
    for trigger in plan.triggersOfConnection { try execute(trigger, doing: "prepare the connection") }
  }
}
