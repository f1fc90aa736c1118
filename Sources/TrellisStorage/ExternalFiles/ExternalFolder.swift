package import TrellisSchema

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

  package func bytes(of file: ExternalFile) throws -> [UInt8] {
    do throws(FileProblem) {
      // The folder must not be a link, either.
      guard try files.isFolder(path) else { throw FileProblem(.missing, "the folder is missing") }
      guard file.size <= Self.largest else { throw Self.tooLarge }
      let bytes = try files.read(path(of: file.digest), limit: max(1, file.size), followingLinks: false).bytes
      if bytes.withUnsafeBytes(file.holds) { return bytes }
    } catch {
      throw error.externalError("read", path(of: file.digest))
    }
    throw damaged(file)
  }

  package func check(_ file: ExternalFile) throws {
    var hasher = ContentHasher()
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
