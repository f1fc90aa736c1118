package import Foundation
import Synchronization
import TrellisModel

/// The identity and version of a file. Another file, or the same file after a write, has another stamp.
package struct FileStamp: Hashable, Sendable {
  package var device: UInt64
  package var inode: UInt64
  package var size: Int64
  package var modifiedSeconds: Int64
  package var modifiedNanoseconds: Int64
  package var permissions: UInt32

  package init(
    device: UInt64, inode: UInt64, size: Int64, modifiedSeconds: Int64, modifiedNanoseconds: Int64, permissions: UInt32
  ) {
    self.device = device
    self.inode = inode
    self.size = size
    self.modifiedSeconds = modifiedSeconds
    self.modifiedNanoseconds = modifiedNanoseconds
    self.permissions = permissions
  }

  package func isSameFile(as other: FileStamp) -> Bool { device == other.device && inode == other.inode }
}

/// The reason for a failed file system operation.
///
/// A class, because a problem is passed through every `try` on its way.
package final class FileProblem: Error {
  package enum Kind: Sendable {
    case missing, exists, full, readOnly, busy
    /// The file is not a regular file.
    case irregular
    case tooLarge, other
  }

  package let kind: Kind
  package let reason: String

  package init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }
}

/// A file that is open for writing, or held as a lock. It must be closed.
package protocol OpenFile: AnyObject, Sendable {
  /// Writes all of the bytes.
  func write(_ bytes: UnsafeRawBufferPointer) throws(FileProblem)
  /// Flushes the written bytes to the disk.
  func sync() throws(FileProblem)
  func stamp() throws(FileProblem) -> FileStamp
  func close() throws(FileProblem)
  /// Converts a lock acquired by ``FileOperations/share(_:)`` to an exclusive one or back to a shared one. Throws a
  /// problem of kind `busy` if the lock is held elsewhere, too.
  func hold(alone: Bool) throws(FileProblem)
}

/// The type of a file's content in memory.
package protocol FileContent: RangeReplaceableCollection<UInt8>, ContiguousBytes {
  /// Memory for the bytes that `fill` writes, whose number it returns.
  init(upTo count: Int, fill: (UnsafeMutableRawBufferPointer) throws(FileProblem) -> Int) throws(FileProblem)
}

extension [UInt8]: FileContent {
  package init(
    upTo count: Int, fill: (UnsafeMutableRawBufferPointer) throws(FileProblem) -> Int
  ) throws(FileProblem) {
    self = try Array(unsafeUninitializedCapacity: count) { memory, filled throws(FileProblem) in
      filled = try fill(UnsafeMutableRawBufferPointer(memory))
    }
  }
}

extension Data: FileContent {
  package init(
    upTo count: Int, fill: (UnsafeMutableRawBufferPointer) throws(FileProblem) -> Int
  ) throws(FileProblem) {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
    do throws(FileProblem) {
      let filled = try fill(UnsafeMutableRawBufferPointer(start: memory, count: count))
      // The memory has no other user, so the data may own it instead of a copy.
      self.init(bytesNoCopy: memory, count: filled, deallocator: .custom { memory, _ in memory.deallocate() })
    } catch {
      memory.deallocate()
      throw error
    }
  }
}

/// All file system operations of stores, behind one protocol so that tests can make each step fail.
package protocol FileOperations: Sendable {
  /// The path without symbolic links if the file exists, otherwise the path unchanged.
  func resolved(_ path: String) -> String
  /// The stamp of a file; nil if there is no file.
  func stamp(_ path: String) throws(FileProblem) -> FileStamp?
  /// The content of a file and its stamp at the time of reading. A symbolic link is refused unless `followingLinks`.
  func read<Content: FileContent>(
    _ path: String, limit: Int, followingLinks: Bool
  ) throws(FileProblem) -> (bytes: Content, stamp: FileStamp)
  /// Reads a file in pieces, from its start until its end or until `body` returns false.
  ///
  /// - Parameter size: the maximum number of bytes of a piece.
  func read(
    _ path: String, inPiecesOf size: Int, followingLinks: Bool,
    _ body: (UnsafeRawBufferPointer) throws(FileProblem) -> Bool
  ) throws(FileProblem)
  /// Whether this process may write to a file, if it exists. A file without any write permission counts as read-only,
  /// even for users that permissions do not restrict.
  func mayWrite(to path: String) -> Bool
  /// Creates a new file, which must not exist.
  func create(_ path: String, permissions: UInt32) throws(FileProblem) -> any OpenFile
  /// Replaces a file by another in one step.
  func rename(_ path: String, to other: String) throws(FileProblem)
  /// Renames a file to a name that must be unused. Throws a problem of kind `exists` if the name is in use.
  func rename(_ path: String, toUnused other: String) throws(FileProblem)
  /// Flushes the names in a folder to the disk.
  func syncFolder(_ path: String) throws(FileProblem)
  func remove(_ path: String) throws(FileProblem)
  /// Opens a file, creating it if needed, and locks it exclusively. Throws a problem of kind `busy` if it is locked
  /// already.
  func lock(_ path: String) throws(FileProblem) -> any OpenFile
  /// Opens a file, creating it if needed, and acquires a shared lock. Throws a problem of kind `busy` if it is locked
  /// exclusively.
  func share(_ path: String) throws(FileProblem) -> any OpenFile
  /// Whether the folder exists. A file or a symbolic link at its path is a problem.
  func isFolder(_ path: String) throws(FileProblem) -> Bool
  /// Creates a folder that only its owner can access.
  func makeFolder(_ path: String) throws(FileProblem)
  /// The names of the files in a folder.
  func names(in folder: String) throws(FileProblem) -> [String]
  /// The number of free bytes on the volume of a file; nil if the system does not tell.
  func freeSpace(beside path: String) -> Int?
}

extension FileOperations {
  package func freeSpace(beside path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfFileSystem(forPath: FilePlace(path).folder)
    return (attributes?[.systemFreeSize] as? NSNumber)?.intValue
  }

  package func read<Content: FileContent>(
    _ path: String, limit: Int
  ) throws(FileProblem) -> (bytes: Content, stamp: FileStamp) {
    try read(path, limit: limit, followingLinks: true)
  }

  /// The size of the pieces in which large files are read.
  package static var pieceSize: Int { 1 << 20 }

  /// The first bytes of a file; fewer if the file is shorter.
  package func start(of path: String, _ count: Int, followingLinks: Bool = true) throws(FileProblem) -> [UInt8] {
    var start: [UInt8] = []
    try read(path, inPiecesOf: count, followingLinks: followingLinks) { piece in
      start += piece.prefix(count - start.count)
      return start.count < count
    }
    return start
  }
}

// MARK: - File place

/// A file's path, and the paths beside it that derive from its name.
///
/// The derived names are fixed, so a crash leaves at most one file of each, which the next writer removes or takes
/// over.
package struct FilePlace: Sendable {
  package let path: String

  package init(_ path: String) { self.path = path }

  package var folder: String { lastSeparator.map { String(path[...$0]) } ?? "." }
  /// The path where new content is written before it is renamed to the file's name.
  package var temporaryPath: String { beside(".new") }
  /// The path of the lock that a writer of the file holds.
  package var lockPath: String { beside(".lock") }

  private func beside(_ ending: String) -> String {
    guard let lastSeparator else { return ".\(path)\(ending)" }
    return path[...lastSeparator] + "." + path[path.index(after: lastSeparator)...] + ending
  }

  private var lastSeparator: String.Index? {
    #if os(Windows)
      path.lastIndex { $0 == "/" || $0 == "\\" }
    #else
      path.lastIndex(of: "/")
    #endif
  }
}

// MARK: - Backup file

/// A file that becomes a copy of a store. It is written under a temporary name, synced, and only then renamed.
package struct BackupFile {
  private let place: FilePlace
  private let files: any FileOperations
  private let isReplacing: Bool

  /// - Parameters:
  ///   - isReplacing: whether an existing file may be replaced.
  ///   - own: the store's own files, which are never overwritten.
  /// - Throws: ``StoreError`` if the path cannot be used.
  package init(
    _ path: String, replacing isReplacing: Bool, own: [String], files: any FileOperations
  ) throws(StoreError) {
    place = FilePlace(files.resolved(path))
    self.files = files
    self.isReplacing = isReplacing
    do throws(FileProblem) {
      guard let there = try files.stamp(place.path) else { return }
      guard isReplacing else { throw exists }
      try refuseIrregular()
      for path in own {
        if try files.stamp(path)?.isSameFile(as: there) == true { throw FileProblem(.other, "it belongs to the store") }
      }
    } catch {
      throw error.backupError(place.path)
    }
  }

  /// Refuses a folder, a pipe, a socket or a device, in whose place the copy would come.
  private func refuseIrregular() throws(FileProblem) {
    do throws(FileProblem) {
      _ = try files.start(of: place.path, 1)
    } catch {
      // A file that cannot be read can be replaced.
      if case .irregular = error.kind { throw error }
    }
  }

  private var exists: FileProblem { FileProblem(.exists, "there is a file already") }

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - discard: removes what `body` has written elsewhere. Called after a failure, unless the copy is in place.
  ///   - body: receives a new, empty file, open and by its path, and writes the copy to it.
  /// - Throws: ``StoreError``, or errors of `body`. Nothing is left behind and an existing file is unchanged, except if
  ///   syncing the folder at the very end fails: then the copy is already in place.
  package func write(
    orDiscard discard: () -> Void = {}, _ body: (any OpenFile, _ path: String) throws -> Void
  ) throws {
    do {
      let lock = try files.lock(place.lockPath)
      // The lock file is removed first, so that no process acquires a lock on a file that is about to be removed.
      defer {
        try? files.remove(place.lockPath)
        try? lock.close()
      }
      try writeLocked(discard, body)
    } catch let problem as FileProblem {
      throw problem.backupError(place.path)
    }
  }

  private func writeLocked(
    _ discard: () -> Void, _ body: (any OpenFile, _ path: String) throws -> Void
  ) throws {
    // Removes the leftover of a crashed process. No other process can be writing now.
    try? files.remove(place.temporaryPath)
    do {
      let file = try files.create(place.temporaryPath, permissions: 0o600)
      defer { try? file.close() }
      try body(file, place.temporaryPath)
      try file.sync()
      try file.close()
      try isReplacing
        ? files.rename(place.temporaryPath, to: place.path) : files.rename(place.temporaryPath, toUnused: place.path)
    } catch {
      try? files.remove(place.temporaryPath)
      discard()
      throw error
    }
    try files.syncFolder(place.folder)
  }
}

extension FileProblem {
  fileprivate func backupError(_ path: String) -> StoreError {
    let message = "\(path) cannot be written as a copy: \(reason)."
    switch kind {
    case .exists:
      return StoreError(.fileExists, message, remedy: "Choose another name, or ask for the file to be replaced.")
    case .full: return StoreError(.full, message, remedy: "Make room on the disk and try again.")
    case .readOnly:
      return StoreError(.readOnly, message, remedy: "Allow this program to write to the folder, or choose another.")
    case .busy:
      return StoreError(.busy, message, remedy: "Close the store that uses the file, or choose another name.")
    case .missing: return StoreError(.cannotOpen, message, remedy: "Check that the folder exists.")
    case .irregular, .tooLarge, .other:
      return StoreError(.inputOutput, message, remedy: "Choose another file, or check the disk.")
    }
  }
}

// MARK: - Store features

/// The features that a store's file uses beyond its format version, as words in three lists. An older version of
/// Trellis can tell from the list what it may do with an unknown feature, so a new feature need not lock it out.
package struct StoreFeatures: Hashable, Sendable {
  /// Features that do not restrict a version that does not know them.
  package var compatible: Set<String>
  /// Features that allow a version that does not know them to read but not to write.
  package var readOnlyCompatible: Set<String>
  /// Features that forbid a version that does not know them to open the file.
  package var incompatible: Set<String>

  package init(
    compatible: Set<String> = [], readOnlyCompatible: Set<String> = [], incompatible: Set<String> = []
  ) {
    self.compatible = compatible
    self.readOnlyCompatible = readOnlyCompatible
    self.incompatible = incompatible
  }

  /// The file stores the models that it had.
  package static let models = "models"
  /// The file has a history, which each write has to be recorded in.
  package static let history = "history"
  /// The features that this version of Trellis knows of every kind of store.
  package static let known = StoreFeatures(compatible: [models])
  /// The features that this version of Trellis knows of stores that may have a history.
  package static let knownWithHistory = StoreFeatures(compatible: [models], readOnlyCompatible: [history])

  package var isEmpty: Bool { compatible.isEmpty && readOnlyCompatible.isEmpty && incompatible.isEmpty }

  // MARK: Permissions

  /// The error that forbids opening the file; nil if it may be opened.
  package func refusal(of name: String) -> StoreError? {
    let unknown = incompatible.subtracting(Self.known.incompatible)
    if unknown.isEmpty { return nil }
    return StoreError(
      .newerFormat, "\(name) uses what this version of Trellis does not know: \(Self.listed(unknown)).",
      remedy: "Update Trellis in this program.")
  }

  /// The error that forbids writing to the file; nil if writing is allowed.
  ///
  /// - Parameter known: the features that are known of this kind of store.
  package func refusalOfWrites(to name: String, knowing known: StoreFeatures = .known) -> StoreError? {
    let unknown = readOnlyCompatible.subtracting(known.readOnlyCompatible)
    if unknown.isEmpty { return nil }
    return StoreError(
      .readOnly,
      "\(name) uses what this version of Trellis does not know, so it is only read: \(Self.listed(unknown)).",
      remedy: "Update Trellis in this program.")
  }

  private static func listed(_ words: Set<String>) -> String { words.sorted().prefix(8).joined(separator: ", ") }

  // MARK: Words

  private static let mostWords = 256
  private static let longestWord = 64

  /// Whether words are valid feature names: letters from a to z, digits and hyphens.
  package static func areWords(_ words: some Collection<String>) -> Bool {
    words.count <= mostWords
      && words.allSatisfy { word in
        (1...longestWord).contains(word.utf8.count)
          && word.utf8.allSatisfy { ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D }
      }
  }
}

/// A model that a file has or had.
package struct StoredModel: Hashable, Sendable {
  package var checksum: String
  /// The version given in its model file.
  package var version: String?
  /// The time of the change to this model, in microseconds since 1970; nil if it is not recorded.
  package var since: Int64?
  /// The text of the model, as from `ModelDescription.canonicalJSON()`. It comes from the file, so its content is
  /// untrusted.
  package var json: String

  package init(checksum: String, version: String?, since: Int64?, json: String) {
    self.checksum = checksum
    self.version = version
    self.since = since
    self.json = json
  }
}

// MARK: - Flag

/// A flag that can be set once.
package final class Flag: Sendable {
  private let isSetAlready = Atomic(false)

  package init() {}

  /// Sets the flag; returns whether this call was the first.
  package func set() -> Bool { !isSetAlready.exchange(true, ordering: .acquiringAndReleasing) }

  package var isSet: Bool { isSetAlready.load(ordering: .acquiring) }
}
