public import Foundation
import TrellisSchema
public import TrellisStorage

extension StoreConfiguration {
  /// One JSON document that people can read, and that shows in a version control system what has changed.
  ///
  /// ```swift
  /// let container = try PersistentContainer(model: .diary, store: .json(at: url))
  /// ```
  /// The document is read whole when it is opened and written whole by each save, in time linear in its size: about a second
  /// for 100,000 objects. A file that is missing or empty is made into a new document, readable by its owner only. One of
  /// another model, of a newer Trellis, of another program, or one with a mistake in it is refused with line and column, and
  /// stays as it is. One program writes at a time; a file that another one changes meanwhile is never overwritten.
  ///
  /// - Parameters:
  ///   - url: The file. Its folder must exist, and be writable unless the document is only read.
  ///   - durability: What a save has brought to safety when it returns.
  ///   - readOnly: Whether the file is only read. Then it must exist, saves fail, and a writer may have it open as well.
  ///   - filesAbove: How many bytes the value of an attribute with `externalStorage` has at most in the document; a larger one lies
  ///     in a file of its own, in the folder beside the document whose name ends in `.external`. A number below 0 counts as 0. It
  ///     holds for values saved from now on, and may differ each time.
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
