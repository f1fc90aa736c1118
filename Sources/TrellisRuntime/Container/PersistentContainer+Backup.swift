public import Foundation
import TrellisStorage

extension PersistentContainer {
  /// Writes a copy of the store to another file, while this process and others continue to read and save.
  ///
  /// ```swift
  /// try container.backUp(to: folder.appending(path: "diary-2026-01-31.sqlite"))
  /// ```
  /// The copy is a snapshot of the store at one moment and contains each save completely or not at all. It is an
  /// independent store of the same kind that a container can open, and only its owner may read it. The copy is written
  /// next to its destination, flushed to disk and then renamed, so a crash or a full disk leaves no partial file. It
  /// does not contain unsaved changes of contexts. Files of external data are copied to a folder next to it, with the
  /// name of the file and the suffix `.external`.
  ///
  /// - Parameters:
  ///   - url: The file. Its folder must exist.
  ///   - replacing: Whether an existing file is replaced, atomically. A file that a store has open is not replaced.
  /// - Throws: ``StoreError``: `unsupported` for a store in memory, `fileExists` if the file exists and may not be
  ///   replaced. An existing file is then unchanged.
  /// - Complexity: linear in the size of the store. For a large store, call it off the main actor.
  public func backUp(to url: URL, replacing: Bool = false) throws {
    try core.checkOpen()
    guard url.isFileURL else {
      throw StoreError(
        .cannotOpen, "\(url.absoluteString) is no file.", remedy: "Give a file URL, as URL(filePath:) makes.")
    }
    let path = url.withUnsafeFileSystemRepresentation { $0.map { String(cString: $0) } } ?? url.path
    try core.store.backUp(to: path, replacing: replacing)
  }
}
