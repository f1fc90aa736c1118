/// A pattern that a text attribute must match as a whole, ready to match.
///
/// Matching walks the text once and keeps all ways of matching side by side, so no pattern can take exponential time; a limit
/// on the work bounds the rest. In exchange there are no look-arounds and no back references.
///
/// ```swift
/// let pattern = try Pattern("[0-9]{3}-[0-9]{4}")
/// pattern.match("010-1234")   // .matches
/// ```
public struct Pattern: Sendable {
  /// How matching ended.
  public enum Outcome: Hashable, Sendable {
    case matches
    case differs
    /// The text and the pattern together would take more steps than ``stepLimit``.
    case tooCostly
  }

  /// How many instructions a pattern may come to; `a{1000}` comes to a thousand.
  public static let sizeLimit = 4_000
  /// How deep groups may be nested.
  public static let depthLimit = 100
  /// How many steps one match may take; what it has met before at the same places of the pattern is no step any more.
  public static let stepLimit = 2_000_000

  let program: [Instruction]
  let ignoresCase: Bool

  /// Reads a pattern.
  ///
  /// - Parameter ignoringCase: whether a scalar that the pattern names also stands for its other case.
  /// - Throws: ``PatternError`` with the position of the mistake.
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
  /// - Complexity: linear in the text's length; at worst linear in it times the pattern's, up to ``stepLimit``.
  public func match(_ text: String) -> Outcome {
    var matcher = PatternMatcher(program, ignoresCase: ignoresCase)
    return matcher.run(text)
  }
}

/// What is wrong with a pattern, and where.
public struct PatternError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The number of the scalar at which it is wrong, from 0.
  public let position: Int
  /// What is wrong, as the end of a sentence.
  public let message: String

  public var description: String { "The pattern is wrong at character \(position + 1): \(message)." }
}

/// One step of a compiled pattern.
enum Instruction: Sendable {
  case scalar(ScalarSet)
  /// Goes on in two places.
  case split(Int, Int)
  case jump(Int)
  /// Goes on only at the start or at the end of the text.
  case start, end
  case accept
}
