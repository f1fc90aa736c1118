/// A piece of an expression with its possible line breaks.
indirect enum Code {
  /// Text that stays on one line.
  case plain(String)
  /// A string literal with this content.
  case string(String)
  /// `label: value`.
  case labeled(String, Code)
  case list([Code])
  /// A list. When broken, each line is filled with as many elements as fit.
  case filledList([Code])
  /// `name ?? value`
  case otherwise(String, Code)
  /// An expression between two texts.
  case wrapped(String, Code, String)
  /// `head(arguments)`. When broken, each argument takes a line.
  case call(String, [Code])
  /// `head(arguments)`. When broken, each line is filled with as many arguments as fit.
  case filledCall(String, [Code])

  /// The expression on one line.
  var flat: String {
    switch self {
    case .plain(let text): text
    case .string(let content): StringLiteral.flat(content)
    case .labeled(let label, let value): "\(label): \(value.flat)"
    case .list(let elements), .filledList(let elements): "[\(Self.flat(elements))]"
    case .otherwise(let name, let value): "\(name) ?? \(value.flat)"
    case .wrapped(let before, let code, let after): before + code.flat + after
    case .call(let head, let arguments), .filledCall(let head, let arguments): "\(head)(\(Self.flat(arguments)))"
    }
  }

  static func flat(_ parts: [Code]) -> String {
    var text = ""
    for (number, part) in parts.enumerated() {
      if number > 0 { text += ", " }
      text += part.flat
    }
    return text
  }

  func write(to writer: inout CodeWriter, _ prefix: String, _ suffix: String) {
    let line = prefix + flat + suffix
    if line.fits(writer.room) { return writer.line(line) }
    switch self {
    case .plain: writer.line(line)
    case .string(let content): StringLiteral.write(content, to: &writer, prefix, suffix)
    case .labeled(let label, let value): value.write(to: &writer, "\(prefix)\(label): ", suffix)
    case .list(let elements):
      writer.line(prefix + "[")
      // As the formatter requires, the last element has a comma, unless it is the only one.
      Self.write(elements, to: &writer, last: elements.count > 1 ? "," : "")
      writer.line("]" + suffix)
    case .filledList(let elements):
      writer.line(prefix + "[")
      Self.fill(elements, to: &writer, last: elements.count > 1 ? "," : "")
      writer.line("]" + suffix)
    case .otherwise(let name, let value): Self.writeOtherwise(name, value, to: &writer, prefix, suffix)
    case .wrapped(let before, let code, let after): code.write(to: &writer, prefix + before, after + suffix)
    case .call(let head, let arguments):
      writer.line("\(prefix)\(head)(")
      Self.write(arguments, to: &writer, last: "")
      writer.line(")" + suffix)
    case .filledCall(let head, let arguments):
      writer.line("\(prefix)\(head)(")
      Self.fill(arguments, to: &writer, last: "")
      writer.line(")" + suffix)
    }
  }

  private static func write(_ parts: [Code], to writer: inout CodeWriter, last: String) {
    writer.indent()
    for (number, part) in parts.enumerated() {
      part.write(to: &writer, "", number == parts.count - 1 ? last : ",")
    }
    writer.outdent()
  }

  /// As the formatter does, breaks before the operator and after the equals sign of an assignment.
  private static func writeOtherwise(
    _ name: String, _ value: Code, to writer: inout CodeWriter, _ prefix: String, _ suffix: String
  ) {
    let isAssignment = prefix.hasSuffix(" = ")
    writer.line(isAssignment ? String(prefix.dropLast()) : prefix + name)
    writer.indent()
    if isAssignment { writer.line(name) }
    value.write(to: &writer, "?? ", suffix)
    writer.outdent()
  }

  private static func fill(_ parts: [Code], to writer: inout CodeWriter, last: String) {
    writer.indent()
    var line = ""
    for (number, part) in parts.enumerated() {
      let comma = number == parts.count - 1 ? last : ","
      let text = part.flat + comma
      let longer = line.isEmpty ? text : "\(line) \(text)"
      if longer.fits(writer.room) {
        line = longer
        continue
      }
      if !line.isEmpty { writer.line(line) }
      line = ""
      if text.fits(writer.room) {
        line = text
      } else {
        part.write(to: &writer, "", comma)
      }
    }
    if !line.isEmpty { writer.line(line) }
    writer.outdent()
  }
}

// MARK: - Code writer

/// Collects lines of Swift code with their indentation.
struct CodeWriter {
  /// The maximum line length, as in the package's formatting rules.
  static let width = 120

  private(set) var text = ""
  private var margin = ""

  init() { text.reserveCapacity(1 << 16) }

  /// The number of characters that fit on a line at the current indentation.
  var room: Int { Self.width - margin.utf8.count }

  mutating func line(_ content: String) {
    text += margin
    text += content
    text += "\n"
  }

  mutating func blank() { text += "\n" }

  mutating func indent() { margin += "  " }
  mutating func outdent() { margin.removeLast(min(2, margin.count)) }

  /// Writes `header {`, the body, and `}`.
  mutating func block(_ header: String, _ body: (inout CodeWriter) -> Void) {
    line(header + " {")
    indent()
    body(&self)
    outdent()
    line("}")
  }

  /// Writes a function with its body. The parameters are broken over several lines if needed.
  mutating func function(
    _ head: String, _ parameters: [String], _ result: String = "", _ body: (inout CodeWriter) -> Void
  ) {
    write("", .call(head, parameters.map { .plain($0) }), result + " {")
    indent()
    body(&self)
    outdent()
    line("}")
  }

  /// Writes a function with a single expression as its body, on one line if it fits.
  mutating func function(
    _ head: String, _ parameters: [String], _ result: String = "", returning expression: String
  ) {
    let short = "\(head)(\(parameters.joined(separator: ", ")))\(result) { \(expression) }"
    if short.fits(room) { return line(short) }
    function(head, parameters, result) { $0.line(expression) }
  }

  /// Writes a block with a single expression as its body, on one line if it fits.
  mutating func block(_ header: String, returning expression: String) {
    let short = "\(header) { \(expression) }"
    if short.fits(room) { return line(short) }
    block(header) { $0.line(expression) }
  }

  /// Writes an expression between a prefix and a suffix, broken over several lines if needed.
  mutating func write(_ prefix: String = "", _ code: Code, _ suffix: String = "") {
    code.write(to: &self, prefix, suffix)
  }

  /// Writes a doc comment. Long lines are wrapped between words.
  mutating func doc(_ comment: String?) {
    guard let comment else { return }
    for line in DocComment.lines(of: comment, room: room) { self.line(line) }
  }
}

extension String {
  /// Whether the text fits into a number of columns.
  func fits(_ room: Int) -> Bool { utf8.count <= room || count <= room }
}
