/// A compiled pattern that the whole text of an attribute must match.
///
/// Matching scans the text once and tracks all alternatives in parallel, so no pattern takes exponential time, and a
/// limit on the work bounds the rest. In exchange there are no lookarounds and no backreferences.
///
/// ```swift
/// let pattern = try Pattern("[0-9]{3}-[0-9]{4}")
/// pattern.match("010-1234")   // .matches
/// ```
public struct Pattern: Sendable {
  /// The result of a match.
  public enum Outcome: Hashable, Sendable {
    case matches
    case differs
    /// Text and pattern together would take more than ``stepLimit`` steps.
    case tooCostly
  }

  /// The maximum number of instructions of a pattern. `a{1000}` compiles to a thousand.
  public static let sizeLimit = 4_000
  /// The maximum nesting depth of groups.
  public static let depthLimit = 100
  /// The maximum number of steps of one match. A transition that is already cached does not count as a step.
  public static let stepLimit = 2_000_000

  let program: [Instruction]
  let ignoresCase: Bool

  /// Parses a pattern.
  ///
  /// - Parameter ignoringCase: whether a scalar in the pattern also matches its other case.
  /// - Throws: ``PatternError`` with the position of the error.
  public init(_ text: String, ignoringCase: Bool = false) throws(PatternError) {
    ignoresCase = ignoringCase
    var parser = PatternParser(text)
    let tree = try parser.parse()
    var compiler = PatternCompiler()
    try compiler.add(tree)
    program = compiler.finished
  }

  /// Matches the whole text, scalar by scalar.
  ///
  /// - Complexity: linear in the length of the text; at worst linear in that times the length of the pattern, up to
  ///   ``stepLimit``.
  public func match(_ text: String) -> Outcome {
    var matcher = PatternMatcher(program, ignoresCase: ignoresCase)
    return matcher.run(text)
  }
}

/// A syntax error in a pattern, with its position.
public struct PatternError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The index of the scalar at which the error is, from 0.
  public let position: Int
  /// The error, as the end of a sentence.
  public let message: String

  public var description: String { "The pattern is wrong at character \(position + 1): \(message)." }
}

/// One instruction of a compiled pattern.
enum Instruction: Sendable {
  case scalar(ScalarSet)
  /// Continues at both positions.
  case split(Int, Int)
  case jump(Int)
  /// Continues only at the start or at the end of the text.
  case start, end
  case accept
}
