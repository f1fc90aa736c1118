/// The versions of the Model Context Protocol that the server speaks, from the oldest one.
enum ProtocolVersion: String, CaseIterable, Comparable {
  case first = "2024-11-05"
  /// Has batches and annotations of tools.
  case batches = "2025-03-26"
  /// Has structured results, and no batches.
  case structured = "2025-06-18"
  case lastWithHandshake = "2025-11-25"
  /// Has no handshake: each request names its version.
  case stateless = "2026-07-28"

  /// The version that answers an `initialize` for another one.
  static let proposed = ProtocolVersion.lastWithHandshake

  static func < (left: ProtocolVersion, right: ProtocolVersion) -> Bool { left.rawValue < right.rawValue }

  var hasHandshake: Bool { self < .stateless }
  var hasStructuredResults: Bool { self >= .structured }
}
