import Foundation

extension Date {
  /// The microseconds since 1970, in which messages and notes have times.
  var microseconds: Int64 { Int64(timeIntervalSince1970 * 1_000_000) }
}
