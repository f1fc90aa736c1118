public import Foundation
import TrellisSchema
public import TrellisStorage

extension StoreConfiguration {
  /// A SQLite file.
  ///
  /// ```swift
  /// let container = try PersistentContainer(model: .diary, store: .sqlite(at: url))
  /// ```
  /// A file that is missing or empty is made into a new store, readable by its owner only. A file of another model, of a
  /// newer Trellis, of another program, or a damaged one is refused and stays as it is.
  ///
  /// - Parameters:
  ///   - url: The file. Its folder must exist. SQLite keeps two more files beside it while it is open.
  ///   - durability: What a save has brought to safety when it returns.
  ///   - busyTimeout: How many seconds a save waits for another process or context that is saving.
  ///   - connections: How many connections to the file are open at most, at least one. Contexts borrow one for each call, so
  ///     this bounds how many of them read at the same time, and not how many there are.
  ///   - readOnly: Whether the file is only read. Then it must exist, and saves fail.
  ///   - filesAbove: How many bytes the value of an attribute with `externalStorage` has at most in the row; a larger one lies in a
  ///     file of its own, in the folder beside the store whose name ends in `.external`. A number below 0 counts as 0. It holds
  ///     for values saved from now on, and may differ each time.
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
