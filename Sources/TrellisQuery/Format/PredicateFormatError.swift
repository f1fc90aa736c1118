/// An error in a format string: the position, the reason, and a remedy. It contains no argument values.
///
/// ```
/// Entity 'EmotionDiary' has no property 'emotoin'; did you mean 'emotion'? [unknown-property] at 1:1
/// emotoin == 'happy'
/// ^
/// ```
public struct PredicateFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the error; `Docs/Predicates.md` explains each. More kinds may be added.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Something else was expected here.
    public static let unexpected = Code(rawValue: "unexpected")
    /// A quoted text has no closing quote.
    public static let unterminatedText = Code(rawValue: "unterminated-text")
    /// An escape in a quoted text is invalid.
    public static let invalidEscape = Code(rawValue: "invalid-escape")
    /// A number is malformed.
    public static let invalidNumber = Code(rawValue: "invalid-number")
    /// The format is nested too deep.
    public static let tooDeep = Code(rawValue: "too-deep")
    /// The format is too long.
    public static let tooLong = Code(rawValue: "too-long")
    /// A `%` directive has no argument, or is not a directive.
    public static let missingArgument = Code(rawValue: "missing-argument")
    /// More arguments were passed than the format has placeholders.
    public static let surplusArgument = Code(rawValue: "surplus-argument")
    /// An argument does not match its placeholder.
    public static let wrongArgument = Code(rawValue: "wrong-argument")
    /// An interpolation is inside quotes.
    public static let argumentInQuotes = Code(rawValue: "argument-in-quotes")
    /// The entity has no such property.
    public static let unknownProperty = Code(rawValue: "unknown-property")
    /// There is no such function, collection operator, or type to cast to.
    public static let unknownFunction = Code(rawValue: "unknown-function")
    /// A variable has no value.
    public static let unboundVariable = Code(rawValue: "unbound-variable")
    /// A value is used where a condition is needed.
    public static let notACondition = Code(rawValue: "not-a-condition")
    /// A condition is used where a value is needed.
    public static let notAValue = Code(rawValue: "not-a-value")
    /// A path leads to many values where one is needed.
    public static let manyValues = Code(rawValue: "many-values")
    /// A path leads to one value where many are needed.
    public static let notMany = Code(rawValue: "not-many")
    /// Two incompatible types are compared, or a function does not support its argument's type.
    public static let typeMismatch = Code(rawValue: "type-mismatch")
    /// The enum has no such case.
    public static let unknownCase = Code(rawValue: "unknown-case")
    /// The text after MATCHES is not a valid pattern.
    public static let invalidPattern = Code(rawValue: "invalid-pattern")
    /// A constant cannot be converted to the required type.
    public static let invalidConstant = Code(rawValue: "invalid-constant")
    /// A part of the predicate language that stores cannot evaluate.
    public static let unsupported = Code(rawValue: "unsupported")
  }

  public let code: Code
  /// The error, as a sentence.
  public let message: String
  /// The format. Interpolated values appear as `%@`.
  public let text: String
  /// The position in ``text``, in bytes of UTF-8.
  public let offset: Int
  /// The name that was probably meant in place of an unknown one.
  public let suggestion: String?

  package init(_ code: Code, _ message: String, in text: String, at offset: Int, suggestion: String? = nil) {
    self.code = code
    self.message = message
    self.text = text
    self.offset = min(max(0, offset), text.utf8.count)
    self.suggestion = suggestion
  }

  /// The line in ``text``, counted from 1.
  public var line: Int { text.utf8.prefix(offset).reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 } }

  /// The column in the line, in Unicode scalars counted from 1.
  public var column: Int { String(decoding: lineStart, as: UTF8.self).unicodeScalars.count + 1 }

  private var lineStart: Substring.UTF8View.SubSequence {
    let before = text.utf8.prefix(offset)
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { text.utf8.index(after: $0) } ?? text.utf8.startIndex
    return Substring(text).utf8[start..<before.endIndex]
  }

  /// The message, and the line with a mark below the position.
  public var description: String {
    let start = Array(lineStart)
    let rest = text.utf8.dropFirst(offset).prefix { $0 != UInt8(ascii: "\n") }
    // Of a long line, only the part near the position.
    let before = String(decoding: start, as: UTF8.self).unicodeScalars.suffix(60)
    let after = String(decoding: rest, as: UTF8.self).unicodeScalars.prefix(40)
    let mark = String(repeating: " ", count: before.count) + "^"
    return "\(message) [\(code.rawValue)] at \(line):\(column)\n\(String(before))\(String(after))\n\(mark)"
  }
}
