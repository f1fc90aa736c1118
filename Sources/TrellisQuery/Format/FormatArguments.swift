/// The values for the places of a format, in order: interpolated ones lie at known offsets, others are taken in turn.
struct FormatArguments {
  /// Interpolated values by the offset of their `%@`.
  var interpolated: [Int: FormatArgument] = [:]
  /// Those that were given beside the format.
  var given: [FormatArgument] = []
  private var used = 0

  init(interpolated: [Int: FormatArgument] = [:], given: [FormatArgument] = []) {
    self.interpolated = interpolated
    self.given = given
  }

  mutating func next(
    _ directive: String, at offset: Int, _ lexer: FormatLexer
  ) throws(PredicateFormatError) -> FormatArgument {
    if let value = interpolated.removeValue(forKey: offset) {
      return value
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
    return value
  }

  private static func fits(_ value: FormatArgument, _ directive: String) -> Bool {
    guard directive != "@" else { return true }
    guard case .value(_, let type) = value else { return false }
    if directive == "K" { return type == .text }
    return type.isNumber || type == .bool
  }

  /// All values must have found their place.
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
