/// The folder that reads files of external data and counts how often each of them is in use.
package protocol ExternalFileOrigin: AnyObject, Sendable {
  /// The file's bytes, which match its digest.
  ///
  /// - Throws: if the file is missing, unreadable or does not have the expected content.
  func bytes(of file: ExternalFile) throws -> [UInt8]
  /// Reads the file to its end in pieces, without keeping its content.
  ///
  /// - Throws: if the file is missing, unreadable or does not have the expected content.
  func check(_ file: ExternalFile) throws
  /// Counts one more use of the file with this content; ``noteRelease(of:)`` counts one less.
  func noteUse(of digest: ContentDigest)
  func noteRelease(of digest: ContentDigest)
}

/// A file beside a store that holds the value of one attribute. It is identified by its content and read lazily.
///
/// The file is not collected as garbage while an instance for it is in memory.
public final class ExternalFile: Sendable {
  /// The digest of the content, which is also the file's name.
  public let digest: ContentDigest
  /// The size of the file in bytes.
  public let size: Int
  package let origin: (any ExternalFileOrigin)?

  /// - Parameter origin: the reader of the file; nil for a file from elsewhere, such as one in a decoded snapshot.
  package init(_ digest: ContentDigest, size: Int, origin: (any ExternalFileOrigin)?) {
    self.digest = digest
    self.size = size
    self.origin = origin
    origin?.noteUse(of: digest)
  }

  deinit { origin?.noteRelease(of: digest) }

  /// Whether the file has exactly these bytes. The file itself is not read.
  ///
  /// - Complexity: constant if the sizes differ, otherwise linear in the number of bytes.
  public func holds(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count == size && ContentDigest(of: bytes) == digest
  }

  // MARK: References in rows

  /// The text by which a row refers to the file: the 64 digits of the digest, a colon, and the size in bytes.
  package var reference: String { Self.reference(digest, size) }

  package static func reference(_ digest: ContentDigest, _ size: Int) -> String { "\(digest.text):\(size)" }

  /// The position of the size in a reference, counted from 1.
  package static let placeOfSize = 66

  /// The digest and the size in a reference; nil if the text is not a reference.
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
