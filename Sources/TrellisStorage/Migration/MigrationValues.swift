import Foundation
import TrellisModel

/// Values that a migration makes.
enum MigrationValues {
  /// The bytes of a new random UUID.
  static func newUUID() -> [UInt8] {
    withUnsafeBytes(of: UUID().uuid) { [UInt8]($0) }
  }
}
