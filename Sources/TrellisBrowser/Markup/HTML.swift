/// A piece of a page. Every text that is put into one is escaped.
///
/// ```swift
/// let cell: HTML = "<td>\(name)</td>"
/// ```
struct HTML: ExpressibleByStringInterpolation, Sendable {
  private(set) var text: String

  init(stringLiteral value: String) { text = value }

  init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

    mutating func appendLiteral(_ literal: String) { text += literal }
    mutating func appendInterpolation(_ value: String) { text += HTML.escaped(value) }
    mutating func appendInterpolation(_ value: some BinaryInteger) { text += "\(value)" }
    mutating func appendInterpolation(_ piece: HTML) { text += piece.text }
    mutating func appendInterpolation(_ piece: HTML?) { text += piece?.text ?? "" }
    mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { text += piece.text } }
  }

  static func += (page: inout HTML, piece: HTML) { page.text += piece.text }

  /// A text as content or as a quoted value of HTML. Control characters that HTML does not allow are replaced.
  static func escaped(_ text: String) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
      case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
      case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
      case "\"": escaped.append(contentsOf: "&quot;".unicodeScalars)
      case "'": escaped.append(contentsOf: "&#39;".unicodeScalars)
      case "\n", "\t": escaped.append(scalar)
      // A browser would turn it into a line feed.
      case "\r": escaped.append(contentsOf: "&#13;".unicodeScalars)
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": escaped.append("\u{FFFD}")
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}

extension HTML {
  /// A page for a request that reaches no page of a site.
  static func refusal(_ message: String) -> HTML {
    """
    <!DOCTYPE html>
    <html lang="en"><head><meta charset="utf-8"><title>Refused</title></head><body><p>\(message)</p></body></html>

    """
  }
}
