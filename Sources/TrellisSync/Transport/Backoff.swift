/// How long to wait before something that has failed is tried again: longer each time, and never as long as others wait
/// that have failed at the same moment.
struct Backoff: Hashable, Sendable {
  /// The longest pause after the first failure.
  var first: Duration
  /// The longest pause of all.
  var longest: Duration

  /// The pause after some failures one after the other: between half of the longest pause and all of it.
  func pause(after failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
    var pause = min(first, longest)
    for _ in 1..<max(1, failures) where pause < longest { pause = min(pause * 2, longest) }
    return pause * Double.random(in: 0.5...1, using: &generator)
  }

  func pause(after failures: Int) -> Duration {
    var generator = SystemRandomNumberGenerator()
    return pause(after: failures, using: &generator)
  }
}
