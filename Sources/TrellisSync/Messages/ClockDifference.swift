/// What is certain about the difference between a server's clock and a replica's, in microseconds.
///
/// A message arrives after it was sent, so each one gives a bound, however long it was on its way: a request how far the
/// replica's clock can be behind at most, an answer how far at least. Clocks are believed as far as no bound contradicts
/// them.
struct ClockDifference: Hashable, Sendable {
  /// The server's clock minus the replica's.
  private(set) var least: Int64 = .min
  private(set) var most: Int64 = .max

  /// The difference that is nearest to none.
  var best: Int64 { max(least, min(most, 0)) }

  /// - Parameter bound: The server's clock when it sent a message, minus the replica's clock on arrival.
  mutating func isAtLeast(_ bound: Int64) {
    // A contradiction means that a clock was set: older bounds are void.
    if bound > most { self = ClockDifference() }
    least = max(least, bound)
  }

  /// Whether a bound says so much more that it has to be kept.
  func isImproved(by bound: Int64) -> Bool { bound > most || bound &- least > 1_000_000 || least == .min }

  /// - Parameter bound: The server's clock on arrival of a message, minus the replica's clock when it sent it.
  mutating func isAtMost(_ bound: Int64) {
    if bound < least { self = ClockDifference() }
    most = min(most, bound)
  }
}

extension ClockDifference {
  func write(to writer: inout ByteWriter) {
    writer.signed(least)
    writer.signed(most)
  }

  init(_ reader: inout ByteReader) throws(SyncError) {
    (least, most) = (try reader.signed(), try reader.signed())
    if least > most { throw .damagedMessage }
  }
}
