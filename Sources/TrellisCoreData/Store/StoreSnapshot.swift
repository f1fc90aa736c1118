import Foundation

/// A copy of a store's files at one moment, which is removed with its owner.
///
/// The original is only read, and nothing is written beside it: opening it with SQLite would do that.
final class StoreSnapshot {
  /// The copy.
  let path: String
  /// The size of the copied files in bytes.
  let size: Int
  private let folder: URL

  /// The files of a store. The memory that programs share is made anew from the log.
  private static let endings = ["", "-wal", "-journal"]

  /// - Throws: ``CoreDataError``.
  init(of url: URL) throws(CoreDataError) {
    try Self.checkHeader(of: url)
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("trellis-coredata-\(UUID().uuidString)")
    path = folder.appendingPathComponent("store").path
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CoreDataError(
        .inputOutput, "No temporary folder can be made.", remedy: "Make room on the disk, or set TMPDIR.")
    }
    do throws(CoreDataError) {
      size = try Self.copyAtRest(url, to: path)
    } catch {
      try? FileManager.default.removeItem(at: folder)
      throw error
    }
  }

  /// Copies the files, again if they change meanwhile.
  ///
  /// - Returns: their size in bytes.
  private static func copyAtRest(_ url: URL, to path: String) throws(CoreDataError) -> Int {
    for _ in 0..<3 {
      let before = stamps(of: url)
      try copy(url, to: path)
      if stamps(of: url) == before { return before.compactMap { $0?.size }.reduce(0, +) }
    }
    throw CoreDataError(
      .busy, "\(url.path) changes while it is copied.", remedy: "Close the program that uses the store.")
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private struct Stamp: Equatable {
    let size: Int
    let changed: Date?
  }

  private static func stamps(of url: URL) -> [Stamp?] {
    endings.map { ending in
      guard let values = try? FileManager.default.attributesOfItem(atPath: url.path + ending) else { return nil }
      return Stamp(size: values[.size] as? Int ?? 0, changed: values[.modificationDate] as? Date)
    }
  }

  private static func copy(_ url: URL, to path: String) throws(CoreDataError) {
    for ending in endings {
      try? FileManager.default.removeItem(atPath: path + ending)
      guard FileManager.default.fileExists(atPath: url.path + ending) else { continue }
      do {
        try FileManager.default.copyItem(atPath: url.path + ending, toPath: path + ending)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + ending)
      } catch {
        throw CoreDataError(
          .inputOutput, "\(url.path)\(ending) cannot be copied.",
          remedy: "Check that it may be read, and make room for a copy on the disk.")
      }
    }
  }

  // MARK: Kinds of files

  private static func checkHeader(of url: URL) throws(CoreDataError) {
    var isFolder: ObjCBool = false
    guard url.isFileURL, FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), !isFolder.boolValue,
      let handle = try? FileHandle(forReadingFrom: url)
    else {
      throw CoreDataError(
        .unreadableFile, "\(url.path) cannot be read.", remedy: "Check that the file exists and may be read.")
    }
    defer { try? handle.close() }
    let start = [UInt8]((try? handle.read(upToCount: 64)) ?? Data())
    if start.starts(with: Array("SQLite format 3".utf8) + [0]) { return }
    let text = String(decoding: start, as: UTF8.self)
    if start.isEmpty {
      throw CoreDataError(.noCoreDataStore, "\(url.path) is empty.", remedy: "Give the SQLite file of the store.")
    }
    if text.contains("<?xml") || text.contains("<database") {
      throw CoreDataError(
        .noCoreDataStore, "\(url.path) is text, perhaps an XML store of Core Data, which is not read here.",
        remedy: "Let the program that made it save it as a SQLite store.")
    }
    if start.starts(with: "bplist0".utf8) || text.contains("CoreDataBinary") {
      throw CoreDataError(
        .noCoreDataStore, "\(url.path) is a binary store of Core Data, which is not read here.",
        remedy: "Let the program that made it save it as a SQLite store.")
    }
    throw CoreDataError(
      .encrypted, "\(url.path) is encrypted, or is no SQLite file.",
      remedy: "Decrypt it with the program that made it, and give the decrypted copy.")
  }
}
