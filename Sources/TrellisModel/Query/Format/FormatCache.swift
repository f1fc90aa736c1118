/// Cache of the formats parsed for a model, so that repeated fetches of the same shape need no parsing.
///
/// A shape is a text, an entity, and the types of the arguments. The cache is thread-safe.
package final class FormatCache: Sendable {
  /// A format with its arguments: first the interpolated ones with their offsets, in order, then those passed
  /// separately.
  package struct Request: Sendable {
    package var text: String
    package var interpolated: [(offset: Int, value: FormatArgument)]
    package var given: [FormatArgument]
    package var bindings: [String: FormatArgument]

    package init(
      text: String, interpolated: [(offset: Int, value: FormatArgument)], given: [FormatArgument],
      bindings: [String: FormatArgument]
    ) {
      self.text = text
      self.interpolated = interpolated
      self.given = given
      self.bindings = bindings
    }
  }

  private struct Key: Hashable {
    let text: String
    let entity: Int
    let types: [ArgumentType]
    let names: [String]
  }

  private enum ArgumentType: Hashable {
    case null, other
    case one(FormatType)
    case list(FormatType?)

    init(_ argument: FormatArgument) {
      self =
        switch argument {
        case .null: .null
        case .value(_, let type): .one(type)
        case .list(let list): .list(FormatChecker.elementType(list))
        case .range: .other
        }
    }
  }

  /// An app has few formats, unless it builds them from texts. Emptying a full cache then bounds the memory.
  private static let limit = 1_000
  /// The maximum length of a cached text, in bytes of UTF-8.
  private static let lengthLimit = 4_096

  /// The templates in a class of their own, so that a program without formats never needs the type of the dictionary.
  private final class Templates {
    var all: [Key: FormatTemplate] = [:]
  }

  private let templates = Locked<Templates?>(nil)

  package init() {}

  /// The predicate of a format.
  ///
  /// - Throws: ``PredicateFormatError``.
  /// - Complexity: linear in the format on first use, linear in the predicate afterwards.
  package func predicate(
    _ request: Request, of entity: Int, in model: Model
  ) throws(PredicateFormatError) -> QueryPredicate {
    let names = request.bindings.isEmpty ? [] : request.bindings.keys.sorted()
    let arguments = request.interpolated.map(\.value) + request.given + names.compactMap { request.bindings[$0] }
    let key = Key(text: request.text, entity: entity, types: arguments.map { ArgumentType($0) }, names: names)
    if let known = templates.withLock({ $0?.all[key] }) { return try known.predicate(arguments, in: model) }
    let (template, isReusable) = try FormatTemplate.read(request, of: entity, in: model, names)
    if isReusable && request.text.utf8.count <= Self.lengthLimit {
      templates.withLock { templates in
        let kept = templates ?? Templates()
        if kept.all.count >= Self.limit { kept.all.removeAll() }
        kept.all[key] = template
        templates = kept
      }
    }
    return try template.predicate(arguments, in: model)
  }

  /// The number of cached formats.
  package var count: Int { templates.withLock { $0?.all.count ?? 0 } }
}

extension FormatTemplate {
  fileprivate static func read(
    _ request: FormatCache.Request, of number: Int, in model: Model, _ names: [String]
  ) throws(PredicateFormatError) -> (FormatTemplate, isReusable: Bool) {
    let text = request.text
    guard model.entities.indices.contains(number) else {
      throw PredicateFormatError(.unknownProperty, "The model has no entity of this number.", in: text, at: 0)
    }
    let entity = model.entities[number]
    let base = request.interpolated.count + request.given.count
    var interpolated: [Int: FormatArgument] = [:]
    for (offset, value) in request.interpolated { interpolated[offset] = value }
    var parser = FormatParser(
      text,
      FormatArguments(
        interpolated: interpolated, offsets: request.interpolated.map(\.offset), given: request.given))
    let node = try parser.parse()
    var checker = FormatChecker(text, model, entity, variable: 0, bindings: request.bindings)
    checker.makesTemplate = true
    for (place, name) in names.enumerated() { checker.bindingNumbers[name] = base + place }
    let predicate = try checker.condition(node)
    if let variable = checker.variables.first {
      throw PredicateFormatError(
        .unboundVariable, "$\(variable.name) has no value; bind it with binding([\"\(variable.name)\": …]).", in: text,
        at: variable.offset)
    }
    do {
      try predicate.checkDepth()
    } catch {
      throw PredicateFormatError(.tooDeep, error.description, in: text, at: 0)
    }
    return (
      FormatTemplate(entity: entity, text: text, predicate: predicate, slots: checker.slots),
      !checker.dependsOnValues && !parser.readKeyPaths
    )
  }
}

// MARK: - Predicate format error

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

  // One reference, because every step of the parser may throw the error and would have to move its texts.
  private let mistake: Mistake

  private final class Mistake: Sendable {
    let code: Code
    let message: String
    let text: String
    let offset: Int
    let suggestion: String?

    init(_ code: Code, _ message: String, _ text: String, _ offset: Int, _ suggestion: String?) {
      self.code = code
      self.message = message
      self.text = text
      self.offset = offset
      self.suggestion = suggestion
    }
  }

  package init(_ code: Code, _ message: String, in text: String, at offset: Int, suggestion: String? = nil) {
    mistake = Mistake(code, message, text, min(max(0, offset), text.utf8.count), suggestion)
  }

  /// The kind of the mistake.
  public var code: Code { mistake.code }
  /// The error, as a sentence.
  public var message: String { mistake.message }
  /// The format. Interpolated values appear as `%@`.
  public var text: String { mistake.text }
  /// The position in ``text``, in bytes of UTF-8.
  public var offset: Int { mistake.offset }
  /// The name that was probably meant in place of an unknown one.
  public var suggestion: String? { mistake.suggestion }

  /// Whether both say the same of the same format.
  public static func == (left: PredicateFormatError, right: PredicateFormatError) -> Bool {
    left.code == right.code && left.message == right.message && left.text == right.text && left.offset == right.offset
      && left.suggestion == right.suggestion
  }

  /// Hashes the kind, the format and the position.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
    hasher.combine(text)
    hasher.combine(offset)
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
