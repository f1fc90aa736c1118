/// How a CSV file is written: what stands between its cells, and what stands for values.
///
/// An import finds out the separator, and UTF-16 with a byte order mark, by itself.
public struct CSVFormat: Hashable, Sendable {
  /// What stands between cells.
  public enum Separator: String, Hashable, Sendable, CaseIterable {
    /// `,`, that of RFC 4180.
    case comma = ","
    /// `;`, that of spreadsheets where fractions have a comma.
    case semicolon = ";"
    /// A tab.
    case tab = "\t"
    /// `|`
    case bar = "|"
  }

  /// How texts are bytes.
  public enum Encoding: Hashable, Sendable {
    /// UTF-8; an import reads UTF-16 as well, if the file begins with its byte order mark.
    case unicode
    /// The encoding in which Windows programs of western Europe write files for each other.
    case windows1252
  }

  /// What stands between cells. Nil for what an import finds in the first line, and for the comma in an export.
  public var separator: Separator?
  /// The encoding of an import. An export writes UTF-8.
  public var encoding: Encoding = .unicode
  /// A word that stands for nil besides an empty cell, as `NULL`. It is one only without quotes.
  public var null: String?
  /// Whether fractions are written with a comma, as `1,5`.
  public var hasDecimalCommas = false
  /// What stands between the elements of a list in a cell; nil for lists in JSON, as `["a","b"]`.
  public var listSeparator: String?
  /// Whether a backslash takes its meaning from the character after it, as MySQL writes files.
  public var hasBackslashes = false
  /// Whether columns that the entity does not have are passed over, and not refused.
  public var skipsUnknownColumns = false
  /// Whether the file is for a spreadsheet. An export begins with a byte order mark, ends lines with CR and LF, and writes an
  /// apostrophe before each text that a spreadsheet would take for a formula, which an import takes away again.
  public var isForSpreadsheet = false

  /// Creates the format of RFC 4180, with commas.
  public init(separator: Separator? = nil) { self.separator = separator }
}

extension CSVFormat: CustomStringConvertible {
  /// The separator and what differs from RFC 4180: `CSV with ';', decimal commas`.
  public var description: String {
    var parts: [String] = []
    if let separator { parts.append(separator == .tab ? "tabs" : "'\(separator.rawValue)'") }
    if encoding == .windows1252 { parts.append("windows-1252") }
    if let null { parts.append("'\(null)' for nil") }
    if hasDecimalCommas { parts.append("decimal commas") }
    if let listSeparator { parts.append("'\(listSeparator)' in lists") }
    if hasBackslashes { parts.append("backslashes") }
    if isForSpreadsheet { parts.append("guarded formulas") }
    return parts.isEmpty ? "CSV" : "CSV with \(parts.joined(separator: ", "))"
  }
}

extension CSVFormat {
  /// The bytes with which texts begin that a spreadsheet would take for a formula, and the apostrophe that guards them.
  private static let guarded = Set("=+-@\t\r'".utf8)

  /// Whether a text has an apostrophe before it.
  func guards(_ text: String) -> Bool { isForSpreadsheet && text.utf8.first.map(Self.guarded.contains) == true }

  /// A text without its apostrophe.
  func unguarded(_ text: String) -> String {
    guard isForSpreadsheet, text.utf8.first == UInt8(ascii: "'"), let next = text.utf8.dropFirst().first,
      Self.guarded.contains(next)
    else { return text }
    return String(text.dropFirst())
  }
}
