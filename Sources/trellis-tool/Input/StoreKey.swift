import Foundation
import TrellisStorage

/// The keys of encrypted stores. They come from the environment or from files, because every user of the machine sees the
/// arguments of a command.
enum StoreKey {
  typealias Source = @Sendable () throws -> Data

  /// The key of a file; nil if the file is not encrypted, or if none was given.
  ///
  /// - Throws: ``ToolFailure`` if the file with the key cannot be read.
  static func of(_ path: String) throws(ToolFailure) -> Source? {
    // To open a pipe would wait for somebody who writes to it.
    let target = URL(filePath: path).resolvingSymlinksInPath().path
    let type = try? FileManager.default.attributesOfItem(atPath: target)[.type] as? FileAttributeType
    guard ServerPlace(path) == nil, type == .typeRegular,
      let file = try? FileHandle(forReadingFrom: URL(filePath: path))
    else { return nil }
    defer { try? file.close() }
    guard let start = try? file.read(upToCount: lengthOfStart), isCiphertext(start) else { return nil }
    return try given("TRELLIS_KEY")
  }

  /// The key of a store that a command makes, or the one that a store gets instead of its present one.
  ///
  /// - Throws: ``ToolFailure`` if the file with the key cannot be read.
  static func next() throws(ToolFailure) -> Source? { try given("TRELLIS_NEW_KEY") }

  private static func given(_ name: String) throws(ToolFailure) -> Source? {
    let environment = ProcessInfo.processInfo.environment
    if let text = environment[name] { return { Data(text.utf8) } }
    guard let path = environment[name + "_FILE"] else { return nil }
    guard var key = try? Data(contentsOf: URL(filePath: path)) else {
      throw ToolFailure(.unreadable, "error: \(path), which \(name)_FILE names, cannot be read.")
    }
    if key.last == UInt8(ascii: "\n") { key.removeLast() }
    return { [key] in key }
  }

  /// The number of bytes that show whether a file is encrypted.
  static let lengthOfStart = 256

  /// Whether a file begins with bytes that neither a document nor a SQLite file begins with. Of ciphertexts, one in a million
  /// million does not.
  static func isCiphertext(_ start: Data) -> Bool {
    !start.starts(with: Data("SQLite format 3\u{0}".utf8))
      && start.contains { $0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
  }
}
