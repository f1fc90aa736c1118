import Foundation

/// Which of several stores has the objects of each tenant.
///
/// A table and not a hash of the name, so that a tenant can move to another store.
public struct Directory: Sendable {
  public struct Shard: Sendable {
    public let url: String
    /// The folder of the journals of its tenants.
    public let journals: String
    public let tenants: [String]
  }

  public let shards: [Shard]

  /// Reads a file with a line for each store: its address, a folder, and the names of its tenants, with tabs between.
  ///
  /// - Throws: ``UsageError``.
  public init(_ path: String) throws {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw UsageError(description: "\(path) cannot be read")
    }
    shards = try text.split(separator: "\n").map { line in
      let words = line.split(separator: "\t").map(String.init)
      guard words.count > 2 else { throw UsageError(description: "\(path) has a line without tenants") }
      return Shard(url: words[0], journals: words[1], tenants: Array(words[2...]))
    }
  }
}
