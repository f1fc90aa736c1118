package import TrellisSchema

/// The folder beside a store with the files of its external data.
///
/// A file is named by its content, written once and never changed. These keep a crash from losing one:
/// 1. A file is complete, on the disk and under its name before the row that refers to it is committed.
/// 2. Only ``collect(_:)`` removes files, while nobody can commit, and none that a row or a value in memory refers to.
/// 3. Who has the store open shares the lock in the folder; who collects holds it alone. So nobody collects what others have in memory.
/// 4. A mark lies in the folder from before there can be a file too many until nothing is left to collect.
package final class ExternalFolder: ExternalFileOrigin {
  package let path: String
  /// How many bytes lie in the row at most.
  package let largestInRow: Int
  let files: any FileOperations
  let shared = Locked(Shared())

  struct Shared {
    /// How many values in memory there are for a file.
    var users: [ContentDigest: Int] = [:]
    var lock: (any OpenFile)?
    var isMarked = false
    /// Whether a reader has tried to get the lock.
    var isLockTried = false
    /// How many copies of the folder are being made.
    var copies = 0
    /// The files that are being written, before they have their names.
    var temporaries: Set<String> = []
    /// For names that nobody else uses.
    var count = 0
  }

  /// - Parameters:
  ///   - store: the path of the store's file.
  ///   - largestInRow: how many bytes lie in the row at most.
  package init(besides store: String, largestInRow: Int, files: any FileOperations = SystemFiles()) {
    path = Self.path(besides: store)
    self.largestInRow = max(0, largestInRow)
    self.files = files
  }

  /// How many bytes lie in the row unless the store is told otherwise: SQLite reads less than that faster than a file.
  package static let usualLargestInRow = 65_536

  /// How many bytes a value has at most: it is in memory when it is set and when it is read.
  package static let largest = Int(Int32.max)
  static let tooLarge = FileProblem(.tooLarge, "a value has \(largest) bytes at most")

  /// Where the folder of a store lies.
  package static func path(besides store: String) -> String { store + ".external" }

  var lockPath: String { path + "/lock" }
  var markPath: String { path + "/uncollected" }
  func path(of digest: ContentDigest) -> String { "\(path)/\(digest.text)" }

  /// Lets go of what is held open.
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

  /// The file that a text in a row refers to; nil when the text is no reference.
  package func file(_ reference: String) -> ExternalFile? {
    guard let (digest, size) = ExternalFile.parts(of: reference) else { return nil }
    shareWithoutWaiting()
    return ExternalFile(digest, size: size, origin: self)
  }

  /// The same while it is not known yet whether the store will be opened: nothing is touched.
  package func unsharedFile(_ file: ExternalFile) -> ExternalFile {
    ExternalFile(file.digest, size: file.size, origin: self)
  }

  /// Who only reads can do without the lock, as where the folder is read-only, missing, or a link to somewhere else.
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
      // The folder itself may be no link either.
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
        // What has another size need not be read to its end.
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
  /// The problem as a store's error: what could not be done with which file of external data.
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
