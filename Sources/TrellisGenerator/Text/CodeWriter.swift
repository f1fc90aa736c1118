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
