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
package struct FileProblem: Error, Sendable {
  package enum Kind: Sendable {
    case missing, exists, full, readOnly, busy
    /// The file is not a regular file.
    case irregular
    case tooLarge, other
  }

  package var kind: Kind
  package var reason: String

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

/// All file system operations of stores, behind one protocol so that tests can make each step fail.
package protocol FileOperations: Sendable {
  /// The path without symbolic links if the file exists, otherwise the path unchanged.
  func resolved(_ path: String) -> String
  /// The stamp of a file; nil if there is no file.
  func stamp(_ path: String) throws(FileProblem) -> FileStamp?
  /// The content of a file and its stamp at the time of reading. A symbolic link is refused unless `followingLinks`.
  func read(
    _ path: String, limit: Int, followingLinks: Bool
  ) throws(FileProblem) -> (bytes: [UInt8], stamp: FileStamp)
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
}

extension FileOperations {
  package func read(_ path: String, limit: Int) throws(FileProblem) -> (bytes: [UInt8], stamp: FileStamp) {
    try read(path, limit: limit, followingLinks: true)
  }

  /// The size of the pieces in which large files are read.
  package static var pieceSize: Int { 1 << 20 }

  /// The first bytes of a file; fewer if the file is shorter.
  package func start(of path: String, _ count: Int) throws(FileProblem) -> [UInt8] {
    var start: [UInt8] = []
    try read(path, inPiecesOf: count, followingLinks: true) { piece in
      start += piece.prefix(count - start.count)
      return start.count < count
    }
    return start
  }
}
