public import Foundation
import TrellisSchema
public import TrellisStorage

extension StoreConfiguration {
  /// A store in a SQLite file.
  ///
  /// ```swift
  /// let container = try PersistentContainer(model: .diary, store: .sqlite(at: url))
  /// ```
  /// A missing or empty file becomes a new store that only its owner can read. A file of another model, of a newer
  /// Trellis or of another program, or a damaged file, is refused and not changed.
  ///
  /// - Parameters:
  ///   - url: The file. Its folder must exist. SQLite keeps two more files beside it while it is open.
  ///   - durability: What a save guarantees when it returns.
  ///   - busyTimeout: The number of seconds that a save waits for another process or context that is saving.
  ///   - connections: The maximum number of open connections to the file, at least one. Contexts borrow one for each
  ///     call, so this limits how many contexts read at the same time, and not how many there are.
  ///   - readOnly: Whether the file is only read. Then it must exist, and saves fail.
  ///   - filesAbove: The maximum number of bytes that the value of an attribute with `externalStorage` has in the row. A
  ///     larger value is in a file of its own, in the folder beside the store whose name ends in `.external`. A number
  ///     below 0 counts as 0. The limit applies to values saved from now on, and may differ each time.
  /// - Throws: opening throws ``StoreError``.
  public static func sqlite(
    at url: URL, durability: Durability = .durable, busyTimeout: TimeInterval = 5, readOnly: Bool = false,
    filesAbove: Int = 65_536, connections: Int = 8
  ) -> StoreConfiguration {
    let milliseconds = max(0, min(busyTimeout * 1_000, 1_000_000_000))
    var options = OpenOptions(
      durability: durability, busyTimeoutMilliseconds: milliseconds.isNaN ? 0 : Int32(milliseconds),
      isReadOnly: readOnly)
    options.largestInRow = filesAbove
    options.mostConnections = connections
    return StoreConfiguration { [options] model in try SQLiteStore(url: url, model: model, options: options) }
  }
}
