import Foundation
import TrellisStorage

/// The file system under one folder, with each step told to a disk that keeps them.
struct RecordingFiles: FileOperations {
  let disk: TestDisk
  private let system = SystemFiles()
  private let prefix: String

  init(_ folder: URL, _ disk: TestDisk) {
    self.disk = disk
    prefix = folder.resolvingSymlinksInPath().path
  }

  fileprivate func note(
    _ kind: DiskStep.Kind, _ path: String, to newPath: String = "", bytes: [UInt8] = [], at offset: Int = 0
  ) {
    disk.add(
      DiskStep(
        kind: kind, file: name(path), newName: name(newPath), offset: offset, length: bytes.count, bytes: bytes))
  }

  private func name(_ path: String) -> String {
    path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count).drop { $0 == "/" }) : path
  }

  func resolved(_ path: String) -> String { system.resolved(path) }

  func stamp(_ path: String) throws(FileProblem) -> FileStamp? { try system.stamp(path) }

  func read<Content: FileContent>(_ path: String, limit: Int, followingLinks: Bool) throws(FileProblem) -> (
    bytes: Content, stamp: FileStamp
  ) {
    try system.read(path, limit: limit, followingLinks: followingLinks)
  }

  func read(
    _ path: String, inPiecesOf size: Int, followingLinks: Bool,
    _ body: (UnsafeRawBufferPointer) throws(FileProblem) -> Bool
  ) throws(FileProblem) {
    try system.read(path, inPiecesOf: size, followingLinks: followingLinks, body)
  }

  func mayWrite(to path: String) -> Bool { system.mayWrite(to: path) }

  func create(_ path: String, permissions: UInt32) throws(FileProblem) -> any OpenFile {
    let file = try system.create(path, permissions: permissions)
    note(.open, path)
    return RecordedFile(file, path, self)
  }

  func rename(_ path: String, to other: String) throws(FileProblem) {
    try system.rename(path, to: other)
    note(.rename, path, to: other)
  }

  func rename(_ path: String, toUnused other: String) throws(FileProblem) {
    try system.rename(path, toUnused: other)
    note(.rename, path, to: other)
  }

  func syncFolder(_ path: String) throws(FileProblem) {
    try system.syncFolder(path)
    note(.syncFolder, path)
  }

  func remove(_ path: String) throws(FileProblem) {
    try system.remove(path)
    note(.delete, path)
  }

  // What locks hold, nobody misses when the power has gone.
  func lock(_ path: String) throws(FileProblem) -> any OpenFile { try system.lock(path) }

  func share(_ path: String) throws(FileProblem) -> any OpenFile { try system.share(path) }

  func isFolder(_ path: String) throws(FileProblem) -> Bool { try system.isFolder(path) }

  func makeFolder(_ path: String) throws(FileProblem) {
    try system.makeFolder(path)
    note(.makeFolder, path)
  }

  func names(in folder: String) throws(FileProblem) -> [String] { try system.names(in: folder) }
}

/// A new file that tells what is written to it. It is used by one thread at a time.
private final class RecordedFile: OpenFile, @unchecked Sendable {
  private let file: any OpenFile
  private let path: String
  private let files: RecordingFiles
  private var size = 0

  init(_ file: any OpenFile, _ path: String, _ files: RecordingFiles) {
    (self.file, self.path, self.files) = (file, path, files)
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(FileProblem) {
    try file.write(bytes)
    files.note(.write, path, bytes: Array(bytes), at: size)
    size += bytes.count
  }

  func sync() throws(FileProblem) {
    try file.sync()
    files.note(.sync, path)
  }

  func stamp() throws(FileProblem) -> FileStamp { try file.stamp() }

  func hold(alone: Bool) throws(FileProblem) { try file.hold(alone: alone) }

  func close() throws(FileProblem) { try file.close() }
}
