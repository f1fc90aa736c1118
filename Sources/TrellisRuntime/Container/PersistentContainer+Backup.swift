public import Foundation
import TrellisStorage

extension PersistentContainer {
  /// Writes a copy of the store to another file, while this program and others go on reading and saving.
  ///
  /// ```swift
  /// try container.backUp(to: folder.appending(path: "diary-2026-01-31.sqlite"))
  /// ```
  /// The copy shows the store as it was at one moment: each save is in it wholly or not at all. It is a store of its own, of the
  /// same kind, that a container can open; only its owner may read it. It is written beside its place, brought to the disk
  /// and then given its name, so a crash or a full disk leaves no half of it. What no context has saved yet is not in it.
  /// Files of external data are copied to a folder beside it, whose name is the file's with `.external` behind it.
  ///
  /// - Parameters:
  ///   - url: The file. Its folder must exist.
  ///   - replacing: Whether a file that is there already is replaced, in one step. A file that a store has open is not.
  /// - Throws: ``StoreError``: `unsupported` for a store in memory, `fileExists` when the file is there and is not to be
  ///   replaced. A file that was there is then as it was.
  /// - Complexity: linear in the size of the store. For a long one, call it off the main actor.
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
