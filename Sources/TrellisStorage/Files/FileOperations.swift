/// What a file is recognised by: another file, or one that was written to, has another stamp.
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

/// Why the file system refused.
package struct FileProblem: Error, Sendable {
  package enum Kind: Sendable {
    case missing, exists, full, readOnly, busy
    /// Something that is no regular file.
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
  /// Brings what was written to the disk.
  func sync() throws(FileProblem)
  func stamp() throws(FileProblem) -> FileStamp
  func close() throws(FileProblem)
  /// Holds a lock that was taken by ``FileOperations/share(_:)`` alone, or together with others again; a problem of kind `busy`
  /// when others hold it too.
  func hold(alone: Bool) throws(FileProblem)
}

/// Everything that stores in files ask of the file system, in one place, so that tests can let each step fail.
package protocol FileOperations: Sendable {
  /// The path without symbolic links, where the file exists; else the path as it is.
  func resolved(_ path: String) -> String
  /// What a file is now; nil when there is none.
  func stamp(_ path: String) throws(FileProblem) -> FileStamp?
  /// A file's content and what the file was when it was read. A symbolic link is refused unless it is to be followed.
  func read(
    _ path: String, limit: Int, followingLinks: Bool
  ) throws(FileProblem) -> (bytes: [UInt8], stamp: FileStamp)
  /// Hands out a file's content piece by piece, from its beginning until the end or until `body` says that it is enough.
  ///
  /// - Parameter size: how many bytes a piece has at most.
  func read(
    _ path: String, inPiecesOf size: Int, followingLinks: Bool,
    _ body: (UnsafeRawBufferPointer) throws(FileProblem) -> Bool
  ) throws(FileProblem)
  /// Whether this program may write to a file that is there. One without any right to write says that it is to stay as it is,
  /// also to those whom rights do not bind.
  func mayWrite(to path: String) -> Bool
  /// Makes a new file; it must not exist.
  func create(_ path: String, permissions: UInt32) throws(FileProblem) -> any OpenFile
  /// Puts a file in the place of another in one step.
  func rename(_ path: String, to other: String) throws(FileProblem)
  /// Gives a file another name, which nobody must have; a problem of kind `exists` when somebody does.
  func rename(_ path: String, toUnused other: String) throws(FileProblem)
  /// Brings the names in a folder to the disk.
  func syncFolder(_ path: String) throws(FileProblem)
  func remove(_ path: String) throws(FileProblem)
  /// Opens a file, made if need be, that nobody else holds; a problem of kind `busy` when somebody does.
  func lock(_ path: String) throws(FileProblem) -> any OpenFile
  /// Opens a file, made if need be, and holds it together with whoever else shares it; a problem of kind `busy` when somebody
  /// holds it alone.
  func share(_ path: String) throws(FileProblem) -> any OpenFile
  /// Whether there is a folder; a symbolic link to one, or a file, is a problem.
  func isFolder(_ path: String) throws(FileProblem) -> Bool
  /// Makes a folder for its owner only.
  func makeFolder(_ path: String) throws(FileProblem)
  /// The names in a folder.
  func names(in folder: String) throws(FileProblem) -> [String]
}

extension FileOperations {
  package func read(_ path: String, limit: Int) throws(FileProblem) -> (bytes: [UInt8], stamp: FileStamp) {
    try read(path, limit: limit, followingLinks: true)
  }

  /// How much of a large file is in memory at a time.
  package static var pieceSize: Int { 1 << 20 }

  /// The first bytes of a file; fewer when it has no more.
  package func start(of path: String, _ count: Int) throws(FileProblem) -> [UInt8] {
    var start: [UInt8] = []
    try read(path, inPiecesOf: count, followingLinks: true) { piece in
      start += piece.prefix(count - start.count)
      return start.count < count
    }
    return start
  }
}
