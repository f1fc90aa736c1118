import CDigest
import Synchronization

/// Computes the digest of bytes that arrive in pieces, by the library of the system or by ``SHA256``.
package struct ContentHasher {
  private var own = SHA256()
  private var system: trellis_sha256?

  /// - Parameter count: the expected number of bytes. It decides what computes the digest, not the digest.
  package init(expecting count: Int) { self.init(bySystem: SystemDigests.pay(for: count)) }

  /// - Parameter isWanted: whether the library of the system is used if there is one.
  package init(bySystem isWanted: Bool) {
    guard isWanted else { return }
    var state = trellis_sha256()
    if trellis_sha256_begin(&state) != 0 { system = state }
  }

  package var isBySystem: Bool { system != nil }

  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    guard system != nil else { return own.add(bytes) }
    trellis_sha256_add(&system!, bytes.baseAddress, bytes.count)
  }

  /// The digest of all added bytes. No bytes may be added afterwards.
  package mutating func digest() -> ContentDigest {
    guard system != nil else { return ContentDigest(own.digest()) }
    return withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { bytes in
      trellis_sha256_end(&system!, bytes.baseAddress)
      return ContentDigest(UnsafeRawBufferPointer(bytes))
    }
  }
}

/// Decides which digests the library of the system computes. Loading it takes as long as 0.4 MB take without it, so a
/// program that digests little never loads it.
private enum SystemDigests {
  private static let smallest = 4096
  private static let enough = 1 << 19
  /// The number of bytes of contents so far, counted up to `enough`.
  private static let seen = Atomic(0)

  static func pay(for count: Int) -> Bool {
    guard count >= smallest else { return false }
    if seen.load(ordering: .relaxed) >= enough { return true }
    return seen.wrappingAdd(min(count, enough), ordering: .relaxed).newValue >= enough
  }
}
