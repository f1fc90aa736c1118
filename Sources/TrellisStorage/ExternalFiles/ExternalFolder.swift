package import Foundation
package import TrellisModel

/// The folder beside a store that contains the files of its external data.
///
/// A file is named by its content, written once and never changed. These rules prevent a crash from losing a file:
/// 1. A file is complete, synced and has its final name before the row that refers to it is committed.
/// 2. Only ``collect(_:)`` removes files. It runs while no save can commit, and keeps every file that a row or a value
///    in memory refers to.
/// 3. Every user of the store holds a shared lock in the folder, and a collection holds it exclusively. A collection
///    therefore never removes files that another process refers to in memory.
/// 4. A mark exists in the folder from before the first unreferenced file can occur until nothing is left to collect.
package final class ExternalFolder: ExternalFileOrigin {
  package let path: String
  /// The maximum size in bytes of data that is stored in the row.
  package let largestInRow: Int
  let files: any FileOperations
  let shared = Locked(Shared())

  struct Shared {
    /// The number of values in memory for each file.
    var users: [ContentDigest: Int] = [:]
    var lock: (any OpenFile)?
    var isMarked = false
    /// Whether a reader has tried to acquire the lock.
    var isLockTried = false
    /// The number of copies of the folder in progress.
    var copies = 0
    /// The temporary files being written, before they get their final names.
    var temporaries: Set<String> = []
    /// A counter for unique temporary names.
    var count = 0
  }

  /// - Parameters:
  ///   - store: the path of the store's file.
  ///   - largestInRow: the maximum size in bytes of data that is stored in the row.
  package init(besides store: String, largestInRow: Int, files: any FileOperations = SystemFiles()) {
    path = Self.path(besides: store)
    self.largestInRow = max(0, largestInRow)
    self.files = files
  }

  /// The default for `largestInRow`: SQLite reads smaller data faster than a file.
  package static let usualLargestInRow = 65_536

  /// The maximum size of a value in bytes. It is in memory when it is set and when it is read.
  package static let largest = Int(Int32.max)
  static let tooLarge = FileProblem(.tooLarge, "a value has \(largest) bytes at most")

  /// The path of a store's folder.
  package static func path(besides store: String) -> String { store + ".external" }

  var lockPath: String { path + "/lock" }
  var markPath: String { path + "/uncollected" }
  func path(of digest: ContentDigest) -> String { "\(path)/\(digest.text)" }

  /// Closes the lock file.
  package func close() {
    shared.withLock { shared in
      try? shared.lock?.close()
      shared.lock = nil
    }
  }

  /// Closes the lock file until the folder is next used.
  package func release() {
    shared.withLock { shared in
      try? shared.lock?.close()
      shared.lock = nil
      shared.isLockTried = false
    }
  }

  // MARK: Values in memory

  package func noteUse(of digest: ContentDigest) {
    shared.withLock { $0.users[digest, default: 0] += 1 }
  }

  package func noteRelease(of digest: ContentDigest) {
    shared.withLock { shared in
      guard let count = shared.users[digest] else { return }
      shared.users[digest] = count > 1 ? count - 1 : nil
    }
  }

  /// The file that a text in a row refers to; nil if the text is not a reference.
  package func file(_ reference: String) -> ExternalFile? {
    guard let (digest, size) = ExternalFile.parts(of: reference) else { return nil }
    shareWithoutWaiting()
    return ExternalFile(digest, size: size, origin: self)
  }

  /// As ``file(_:)``, but touches nothing, for use before it is certain that the store will be opened.
  package func unsharedFile(_ file: ExternalFile) -> ExternalFile {
    ExternalFile(file.digest, size: file.size, origin: self)
  }

  /// Tries to acquire the shared lock. A reader can do without it, for example if the folder is read-only, missing, or
  /// a link.
  package func shareWithoutWaiting() {
    shared.withLock { shared in
      guard shared.lock == nil, !shared.isLockTried else { return }
      shared.isLockTried = true
      guard (try? files.isFolder(path)) == true else { return }
      shared.lock = try? files.share(lockPath)
    }
  }

  // MARK: Reading

  package func bytes(of file: ExternalFile) throws -> [UInt8] { try content(of: file) }
  package func data(of file: ExternalFile) throws -> Data { try content(of: file) }

  private func content<Content: FileContent>(of file: ExternalFile) throws -> Content {
    do throws(FileProblem) {
      // The folder must not be a link, either.
      guard try files.isFolder(path) else { throw FileProblem(.missing, "the folder is missing") }
      guard file.size <= Self.largest else { throw Self.tooLarge }
      let bytes: Content = try files.read(path(of: file.digest), limit: max(1, file.size), followingLinks: false).bytes
      if bytes.withUnsafeBytes(file.holds) { return bytes }
    } catch {
      throw error.externalError("read", path(of: file.digest))
    }
    throw damaged(file)
  }

  package func check(_ file: ExternalFile) throws {
    var hasher = ContentHasher(expecting: file.size)
    var count = 0
    do throws(FileProblem) {
      guard try files.isFolder(path) else { throw FileProblem(.missing, "the folder is missing") }
      let name = path(of: file.digest)
      try files.read(name, inPiecesOf: SystemFiles.pieceSize, followingLinks: false) {
        piece throws(FileProblem) in
        // A file of another size need not be read to its end.
        if count == 0, let stamp = try files.stamp(name), stamp.size != Int64(file.size) { return false }
        hasher.add(piece)
        count += piece.count
        return count <= file.size
      }
    } catch {
      throw error.externalError("read", path(of: file.digest))
    }
    guard count == file.size, hasher.digest() == file.digest else { throw damaged(file) }
  }

  package func start(of file: ExternalFile, _ count: Int) throws -> [UInt8] {
    do throws(FileProblem) {
      guard try files.isFolder(path) else { throw FileProblem(.missing, "the folder is missing") }
      return try files.start(of: path(of: file.digest), min(count, file.size), followingLinks: false)
    } catch {
      throw error.externalError("read", path(of: file.digest))
    }
  }

  private func damaged(_ file: ExternalFile) -> StoreError {
    StoreError(
      .damaged, "\(path(of: file.digest)) does not hold what was written to it.",
      remedy: "Put the file back from a backup of the store's folder, or set the attribute to another value.")
  }
}

extension FileProblem {
  /// Converts the problem to a store error: the failed operation and the file of external data.
  func externalError(_ done: String, _ path: String) -> StoreError {
    let message = "The file of external data \(path) could not be \(done): \(reason)."
    switch kind {
    case .missing:
      return StoreError(
        .missingFile, message,
        remedy: "Put the file back from a backup of the store's folder, or set the attribute to another value.")
    case .full: return StoreError(.full, message, remedy: "Make room on the disk and save again.")
    case .readOnly:
      return StoreError(.readOnly, message, remedy: "Allow this program to use the file and its folder.")
    case .busy:
      return StoreError(.busy, message, remedy: "Try again when no other program uses the store.")
    case .tooLarge:
      return StoreError(
        .limit, message, remedy: "Set the attribute to another value, or read the file with another program.")
    case .exists, .irregular, .other:
      return StoreError(.inputOutput, message, remedy: "Check the disk and the folder, and try again.")
    }
  }
}

// MARK: - Writing

extension ExternalFolder {
  /// Writes bytes to their file and syncs it. The name is durable only after the folder is synced, too.
  ///
  /// An existing file is replaced, because only reading it would show whether it is intact.
  ///
  /// - Throws: ``StoreError``. At most an unused file is left behind.
  func write(_ bytes: Data, _ digest: ContentDigest) throws(StoreError) -> ExternalFile {
    guard bytes.count <= Self.largest else { throw Self.tooLarge.externalError("written", path(of: digest)) }
    // From here on, the file cannot be collected.
    let made = ExternalFile(digest, size: bytes.count, origin: self)
    try write(digest) { file throws(FileProblem) in
      var problem: FileProblem?
      bytes.withUnsafeBytes { bytes in
        do throws(FileProblem) { try file.write(bytes) } catch { problem = error }
      }
      if let problem { throw problem }
    }
    return made
  }

  /// Writes the file for a content.
  ///
  /// - Parameter body: receives a new, empty file and writes the content to it.
  /// - Throws: ``StoreError``. At most an unused file is left behind.
  func write(_ digest: ContentDigest, _ body: (any OpenFile) throws(FileProblem) -> Void) throws(StoreError) {
    try prepare()
    let name = beginTemporary(digest)
    defer { _ = shared.withLock { $0.temporaries.remove(name) } }
    let temporary = "\(path)/\(name)"
    do throws(FileProblem) {
      try? files.remove(temporary)
      try writeFile(temporary, body)
      try files.rename(temporary, to: path(of: digest))
    } catch {
      try? files.remove(temporary)
      throw error.externalError("written", path(of: digest))
    }
  }

  private func beginTemporary(_ digest: ContentDigest) -> String {
    shared.withLock { shared in
      shared.count += 1
      let name = "\(digest.text)-\(shared.count).new"
      shared.temporaries.insert(name)
      return name
    }
  }

  private func writeFile(
    _ path: String, _ body: (any OpenFile) throws(FileProblem) -> Void
  ) throws(FileProblem) {
    let file = try files.create(path, permissions: 0o600)
    defer { try? file.close() }
    try body(file)
    // Syncs for any durability, because a row without its file would be worse than a lost save.
    try file.sync()
    try file.close()
  }

  /// Syncs the folder with the names of the written files.
  func syncNames() throws(StoreError) {
    do throws(FileProblem) { try files.syncFolder(path) } catch {
      throw error.externalError("brought to the disk", path)
    }
  }

  /// Marks the folder for collection if it exists, because a save may leave unreferenced files. Called before each
  /// save, so it is cheap. A save that writes no file continues if the mark cannot be written; the only loss is disk
  /// space.
  package func noteSave() {
    if shared.withLock({ $0.isMarked }) { return }
    if (try? files.isFolder(path)) == true { try? prepare() }
  }

  // MARK: Folder

  /// Creates the folder, acquires a shared lock, and marks the folder for collection.
  private func prepare() throws(StoreError) {
    do throws(FileProblem) {
      if shared.withLock({ $0.isMarked && $0.lock != nil }) { return }
      try makeFolder()
      try share()
      try mark()
    } catch {
      throw error.externalError("used", path)
    }
  }

  private func makeFolder() throws(FileProblem) {
    if try files.isFolder(path) { return }
    do throws(FileProblem) {
      try files.makeFolder(path)
    } catch {
      // Another process may have created it meanwhile.
      guard case .exists = error.kind, try files.isFolder(path) else { throw error }
    }
    try files.syncFolder(FilePlace(path).folder)
  }

  /// Acquires a shared lock. A collection holds the exclusive lock only briefly, so this retries.
  private func share() throws(FileProblem) {
    if shared.withLock({ $0.lock != nil }) { return }
    var tries = 0
    while true {
      do throws(FileProblem) {
        let lock = try files.share(lockPath)
        return shared.withLock { shared in
          if shared.lock == nil { shared.lock = lock }
        }
      } catch {
        tries += 1
        guard case .busy = error.kind, tries < 500 else { throw error }
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
  }

  private func mark() throws(FileProblem) {
    do throws(FileProblem) {
      let file = try files.create(markPath, permissions: 0o600)
      try file.sync()
      try file.close()
    } catch {
      guard case .exists = error.kind else { throw error }
    }
    shared.withLock { $0.isMarked = true }
  }
}

// MARK: - Collecting

extension ExternalFolder {
  /// Whether there may be unreferenced files.
  package var isMarked: Bool { (try? files.stamp(markPath)) ?? nil != nil }

  /// Removes the unreferenced files. No save may commit meanwhile.
  ///
  /// - Parameter referenced: the contents that committed rows refer to.
  /// - Returns: the number of removed files.
  /// - Throws: ``StoreError`` with the code `busy` if another user in this process or another one has the store open;
  ///   errors of `referenced`.
  package func collect(_ referenced: () throws -> Set<ContentDigest>) throws -> Int {
    do {
      guard try files.isFolder(path) else { return 0 }
      let lock = try shared.withLock { shared in
        if shared.copies > 0 { throw FileProblem(.busy, "the store is being copied") }
        if let lock = shared.lock { return lock }
        let lock = try files.share(lockPath)
        shared.lock = lock
        return lock
      }
      defer { release(lock) }
      try lock.hold(alone: true)
      return try collectAlone(referenced())
    } catch let problem as FileProblem {
      throw problem.externalError("collected", path)
    }
  }

  /// Changes the exclusive lock back to a shared one. If that fails, the lock is released and the next save acquires a
  /// new one.
  private func release(_ lock: any OpenFile) {
    if (try? lock.hold(alone: false)) != nil { return }
    shared.withLock { shared in
      shared.lock = nil
      shared.isLockTried = false
    }
    try? lock.close()
  }

  private func collectAlone(_ referenced: Set<ContentDigest>) throws -> Int {
    var (removed, kept) = (0, 0)
    for name in try files.names(in: path) {
      switch ContentDigest(name) {
      case let digest? where referenced.contains(digest): continue
      case let digest? where shared.withLock({ $0.users[digest] != nil }): kept += 1
      case nil where !isLeftover(name): continue
      default:
        try files.remove("\(path)/\(name)")
        removed += 1
      }
    }
    if kept == 0 {
      shared.withLock { $0.isMarked = false }
      try files.remove(markPath)
    }
    return removed
  }

  /// Whether a file was left behind by a crash while it was being written.
  private func isLeftover(_ name: String) -> Bool {
    let parts = name.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, ContentDigest(parts[0]) != nil, parts[1].hasSuffix(".new") else { return false }
    return shared.withLock { !$0.temporaries.contains(name) }
  }
}

// MARK: - Copying

extension ExternalFolder {
  /// Prevents collection of files while `body` runs, so that a copy of the store made in it finds all files it refers
  /// to.
  package func keepingFiles<Result>(_ body: () throws -> Result) rethrows -> Result {
    shared.withLock { $0.copies += 1 }
    defer { shared.withLock { $0.copies -= 1 } }
    return try body()
  }
}

/// A copy of external data to the folder of a store's copy, which is marked for collection.
///
/// Files of earlier copies stay: the same name means the same content.
package final class ExternalCopy {
  private let source: ExternalFolder
  private let target: ExternalFolder
  private var files: any FileOperations { source.files }
  /// Whether there was no folder before.
  private var hasNewFolder = false
  private var written: [ContentDigest] = []

  /// - Parameter store: the path of the copy's file.
  package init(of folder: ExternalFolder, besides store: String) {
    source = folder
    target = ExternalFolder(besides: store, largestInRow: folder.largestInRow, files: folder.files)
  }

  deinit { target.close() }

  /// Copies the files that rows refer to. A file that is missing is left out, as the row is copied as it is.
  ///
  /// - Throws: ``StoreError``, which names the object and the property of a file that has another size than its row says.
  package func copy(_ references: [ExternalReference]) throws(StoreError) {
    do throws(FileProblem) {
      guard try files.isFolder(source.path) else { return }
      hasNewFolder = try !files.isFolder(target.path)
    } catch {
      throw error.externalError("copied", source.path)
    }
    var sizes: [ContentDigest: Int] = [:]
    for reference in references where sizes[reference.digest] != reference.size {
      guard try isThere(reference) else { continue }
      sizes[reference.digest] = reference.size
      try copy(reference)
    }
    if !sizes.isEmpty { try target.syncNames() }
  }

  /// Removes what was copied.
  package func discard() {
    for digest in written { try? files.remove(target.path(of: digest)) }
    written = []
    guard hasNewFolder else { return }
    target.close()
    for path in [target.markPath, target.lockPath] { try? files.remove(path) }
    files.removeEmptyFolder(target.path)
  }

  private func isThere(_ reference: ExternalReference) throws(StoreError) -> Bool {
    let path = source.path(of: reference.digest)
    let stamp: FileStamp?
    do throws(FileProblem) { stamp = try files.stamp(path) } catch {
      throw error.externalError("copied", path).at(reference.entity, reference.key, reference.property)
    }
    guard let stamp else { return false }
    guard stamp.size == Int64(reference.size) else { throw otherSize(reference) }
    return true
  }

  private func otherSize(_ reference: ExternalReference) -> StoreError {
    StoreError(
      .damaged, "\(source.path(of: reference.digest)) has another size than the \(reference.size) bytes of the value.",
      remedy: "Put the file back from a backup of the store's folder, or set the attribute to another value."
    ).at(reference.entity, reference.key, reference.property)
  }

  /// Copies a file as it is. Detecting damage is left to a check.
  private func copy(_ reference: ExternalReference) throws(StoreError) {
    let path = source.path(of: reference.digest)
    let isNew = (try? files.stamp(target.path(of: reference.digest))) == .some(nil)
    var unread: FileProblem?
    do throws(StoreError) {
      try target.write(reference.digest) { file throws(FileProblem) in
        var unwritten: FileProblem?
        var count = 0
        do throws(FileProblem) {
          try files.read(path, inPiecesOf: SystemFiles.pieceSize, followingLinks: false) { piece in
            count += piece.count
            guard count <= reference.size else { return false }
            do throws(FileProblem) { try file.write(piece) } catch { unwritten = error }
            return unwritten == nil
          }
          if unwritten == nil, count != reference.size { throw FileProblem(.other, "its size has changed") }
        } catch {
          unread = error
          throw error
        }
        if let unwritten { throw unwritten }
      }
    } catch {
      throw (unread?.externalError("copied", path) ?? error).at(reference.entity, reference.key, reference.property)
    }
    if isNew { written.append(reference.digest) }
  }
}
