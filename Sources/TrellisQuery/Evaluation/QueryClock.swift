import Foundation

/// The time that ``Operand/now`` evaluates to.
public enum QueryClock {
  /// The current time in microseconds since 1970-01-01T00:00:00Z.
  public static var now: Int64 { Int64((Date().timeIntervalSince1970 * 1_000_000).rounded()) }
}
