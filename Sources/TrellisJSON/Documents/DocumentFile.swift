import Foundation
import TrellisModel
import TrellisStorage

/// A document in the file system. It is read and replaced as a whole, and never written in place.
///
/// A replacement is written beside the document, synced to the disk and then renamed over it, so the path always leads
/// to the complete old or the complete new document. The names of the two files beside it are derived from its own
/// name, so a crash leaves at most one file of each kind, which the next opening of the document removes or takes over.
struct DocumentFile: Sendable {
  /// The known state of the document.
  struct Known: Sendable {
    var stamp: FileStamp
    var checksum: UInt64
    /// Whether another program could have written since without changing the stamp, because clocks of file systems are
    /// coarse.
    var isYoung: Bool
  }

  let path: String
  let files: any FileOperations
  let durability: Durability

  private var place: FilePlace { FilePlace(path) }
  private var folder: String { place.folder }
  var temporaryPath: String { place.temporaryPath }
  var lockPath: String { place.lockPath }

  // MARK: Reading

  /// The document's content. Nil if the file is missing or empty.
  func read() throws(FileProblem) -> (bytes: [UInt8], known: Known)? {
    do throws(FileProblem) {
      let (bytes, stamp): ([UInt8], FileStamp) = try files.read(path, limit: DocumentFormat.maximumSize)
      return (bytes, Known(stamp: stamp, checksum: bytes.contentChecksum, isYoung: stamp.isYoung))
    } catch {
      if case .missing = error.kind { return nil }
      throw error
    }
  }

  /// The known state after a check of the file. Nil if another program has changed or removed it.
  ///
  /// The content is compared only if the stamp differs or is too recent to be reliable.
  func confirmed(_ known: Known) throws(FileProblem) -> Known? {
    guard let stamp = try files.stamp(path) else { return nil }
    if stamp == known.stamp && !known.isYoung { return known }
    guard stamp.size == known.stamp.size, let (_, found) = try read() else { return nil }
    return found.checksum == known.checksum ? found : nil
  }

  // MARK: Replacing

  /// The stage at which a replacement failed.
  enum Failure: Error {
    /// The document is unchanged.
    case before(StoreError)
    /// The new document is in place, but may not survive a power failure.
    case after(StoreError)
  }

  /// - Parameter known: the required state of the document. Nil if it must be missing or empty.
  func replace(_ known: Known?, by bytes: [UInt8]) throws(Failure) -> Known {
    // Renaming needs only the permissions of the folder.
    guard known == nil || files.mayWrite(to: path) else {
      throw .before(
        StoreError(
          .readOnly, "\(path) may not be written to.",
          remedy: "Give its owner the right to write to it, or open the document for reading only."))
    }
    let stamp: FileStamp
    do throws(FileProblem) {
      try? files.remove(temporaryPath)
      stamp = try writeBeside(bytes, permissions: known?.stamp.permissions ?? 0o600)
    } catch {
      try? files.remove(temporaryPath)
      throw .before(error.error("written", path))
    }
    do throws(Failure) {
      try rename(over: known)
    } catch {
      try? files.remove(temporaryPath)
      throw error
    }
    do throws(FileProblem) {
      if durability == .durable { try files.syncFolder(folder) }
    } catch {
      throw .after(error.error("brought to the disk for good", path))
    }
    return Known(stamp: stamp, checksum: bytes.contentChecksum, isYoung: true)
  }

  /// Ensures that the renamed document survives a power failure.
  func bringNameToDisk() throws(StoreError) {
    do throws(FileProblem) { try files.syncFolder(folder) } catch {
      throw error.error("brought to the disk for good", path)
    }
  }

  private func writeBeside(_ bytes: [UInt8], permissions: UInt32) throws(FileProblem) -> FileStamp {
    let file = try files.create(temporaryPath, permissions: permissions)
    do throws(FileProblem) {
      var problem: FileProblem?
      bytes.withUnsafeBytes { bytes in
        do throws(FileProblem) { try file.write(bytes) } catch { problem = error }
      }
      if let problem { throw problem }
      // This applies to `relaxed`, too: if the name reached the disk before the content, the document would be torn.
      try file.sync()
      let stamp = try file.stamp()
      try file.close()
      return stamp
    } catch {
      try? file.close()
      throw error
    }
  }

  /// Checks the file again before renaming, because writing may have taken a while.
  private func rename(over known: Known?) throws(Failure) {
    do throws(FileProblem) {
      let found = try files.stamp(path)
      if found == known?.stamp || known == nil && found?.size == 0 { return try files.rename(temporaryPath, to: path) }
    } catch {
      throw .before(error.error("replaced", path))
    }
    throw .before(Self.changedByOthers(path))
  }

  static func changedByOthers(_ path: String) -> StoreError {
    StoreError(
      .changedByOthers, "\(path) was changed, replaced or removed by another program while it was open.",
      remedy:
        "Open the store again to work with what is in the file now; what this program has not saved stays unsaved.")
  }
}

extension FileProblem {
  /// Converts the problem to a store's error: the operation that failed and the document.
  func error(_ done: String, _ path: String) -> StoreError {
    let message = "\(path) could not be \(done): \(reason)."
    switch kind {
    case .full: return StoreError(.full, message, remedy: "Make room on the disk and save again.")
    case .readOnly:
      return StoreError(.readOnly, message, remedy: "Allow this program to write to the file and its folder.")
    case .missing, .exists, .busy, .irregular, .tooLarge, .other:
      return StoreError(.inputOutput, message, remedy: "Check the disk and the folder, and save again.")
    }
  }
}

extension [UInt8] {
  /// A checksum that detects accidental differences.
  var contentChecksum: UInt64 {
    withUnsafeBytes { bytes in
      var hash = 0xCBF2_9CE4_8422_2325 ^ UInt64(truncatingIfNeeded: bytes.count)
      var place = 0
      while place + 8 <= bytes.count {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 29
        place += 8
      }
      while place < bytes.count {
        hash = (hash ^ UInt64(bytes[place])) &* 0x0000_0100_0000_01B3
        place += 1
      }
      return hash
    }
  }
}

// MARK: - Age

extension FileStamp {
  /// Whether the file was written so recently that another write could have the same time. The coarsest file system
  /// clock in use has a resolution of two seconds.
  var isYoung: Bool { abs(Date().timeIntervalSince1970 - Double(modifiedSeconds)) < 3 }
}

// MARK: - Document opening

/// Opens or creates a document. A document that does not fit is not changed.
struct DocumentOpening {
  struct Opened {
    var loaded: LoadedDocument
    var known: DocumentFile.Known
    var size: Int
    var lock: (any OpenFile)?
  }

  let file: DocumentFile
  let document: DocumentLayout
  let isReadOnly: Bool
  let policy: MigrationPolicy
  var observer: MigrationObserver?

  func open() throws(StoreError) -> Opened {
    let lock: (any OpenFile)?
    do throws(StoreError) { lock = isReadOnly ? nil : try Self.lock(file) } catch {
      guard error.code == .full else { throw error }
      return try openWithoutRoom(error)
    }
    do throws(StoreError) {
      var opened = try read()
      opened.lock = lock
      // A read-only store releases the lock, for programs that write.
      if let lock, opened.loaded.refusalOfWrites != nil {
        Self.release(lock, file)
        opened.lock = nil
      }
      // Removes the partially written file of a crashed program. No other program can be writing now.
      if opened.lock != nil { try? file.files.remove(file.temporaryPath) }
      return opened
    } catch {
      if let lock { Self.release(lock, file) }
      throw error
    }
  }

  /// A full disk does not prevent reading.
  private func openWithoutRoom(_ refusal: StoreError) throws(StoreError) -> Opened {
    do throws(StoreError) {
      var opened = try DocumentOpening(
        file: file, document: document, isReadOnly: true, policy: policy, observer: observer
      ).open()
      opened.loaded.refusalOfWrites = refusal
      return opened
    } catch {
      // A document that is missing would have to be created.
      throw error.code == .cannotOpen ? refusal : error
    }
  }

  /// Releases the lock. Its file is removed first, so that no program takes a lock that is about to be removed.
  static func release(_ lock: any OpenFile, _ file: DocumentFile) {
    try? file.files.remove(file.lockPath)
    try? lock.close()
  }

  static func lock(_ file: DocumentFile) throws(StoreError) -> any OpenFile {
    do throws(FileProblem) {
      return try file.files.lock(file.lockPath)
    } catch {
      if case .busy = error.kind {
        throw StoreError(
          .busy, "\(file.path) is open for writing already, in this program or another.",
          remedy: "Close it there, share its container, or open it for reading only.")
      }
      if case .full = error.kind {
        throw StoreError(
          .full, "There was no room on the disk when \(file.path) was opened, so it is only read.",
          remedy: "Make room on the disk, then open the store again.")
      }
      throw cannotOpen(file, "its lock cannot be taken: \(error.reason)")
    }
  }

  private func read() throws(StoreError) -> Opened {
    let found: (bytes: [UInt8], known: DocumentFile.Known)?
    do throws(FileProblem) { found = try file.read() } catch {
      if case .irregular = error.kind {
        throw StoreError(
          .cannotOpen, "\(file.path) cannot be opened: \(error.reason).", remedy: "Give the store the path of a file.")
      }
      throw cannotOpen(error.reason)
    }
    guard let (bytes, known) = found, !bytes.isEmpty else {
      guard !isReadOnly else {
        throw cannotOpen(found == nil ? "there is no such file" : "it is empty, and was to be opened for reading only")
      }
      return try create(over: found?.known)
    }
    if bytes.starts(with: Self.databaseStart) {
      throw StoreError(
        .foreignFile, "\(file.path) is a SQLite database, and no JSON document.", remedy: "Open it with .sqlite(at:).")
    }
    let needed = try DocumentReader.migration(of: bytes, file.path, to: document, policy)
    let loaded: LoadedDocument
    if let needed {
      observer?.begin(total: 2)
      loaded = try migration(needed).migrated(bytes)
      observer?.finish(1)
      try observer?.check(file.path)
    } else {
      loaded = try DocumentReader.read(bytes, file.path, document)
    }
    // The container is about to reserve keys. Nothing is written before it is certain that this succeeds.
    guard isReadOnly || loaded.refusalOfWrites != nil || loaded.nextKey <= .max - KeyReservation.size else {
      throw KeyReservation.exhausted(file.path)
    }
    let opened = Opened(loaded: loaded, known: known, size: bytes.count, lock: nil)
    guard let needed, !isReadOnly else { return opened }
    return try write(opened, needed.migration, former: bytes)
  }

  /// The plan of the document's migration; nil if it is missing or need not be migrated.
  func plan() throws(StoreError) -> MigrationPlan? {
    let found: (bytes: [UInt8], known: DocumentFile.Known)?
    do throws(FileProblem) { found = try file.read() } catch { throw cannotOpen(error.reason) }
    guard let bytes = found?.bytes, !bytes.isEmpty,
      let needed = try DocumentReader.migration(of: bytes, file.path, to: document, policy, tellsBounds: true)
    else { return nil }
    return try migration(needed).plan(bytes)
  }

  private func migration(_ needed: NeededMigration) -> DocumentMigration {
    DocumentMigration(
      needed, to: document, formerFolder: formerFolder, path: file.path, policy: policy, observer: observer)
  }

  /// The folder of external data, which the former model may have, and the current one not.
  private var formerFolder: ExternalFolder {
    document.folder
      ?? ExternalFolder(besides: file.path, largestInRow: ExternalFolder.usualLargestInRow, files: file.files)
  }

  /// Replaces a document by its migrated form, after a copy of it if anything is lost.
  private func write(
    _ opened: Opened, _ migration: Migration, former: [UInt8]
  ) throws(StoreError) -> Opened {
    if let refusal = opened.loaded.refusalOfWrites { throw refusal }
    if opened.loaded.losesData { try keep(former, migration) }
    var opened = opened
    let bytes = try DocumentWriter.text(
      opened.loaded.state, nextKey: opened.loaded.nextKey, opened.loaded.lineage, document, sizeHint: former.count)
    do throws(DocumentFile.Failure) {
      opened.known = try file.replace(opened.known, by: bytes)
    } catch {
      switch error {
      case .before(let error), .after(let error): throw error
      }
    }
    opened.size = bytes.count
    observer?.finish(1)
    return opened
  }

  /// The files that the rows of the document in its former model refer to.
  private func formerReferences(_ bytes: [UInt8], _ model: Model) throws(StoreError) -> [ExternalReference] {
    try DocumentReader.read(bytes, file.path, try DocumentLayout(model, formerFolder)).state.externalReferences(model)
  }

  private func keep(_ former: [UInt8], _ migration: Migration) throws(StoreError) {
    let path = "\(file.path).before-\(migration.stored.checksum)"
    do {
      let copy = try BackupFile(path, replacing: true, own: [file.path], files: file.files)
      let externals = ExternalCopy(of: formerFolder, besides: file.files.resolved(path))
      let references = migration.stored.hasExternalData ? try formerReferences(former, migration.stored) : []
      try copy.write(orDiscard: externals.discard) { file, _ in
        try externals.copy(references)
        try former.withUnsafeBytes { bytes in try file.write(bytes) }
      }
    } catch let error as StoreError {
      throw StoreError(
        error.code,
        "\(file.path) is not migrated, because data would be lost, and no copy can be written: \(error.message)",
        remedy: error.remedy)
    } catch {
      throw StoreError(
        .inputOutput,
        "\(file.path) is not migrated, because data would be lost, and no copy can be written: \(error).",
        remedy: "Check the disk and the folder.")
    }
  }

  /// The first bytes of every SQLite database.
  private static let databaseStart = Array("SQLite format 3\u{0}".utf8)

  private func create(over empty: DocumentFile.Known?) throws(StoreError) -> Opened {
    var loaded = LoadedDocument(state: MemoryState(document.layout), nextKey: 1)
    loaded.lineage.pass(policy.steps)
    let bytes = try DocumentWriter.text(loaded.state, nextKey: 1, loaded.lineage, document)
    do throws(DocumentFile.Failure) {
      return Opened(loaded: loaded, known: try file.replace(empty, by: bytes), size: bytes.count, lock: nil)
    } catch {
      switch error {
      case .before(let error), .after(let error): throw cannotOpen(error.message)
      }
    }
  }

  private func cannotOpen(_ reason: String) -> StoreError { Self.cannotOpen(file, reason) }

  private static func cannotOpen(_ file: DocumentFile, _ reason: String) -> StoreError {
    StoreError(
      .cannotOpen, "\(file.path) cannot be opened: \(reason).",
      remedy: "Check that the folder exists and may be written to, or open the document for reading only.")
  }
}

// MARK: - State loading

/// A state while a document is read, with the checks that need more than one object.
struct StateLoading: DocumentRows {
  private let document: DocumentLayout
  private(set) var state: MemoryState
  private(set) var highestKey: Int64 = 0
  /// The objects with their offsets.
  private var rows: [(row: MemoryRow, offset: Int)] = []
  private var keys: Set<Int64> = []

  private var layout: Layout { document.layout }

  init(_ document: DocumentLayout) {
    self.document = document
    state = MemoryState(document.layout)
  }

  /// - Throws: ``DocumentFault`` if another object has the same key or unique values.
  mutating func add(_ row: MemoryRow, at offset: Int, _ bytes: UnsafeBufferPointer<UInt8>) throws(DocumentFault) {
    guard keys.insert(row.key).inserted else {
      throw DocumentFault(
        "another object has the same \"_key\"", at: place(of: DocumentFormat.key, in: offset, bytes), .notUnique)
    }
    for index in layout.valueIndexesOf[row.entity] { try checkUnique(row, index, offset) }
    rows.append((row, offset))
    highestKey = max(highestKey, row.key)
    state.replace(nil, by: row, layout)
  }

  private func checkUnique(_ row: MemoryRow, _ index: Layout.ValueIndex, _ offset: Int) throws(DocumentFault) {
    guard let hash = index.hash(row) else { return }
    let root = layout.model.entities[row.entity].root
    let others = state.values[index.index].targets(hash)
    guard others.contains(where: { state.row(root, $0.key).map { index.areSame($0, row) } ?? false }) else { return }
    let entity = layout.model.entities[row.entity]
    let names = index.columns.map { document.fields[entity.index][$0].name }
    throw DocumentFault(
      "another object of \(entity.name) has the same \(names.joined(separator: ", "))", at: offset, .notUnique,
      entity: entity.name, properties: names)
  }

  // MARK: References

  /// Checks that references lead to objects of the right entity, unless their delete rule is `noAction`.
  func checkReferences(_ bytes: UnsafeBufferPointer<UInt8>) throws(DocumentFault) {
    let destinations = layout.references.map { layout.model.destination(of: $0) }
    for (row, offset) in rows {
      for reference in layout.referencesOf[row.entity] {
        guard let target = row.reference(reference.column) else { continue }
        let found = state.row(reference.targetRoot, target)
        if let found, destinations[reference.index].contains(found.entity) { continue }
        if found == nil, !reference.isChecked { continue }
        throw dangling(row, reference, offset, bytes)
      }
    }
  }

  private func dangling(
    _ row: MemoryRow, _ reference: Layout.Reference, _ offset: Int, _ bytes: UnsafeBufferPointer<UInt8>
  ) -> DocumentFault {
    let entity = layout.model.entities[row.entity]
    let name = document.fields[row.entity][reference.column].name
    let destination = entity.properties[reference.property].relationship?.description.destination ?? "its type"
    return DocumentFault(
      "\(entity.name).\(name): no object of \(destination) has this key", at: place(of: name, in: offset, bytes),
      .danglingReference, entity: entity.name, properties: [name])
  }

  // MARK: Pairs

  mutating func add(_ pair: SaveRequest.Pairs.Pair, to table: Int, at offset: Int) throws(DocumentFault) {
    let join = layout.model.joinTables[table]
    guard isObject(pair.first, of: join.first.entity), isObject(pair.partner, of: join.partnerEntity) else {
      throw DocumentFault("one end of the pair is no object of its entity", at: offset, .danglingReference)
    }
    guard !state.forward[table].contains(pair.first, pair.partner) else {
      throw DocumentFault("this pair is already in the list", at: offset, .notUnique)
    }
    state.setPair(
      table, first: pair.first, partner: pair.partner, place: pair.place, inversePlace: pair.inversePlace)
  }

  /// Checks that a relationship that is its own inverse has each pair in both directions.
  func checkSymmetry(
    of table: Int, _ offsets: [Int], _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(DocumentFault) {
    guard layout.model.joinTables[table].isSymmetric else { return }
    for offset in offsets {
      var scanner = JSONScanner(bytes, at: offset)
      let pair = try PairParser.read(&scanner)
      guard state.forward[table].contains(pair.partner, pair.first) else {
        throw DocumentFault("the same pair with \"from\" and \"to\" exchanged is missing", at: offset)
      }
    }
  }

  private func isObject(_ key: Int64, of entity: Int) -> Bool {
    let entity = layout.model.entities[entity]
    return state.row(entity.root, key).map { entity.subtree.contains($0.entity) } ?? false
  }

  // MARK: Places

  /// The offset of a key's value in an object that was read before. Only faults need it.
  private func place(of name: String, in object: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var scanner = JSONScanner(bytes, at: object)
    do throws(DocumentFault) {
      guard try scanner.open("{", "}", "an object") else { return object }
      repeat {
        if TextBytes.areEqual(try scanner.key(), name) { return scanner.offset }
        try scanner.skipValue()
      } while try scanner.goOn("}")
    } catch {}
    return object
  }
}

extension Model {
  /// The entities that a reference may lead to.
  fileprivate func destination(of reference: Layout.Reference) -> Set<Int> {
    let relationship = entities[reference.entity].properties[reference.property].relationship
    return Set(relationship.map { entities[$0.destination].subtree } ?? [])
  }
}
