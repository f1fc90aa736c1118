/// The values for the placeholders of a format. Interpolated values have known offsets, the others are used in order.
struct FormatArguments {
  /// The interpolated values, by the offset of their `%@`.
  var interpolated: [Int: FormatArgument] = [:]
  /// The values passed separately from the format.
  var given: [FormatArgument] = []
  private var used = 0
  /// The offsets of the interpolated values, in order. They number first, the values passed separately follow.
  private let offsets: [Int]

  init(interpolated: [Int: FormatArgument] = [:], offsets: [Int] = [], given: [FormatArgument] = []) {
    self.interpolated = interpolated
    self.offsets = offsets
    self.given = given
  }

  mutating func next(
    _ directive: String, at offset: Int, _ lexer: FormatLexer
  ) throws(PredicateFormatError) -> (FormatArgument, Int) {
    if let value = interpolated.removeValue(forKey: offset) {
      return (value, offsets.firstIndex(of: offset) ?? 0)
    }
    guard used < given.count else {
      throw lexer.error(
        .missingArgument, "There is no argument for '%\(directive)': the format needs more than \(given.count).",
        at: offset)
    }
    let value = given[used]
    used += 1
    guard Self.fits(value, directive) else {
      throw lexer.error(
        .wrongArgument, "The argument for '%\(directive)' must be \(directive == "K" ? "a key path" : "a number").",
        at: offset)
    }
    return (value, offsets.count + used - 1)
  }

  private static func fits(_ value: FormatArgument, _ directive: String) -> Bool {
    guard directive != "@" else { return true }
    guard case .value(_, let type) = value else { return false }
    if directive == "K" { return type == .text }
    return type.isNumber || type == .bool
  }

  /// Throws unless all values were used.
  func finish(_ lexer: FormatLexer) throws(PredicateFormatError) {
    if let offset = interpolated.keys.min() {
      throw lexer.error(
        .argumentInQuotes, "An interpolation inside quotes binds nothing; leave the quotes out.", at: offset)
    }
    guard used == given.count else {
      throw lexer.error(
        .surplusArgument, "\(given.count) arguments were given, but the format has places for \(used).",
        at: lexer.bytes.count)
    }
  }
}
