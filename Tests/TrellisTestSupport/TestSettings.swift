import Foundation

/// What the environment says about a run: its lengths, which are short by default, and the seeds that play a failure again.
package enum TestSettings {
  package static func number<Number: LosslessStringConvertible>(_ name: String, or usual: @autoclosure () -> Number)
    -> Number
  {
    number(name) ?? usual()
  }

  /// Nil when nothing is said, or no number.
  package static func number<Number: LosslessStringConvertible>(_ name: String) -> Number? {
    ProcessInfo.processInfo.environment[name].flatMap(Number.init)
  }

  /// The seed of a random test: the number in a variable, or in `TRELLIS_SEED`, and otherwise always the same. With the
  /// value `random` it is another one in each run, which is printed.
  package static func seed(_ name: String = "TRELLIS_SEED") -> UInt64 {
    let environment = ProcessInfo.processInfo.environment
    guard let value = environment[name] ?? environment["TRELLIS_SEED"] else { return usualSeed }
    if let seed = UInt64(value) { return seed }
    print("\(name)=\(randomSeed)")
    return randomSeed
  }

  private static let usualSeed: UInt64 = 2026
  private static let randomSeed = UInt64.random(in: 1 ... .max)

  /// Whether tests of all combinations try each of them: `TRELLIS_LONG=1`.
  package static let isLong = number("TRELLIS_LONG", or: 0) == 1

  /// The stack of a thread of an Apple system, in bytes. Frames that are not optimised are three times as large.
  #if DEBUG
    package static let smallStack = 2048 * 1024
  #else
    package static let smallStack = 512 * 1024
  #endif
}
