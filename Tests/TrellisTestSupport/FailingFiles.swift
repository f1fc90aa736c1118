import TrellisModel
package import TrellisStorage

/// The file system with a step that fails: the n-th of those that are tried, once or from then on.
package final class FailingFiles: FileOperations {
  package init() {}

  private struct Plan {
    var tried = 0
    var failing: Int?
    var isForEver = false
    var freeSpace: Int?
  }

  private let system = SystemFiles()
  private let plan = Locked(Plan())

  package func fail(at step: Int?, forEver: Bool) {
    plan.withLock { $0 = Plan(failing: step, isForEver: forEver) }
  }

  /// The number of free bytes that the disk claims to have; nil for the truth.
  package var freeSpace: Int? {
    get { plan.withLock { $0.freeSpace } }
    set { plan.withLock { $0.freeSpace = newValue } }
  }

  package func freeSpace(beside path: String) -> Int? { freeSpace ?? system.freeSpace(beside: path) }

  package var tried: Int { plan.withLock { $0.tried } }

  fileprivate func isFailing() -> Bool {
    plan.withLock { plan in
      plan.tried += 1
      guard let failing = plan.failing else { return false }
      return plan.isForEver ? plan.tried >= failing : plan.tried == failing
    }
  }

  fileprivate static let problem = FileProblem(.other, "a failure on purpose")

  private func step() throws(FileProblem) { if isFailing() { throw Self.problem } }

  package func resolved(_ path: String) -> String { system.resolved(path) }

  package func stamp(_ path: String) throws(FileProblem) -> FileStamp? {
    try step()
    return try system.stamp(path)
  }

  package func read<Content: FileContent>(_ path: String, limit: Int, followingLinks: Bool) throws(FileProblem) -> (
    bytes: Content, stamp: FileStamp
  ) {
    try step()
    return try system.read(path, limit: limit, followingLinks: followingLinks)
  }

  package func read(
    _ path: String, inPiecesOf size: Int, followingLinks: Bool,
    _ body: (UnsafeRawBufferPointer) throws(FileProblem) -> Bool
  ) throws(FileProblem) {
    try step()
    try system.read(path, inPiecesOf: size, followingLinks: followingLinks, body)
  }

  package func mayWrite(to path: String) -> Bool { system.mayWrite(to: path) }

  package func create(_ path: String, permissions: UInt32) throws(FileProblem) -> any OpenFile {
    try step()
    return FailingFile(try system.create(path, permissions: permissions), self)
  }

  package func rename(_ path: String, to other: String) throws(FileProblem) {
    try step()
    try system.rename(path, to: other)
  }

  package func rename(_ path: String, toUnused other: String) throws(FileProblem) {
    try step()
    try system.rename(path, toUnused: other)
  }

  package func syncFolder(_ path: String) throws(FileProblem) {
    try step()
    try system.syncFolder(path)
  }

  package func remove(_ path: String) throws(FileProblem) {
    try step()
    try system.remove(path)
  }

  package func lock(_ path: String) throws(FileProblem) -> any OpenFile {
    try step()
    return try system.lock(path)
  }

  package func share(_ path: String) throws(FileProblem) -> any OpenFile {
    try step()
    return FailingFile(try system.share(path), self)
  }

  package func isFolder(_ path: String) throws(FileProblem) -> Bool {
    try step()
    return try system.isFolder(path)
  }

  package func makeFolder(_ path: String) throws(FileProblem) {
    try step()
    try system.makeFolder(path)
  }

  package func names(in folder: String) throws(FileProblem) -> [String] {
    try step()
    return try system.names(in: folder)
  }
}

/// A file that writes half of what it is given before it fails.
private final class FailingFile: OpenFile {
  private let file: any OpenFile
  private let files: FailingFiles

  init(_ file: any OpenFile, _ files: FailingFiles) {
    self.file = file
    self.files = files
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(FileProblem) {
    if files.isFailing() {
      try file.write(UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]))
      throw FailingFiles.problem
    }
    try file.write(bytes)
  }

  func sync() throws(FileProblem) {
    if files.isFailing() { throw FailingFiles.problem }
    try file.sync()
  }

  func stamp() throws(FileProblem) -> FileStamp {
    if files.isFailing() { throw FailingFiles.problem }
    return try file.stamp()
  }

  func hold(alone: Bool) throws(FileProblem) {
    if files.isFailing() { throw FailingFiles.problem }
    try file.hold(alone: alone)
  }

  func close() throws(FileProblem) {
    try file.close()
    if files.isFailing() { throw FailingFiles.problem }
  }
}
