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

  /// The stack of a thread of an Apple system, in bytes. Frames that are not optimised are three times as large.
  #if DEBUG
    package static let smallStack = 2048 * 1024
  #else
    package static let smallStack = 512 * 1024
  #endif
}
