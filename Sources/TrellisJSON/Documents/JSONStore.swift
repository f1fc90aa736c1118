public import Foundation
package import TrellisModel
public import TrellisStorage

extension StoreConfiguration {
  /// A JSON document that people can read and that a version control system can compare.
  ///
  /// ```swift
  /// let container = try PersistentContainer(model: .diary, store: .json(at: url))
  /// ```
  /// The whole document is read when it is opened and written by each save, in time linear in its size: about a second
  /// for 100,000 objects. A missing or empty file becomes a new document that only its owner can read. A document that
  /// was made with a former version of the model is migrated. A document of another model, of a newer version of the
  /// model, of a newer Trellis or of another program, or with a mistake in it, is refused with line and column, and not
  /// changed. One program writes at a time, and a file that another program changes in the meantime is never
  /// overwritten.
  ///
  /// - Parameters:
  ///   - url: The file. Its folder must exist, and be writable unless the document is only read.
  ///   - durability: What a save guarantees when it returns.
  ///   - filesAbove: The maximum number of bytes that the value of an attribute with `externalStorage` has in the
  ///     document. A larger value is in a file of its own, in the folder beside the document whose name ends in
  ///     `.external`. A number below 0 counts as 0. The limit applies to values saved from now on, and may differ each
  ///     time.
  ///   - readOnly: Whether saves are refused. A document that was made with a former version of the model is then
  ///     migrated in memory.
  ///   - migration: What happens to a document that was made with a former version of the model.
  /// - Throws: opening throws ``StoreError``: `dataLoss` or `unanswered` if the model does not say what becomes of the
  ///   stored data, `newerModel` if the document has a newer version of the model.
  public static func json(
    at url: URL, durability: Durability = .durable, readOnly: Bool = false, filesAbove: Int = 65_536,
    migration: MigrationPolicy = .automatic
  ) -> StoreConfiguration {
    let options = DocumentOptions(
      durability: durability, readOnly: readOnly, largestInRow: filesAbove, migration: migration)
    return StoreConfiguration { model, observer in
      var options = options
      options.observer = observer
      return try JSONStore(path: Self.path(ofDocument: url), model: model, options: options)
    } plan: { model in
      try JSONStore.plan(path: Self.path(ofDocument: url), model: model, options: options)
    }
  }

  private static func path(ofDocument url: URL) throws(StoreError) -> String {
    guard url.isFileURL else {
      throw StoreError(
        .cannotOpen, "\(url.absoluteString) is no file.", remedy: "Give the store a file URL, as URL(filePath:) makes.")
    }
    return url.withUnsafeFileSystemRepresentation { $0.map { String(cString: $0) } } ?? url.path
  }
}

// MARK: - JSON store

/// A JSON document whose rows are in memory while it is open. Each save writes the whole document.
///
/// A save goes through these stages, and a failure at any of them leaves the file and the memory unchanged: planned and
/// checked → written beside → on the disk → renamed over the document → folder on the disk → in memory. Only if the
/// folder cannot be synced to the disk, it is unknown which document would survive a power failure. Then the store
/// refuses all calls until it is opened again.
package final class JSONStore: Store, SnapshotSource {
  package let name: String
  package var layout: Layout { document.layout }
  private let document: DocumentLayout
  private let file: DocumentFile
  private let isReadOnly: Bool
  /// The reason why the document is opened read-only although it is writable. Nil if it is not.
  private let refusalOfWrites: StoreError?
  private let recordedLineage: DocumentLineage
  private let files: any FileOperations
  private let isClosed = Flag()

  /// The state for readers. Its lock is held for short times only.
  private struct Shared: Sendable {
    var state: MemoryState
    var stamp: FileStamp
    var nextKey: Int64
    var failure: StoreError?
  }

  /// The state for one save at a time. Its lock is held while a document is written.
  private struct Saved: Sendable {
    var known: DocumentFile.Known
    /// A number above every key that an object in the document has ever had.
    var nextKey: Int64
    var size: Int
    /// Held as long as the store is open for writing, but for suspensions.
    var lock: (any OpenFile)?
  }

  private let shared: Locked<Shared>
  private let saved: Locked<Saved>

  /// - Throws: ``StoreError``. Then the file is unchanged.
  package init(
    path: String, model: Model, options: DocumentOptions = DocumentOptions(), files: any FileOperations = SystemFiles()
  ) throws(StoreError) {
    file = DocumentFile(path: files.resolved(path), files: files, durability: options.durability)
    let folder = ExternalFolder(besides: file.path, largestInRow: options.largestInRow, files: files)
    document = try DocumentLayout(model, model.hasExternalData ? folder : nil)
    name = file.path
    self.files = files
    let opened = try DocumentOpening(
      file: file, document: document, isReadOnly: options.isReadOnly, policy: options.migration,
      observer: options.observer
    ).open()
    refusalOfWrites = opened.loaded.refusalOfWrites
    isReadOnly = options.isReadOnly || refusalOfWrites != nil
    recordedLineage = opened.loaded.lineage
    shared = Locked(
      Shared(state: opened.loaded.state, stamp: opened.known.stamp, nextKey: opened.loaded.nextKey, failure: nil))
    saved = Locked(Saved(known: opened.known, nextKey: opened.loaded.nextKey, size: opened.size, lock: opened.lock))
    document.folder?.shareWithoutWaiting()
    // If this fails, the collection is left to the next time.
    if !isReadOnly, document.folder?.isMarked == true { _ = try? collectExternalFiles() }
  }

  /// The plan of a document's migration; nil if it is missing or need not be migrated. Nothing is written.
  static func plan(
    path: String, model: Model, options: DocumentOptions, files: any FileOperations = SystemFiles()
  ) throws(StoreError) -> MigrationPlan? {
    let file = DocumentFile(path: files.resolved(path), files: files, durability: options.durability)
    let folder = ExternalFolder(besides: file.path, largestInRow: options.largestInRow, files: files)
    let document = try DocumentLayout(model, model.hasExternalData ? folder : nil)
    return try DocumentOpening(file: file, document: document, isReadOnly: true, policy: options.migration).plan()
  }

  deinit { close() }

  package func close() {
    guard isClosed.set() else { return }
    document.folder?.close()
    saved.withLock { release(&$0) }
  }

  private func release(_ saved: inout Saved) {
    if let lock = saved.lock { DocumentOpening.release(lock, file) }
    saved.lock = nil
  }

  // MARK: Suspension

  /// - Throws: ``StoreError`` with the code `timedOut` while a save writes the document.
  package func suspend(within timeout: Duration) throws {
    let end = ContinuousClock.now + timeout
    shared.withLock { if $0.failure == nil { $0.failure = .suspended(name) } }
    while saved.withLockIfAvailable({ release(&$0) }) == nil {
      guard ContinuousClock.now < end else { throw StoreError.stillInUse(name, after: timeout) }
      Thread.sleep(forTimeInterval: 0.001)
    }
    document.folder?.release()
  }

  /// Takes the lock again. If another program has it, calls fail until the next resumption.
  package func resume() {
    saved.withLock { saved in
      guard !isClosed.isSet, shared.withLock({ $0.failure?.code == .suspended }) else { return }
      var failure: StoreError?
      do throws(StoreError) {
        if !isReadOnly && saved.lock == nil { saved.lock = try DocumentOpening.lock(file) }
      } catch {
        failure = StoreError(
          .suspended, "\(name) could not be opened again after a suspension: \(error.message)", remedy: error.remedy)
      }
      shared.withLock { $0.failure = failure }
    }
  }

  package func connect() throws -> any StoreConnection {
    if isClosed.isSet { throw closed }
    return MemoryConnection(self)
  }

  private var closed: StoreError {
    StoreError(.closed, "The store \(name) is closed.", remedy: "Open it with a new container.")
  }

  /// - Throws: ``StoreError``. Then an existing file is unchanged.
  package func backUp(to path: String, replacing: Bool) throws {
    if isClosed.isSet { throw closed }
    guard let folder = document.folder else { return try copy(to: path, replacing: replacing) }
    try folder.keepingFiles { try copy(to: path, replacing: replacing) }
  }

  private func copy(to path: String, replacing: Bool) throws {
    let (state, nextKey, size) = try saved.withLock { saved in
      if let failure = shared.withLock({ $0.failure }) { throw failure }
      try look(&saved)
      return (shared.withLock { $0.state }, saved.nextKey, saved.size)
    }
    // Saves may happen while the text is created, because the state is a value.
    let copy = try BackupFile(path, replacing: replacing, own: [file.path], files: files)
    let text = try DocumentWriter.text(state, nextKey: nextKey, recordedLineage, document, sizeHint: size)
    let externals = document.folder.map { ExternalCopy(of: $0, besides: files.resolved(path)) }
    try copy.write(orDiscard: { externals?.discard() }) { file, _ in
      try externals?.copy(state.externalReferences(document.model))
      try text.withUnsafeBytes { bytes in try file.write(bytes) }
    }
  }

  /// - Throws: ``StoreError``.
  package func collectExternalFiles() throws -> Int {
    guard let folder = document.folder, !isReadOnly else { return 0 }
    // No save commits while this lock is held, and no other program has the document open for writing.
    return try saved.withLock { saved in
      if let failure = shared.withLock({ $0.failure }) { throw failure }
      try look(&saved)
      let state = shared.withLock { $0.state }
      // A file that only the latest saves do not refer to any more must stay as long as a power failure may undo these
      // saves.
      try file.bringNameToDisk()
      return try folder.collect { state.externalContents(document.model) }
    }
  }

  // MARK: Keys

  /// No other program writes while the store is open, so keys are reserved in memory. A save writes the highest one to
  /// the document.
  package func reserveKeys(_ count: Int64) throws -> Range<Int64> {
    try shared.withLock { shared in
      // Nothing can be saved to a read-only document, so its keys need not be permanent.
      let wanted = isReadOnly ? min(max(0, count), .max - shared.nextKey) : max(0, count)
      let (end, overflow) = shared.nextKey.addingReportingOverflow(wanted)
      guard !overflow else { throw KeyReservation.exhausted(name) }
      defer { shared.nextKey = end }
      return shared.nextKey..<end
    }
  }

  package func returnKeys(_ unused: Range<Int64>) {
    shared.withLock { shared in
      if unused.upperBound == shared.nextKey && !unused.isEmpty { shared.nextKey = unused.lowerBound }
    }
  }

  // MARK: Reading

  package func snapshot() throws -> Snapshot {
    let (state, stamp, failure) = shared.withLock { ($0.state, $0.stamp, $0.failure) }
    if let failure { throw failure }
    if (try? file.files.stamp(file.path)) == stamp { return Snapshot(state, layout) }
    return try snapshotAfterLook()
  }

  package func lineage() -> StoreLineage {
    StoreLineage(nextKey: saved.withLock { $0.nextKey }, former: recordedLineage.former.map(\.transferred))
  }

  /// The snapshot after a check of the file: a save may be in progress in another thread, or another program has
  /// changed the file.
  private func snapshotAfterLook() throws -> Snapshot {
    try saved.withLock { saved in
      try look(&saved)
      return Snapshot(shared.withLock { $0.state }, layout)
    }
  }

  /// - Throws: ``StoreError`` if the document is not the one that was last read or written.
  private func look(_ saved: inout Saved) throws {
    let found: DocumentFile.Known?
    do throws(FileProblem) {
      found = try file.confirmed(saved.known)
    } catch {
      throw error.error("read", name)
    }
    guard let found else { throw DocumentFile.changedByOthers(name) }
    saved.known = found
    shared.withLock { $0.stamp = found.stamp }
  }

  // MARK: Saving

  package func save(_ request: SaveRequest) throws -> SaveOutcome {
    if isClosed.isSet { throw closed }
    if let refusalOfWrites { throw refusalOfWrites }
    if isReadOnly {
      throw StoreError(.readOnly, "\(name) was opened for reading only.", remedy: "Open it without readOnly.")
    }
    document.folder?.noteSave()
    let externals = document.folder.map(ExternalWriter.init)
    let draft = try SaveDraft(request, layout, externals)
    try externals?.finish()
    let outcome = try saved.withLock { saved in
      let (state, failure) = shared.withLock { ($0.state, $0.failure) }
      if let failure { throw failure }
      let next = try state.saving(draft, layout)
      if !request.isEmpty {
        try look(&saved)
        try write(next.state, max(saved.nextKey, draft.highestKey &+ 1), &saved)
      }
      return next.outcome
    }
    externals?.didCommit()
    return outcome
  }

  private func write(_ state: MemoryState, _ nextKey: Int64, _ saved: inout Saved) throws {
    let bytes = try DocumentWriter.text(state, nextKey: nextKey, recordedLineage, document, sizeHint: saved.size)
    do throws(DocumentFile.Failure) {
      saved.known = try file.replace(saved.known, by: bytes)
    } catch {
      switch error {
      case .before(let error): throw error
      case .after(let error):
        shared.withLock { $0.failure = Self.unknown(error, name) }
        throw error
      }
    }
    saved.nextKey = nextKey
    saved.size = bytes.count
    let stamp = saved.known.stamp
    shared.withLock { shared in
      shared.state = state
      shared.stamp = stamp
      shared.nextKey = max(shared.nextKey, nextKey)
    }
  }

  private static func unknown(_ error: StoreError, _ name: String) -> StoreError {
    StoreError(
      error.code, "\(name) is in an unknown state since a save failed at its last step: \(error.message)",
      remedy: "Open the store again; the latest save is in it wholly or not at all.")
  }
}
