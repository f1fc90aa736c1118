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
}
