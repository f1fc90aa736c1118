public import Foundation
import TrellisSchema
public import TrellisStorage

extension StoreConfiguration {
  /// A JSON document that people can read and that a version control system can compare.
  ///
  /// ```swift
  /// let container = try PersistentContainer(model: .diary, store: .json(at: url))
  /// ```
  /// The whole document is read when it is opened and written by each save, in time linear in its size: about a second
  /// for 100,000 objects. A missing or empty file becomes a new document that only its owner can read. A document of
  /// another model, of a newer Trellis or of another program, or with a mistake in it, is refused with line and column,
  /// and not changed. One program writes at a time, and a file that another program changes in the meantime is never
  /// overwritten.
  ///
  /// - Parameters:
  ///   - url: The file. Its folder must exist, and be writable unless the document is only read.
  ///   - durability: What a save guarantees when it returns.
  ///   - filesAbove: The maximum number of bytes that the value of an attribute with `externalStorage` has in the
  ///     document. A larger value is in a file of its own, in the folder beside the document whose name ends in
  ///     `.external`. A number below 0 counts as 0. The limit applies to values saved from now on, and may differ each
  ///     time.
  ///     below 0 counts as 0. The limit applies to values saved from now on, and may differ each time.
  /// - Throws: opening throws ``StoreError``.
  public static func json(
    at url: URL, durability: Durability = .durable, readOnly: Bool = false, filesAbove: Int = 65_536
  ) -> StoreConfiguration {
    let options = DocumentOptions(durability: durability, readOnly: readOnly, largestInRow: filesAbove)
    return StoreConfiguration { model in
      guard url.isFileURL else {
        throw StoreError(
          .cannotOpen, "\(url.absoluteString) is no file.",
          remedy: "Give the store a file URL, as URL(filePath:) makes.")
      }
      let path = url.withUnsafeFileSystemRepresentation { $0.map { String(cString: $0) } } ?? url.path
      return try JSONStore(path: path, model: model, options: options)
    }
  }
}
