/// Where files of external data are read, and who counts who uses them.
package protocol ExternalFileOrigin: AnyObject, Sendable {
  /// The file's bytes, which are those of its digest.
  ///
  /// - Throws: when the file is missing, cannot be read or is not what it should be.
  func bytes(of file: ExternalFile) throws -> [UInt8]
  /// Reads the file to its end, a piece at a time, and keeps nothing of it.
  ///
  /// - Throws: when the file is missing, cannot be read or is not what it should be.
  func check(_ file: ExternalFile) throws
  /// Somebody holds a file with this content, or no longer does.
  func noteUse(of digest: ContentDigest)
  func noteRelease(of digest: ContentDigest)
}

/// A file beside a store with the value of one attribute: known by its content, and read only when somebody asks.
///
/// While there is one in memory, its file is not collected.
public final class ExternalFile: Sendable {
  /// What the content is known by, and what the file is called.
  public let digest: ContentDigest
  /// How many bytes the file has.
  public let size: Int
  package let origin: (any ExternalFileOrigin)?

  /// - Parameter origin: who can read it; nil for one that came from elsewhere, such as a decoded snapshot.
  package init(_ digest: ContentDigest, size: Int, origin: (any ExternalFileOrigin)?) {
    self.digest = digest
    self.size = size
    self.origin = origin
    origin?.noteUse(of: digest)
  }

  deinit { origin?.noteRelease(of: digest) }

  /// Whether the file has just these bytes, without a look at it.
  ///
  /// - Complexity: constant when their number is another; else linear in it.
  public func holds(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count == size && ContentDigest(of: bytes) == digest
  }

  // MARK: The text in a row

  /// The text by which a row refers to the file: the digest's 64 digits, a colon, the number of bytes.
  package var reference: String { Self.reference(digest, size) }

  package static func reference(_ digest: ContentDigest, _ size: Int) -> String { "\(digest.text):\(size)" }

  /// Where the number of bytes begins in a reference, counted from 1.
  package static let placeOfSize = 66

  /// What a reference says; nil for a text that is none.
  package static func parts(of reference: String) -> (digest: ContentDigest, size: Int)? {
    let parts = reference.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let digest = ContentDigest(parts[0]), let size = Int(parts[1]), size >= 0,
      String(size) == parts[1]
    else { return nil }
    return (digest, size)
  }
}

extension ExternalFile: Hashable {
  public static func == (left: ExternalFile, right: ExternalFile) -> Bool {
    left.digest == right.digest && left.size == right.size
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
