import TrellisModel

/// A problem in a model file: its position, a description, and a remedy.
public struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
  public enum Severity: String, Hashable, Sendable {
    case error, warning, note
  }

  /// A position in a file. Lines and columns count from 1.
  ///
  /// Columns count Unicode scalars, which most editors call characters. A byte order mark takes no column.
  public struct Position: Hashable, Sendable {
    public let line: Int
    public let column: Int

    public init(line: Int, column: Int) {
      self.line = line
      self.column = column
    }
  }

  /// Another position that helps to understand a problem.
  public struct Note: Hashable, Sendable {
    public let message: String
    public let position: Position

    public init(message: String, position: Position) {
      self.message = message
      self.position = position
    }
  }

  /// The problem is an error unless another severity is given.
  package init(
    _ code: DiagnosticCode, _ message: String, path: String, position: Position, severity: Severity = .error,
    notes: [Note] = []
  ) {
    self.severity = severity
    self.code = code
    self.message = message
    self.path = path
    self.position = position
    self.notes = notes
  }

  public let severity: Severity
  public let code: DiagnosticCode
  public let message: String
  public let path: String
  public let position: Position
  public let notes: [Note]

  /// The text `file:line:column: error: sentence [code]`, followed by a line for each note.
  public func rendered() -> String {
    var text = "\(path):\(position.line):\(position.column): \(severity.rawValue): \(message) [\(code.rawValue)]"
    for note in notes { text += "\n\(path):\(note.position.line):\(note.position.column): note: \(note.message)" }
    return text
  }

  public var description: String { rendered() }
}

// MARK: - Diagnostic code

/// The stable name of a kind of problem. Each kind has a section in `Docs/ModelErrors.md`.
public enum DiagnosticCode: String, Hashable, Sendable, CaseIterable {
  // The text
  case fileTooLarge = "file-too-large"
  case badUTF8 = "bad-utf8"
  case malformedJSON = "malformed-json"
  case comment = "comment"
  case trailingComma = "trailing-comma"
  case singleQuotes = "single-quotes"
  case unterminatedString = "unterminated-string"
  case badEscape = "bad-escape"
  case badNumber = "bad-number"
  case tooDeep = "too-deep"
  case duplicateKey = "duplicate-key"

  // The grammar
  case wrongType = "wrong-type"
  case unknownKey = "unknown-key"
  case missingKey = "missing-key"
  case unknownWord = "unknown-word"
  case badCount = "bad-count"
  case contradictoryOptional = "contradictory-optional"
  case tooMany = "too-many"

  // Names
  case badName = "bad-name"
  case nameTooLong = "name-too-long"
  case reservedName = "reserved-name"
  case nameClash = "name-clash"
  case caseClash = "case-clash"
  case shadowedType = "shadowed-type"

  // Enums
  case emptyEnum = "empty-enum"
  case reservedCase = "reserved-case"
  case duplicateCase = "duplicate-case"
  case duplicateRawValue = "duplicate-raw-value"
  case unknownCase = "unknown-case"

  // Entities
  case unknownEntity = "unknown-entity"
  case parentCycle = "parent-cycle"
  case parentChainTooLong = "parent-chain-too-long"
  case propertyRedeclared = "property-redeclared"
  case abstractWithoutChildren = "abstract-without-children"
  case renameClash = "rename-clash"

  // Attributes
  case unknownType = "unknown-type"
  case emptyComposite = "empty-composite"
  case compositeCircle = "composite-circle"
  case ruleMismatch = "rule-mismatch"
  case emptyRange = "empty-range"
  case invalidPattern = "invalid-pattern"
  case optionMismatch = "option-mismatch"
  case defaultMismatch = "default-mismatch"
  case defaultBreaksRule = "default-breaks-rule"
  case backfillMismatch = "backfill-mismatch"

  // Relationships
  case missingInverse = "missing-inverse"
  case unknownInverse = "unknown-inverse"
  case asymmetricInverse = "asymmetric-inverse"
  case inverseDestination = "inverse-destination"
  case selfInverse = "self-inverse"
  case transientMismatch = "transient-mismatch"
  case orderedToOne = "ordered-to-one"
  case countOnToOne = "count-on-to-one"
  case emptyCountRange = "empty-count-range"
  case unsatisfiableDelete = "unsatisfiable-delete"
  case requiredCircle = "required-circle"

  // Keys, indexes and fetch requests
  case unknownProperty = "unknown-property"
  case noColumn = "no-column"
  case repeatedEntry = "repeated-entry"
  case badSort = "bad-sort"
  case badPrefetch = "bad-prefetch"
  case badPredicate = "bad-predicate"
  case badDerivation = "bad-derivation"

  // Mappings of JSON
  case badJSONPath = "bad-json-path"
  case jsonMismatch = "json-mismatch"

  // Released versions
  case historyEdited = "history-edited"
  case formerVersion = "former-version"
}

// MARK: - Findings

/// The problems found so far, by byte offset. Lines and columns are computed once, at the end.
final class Findings {
  typealias Note = (message: String, offset: Int)

  private struct Finding {
    let severity: Diagnostic.Severity
    let code: DiagnosticCode
    let message: String
    let offset: Int
    /// For a position inside a JSON string that begins at `offset`: the offset in its text, in bytes of UTF-8.
    var textOffset: Int?
    let notes: [Note]

    func place(in bytes: UnsafeBufferPointer<UInt8>) -> Int {
      textOffset.map { JSONString.place(of: $0, inStringAt: offset, bytes) } ?? offset
    }
  }

  private var kept: [Finding] = []
  private(set) var errorCount = 0
  private(set) var omittedErrorCount = 0
  let suggestions = Suggestions()

  /// Whether no further findings are kept, so that computing suggestions is of no use.
  var isFull: Bool { kept.count >= Limits.keptDiagnostics }

  func error(_ code: DiagnosticCode, at offset: Int, _ message: String, notes: [Note] = []) {
    errorCount += 1
    guard !isFull else { return omittedErrorCount += 1 }
    kept.append(Finding(severity: .error, code: code, message: message, offset: offset, notes: notes))
  }

  /// - Parameters:
  ///   - offset: the offset of a JSON string.
  ///   - textOffset: the offset in the string's text, in bytes of UTF-8.
  func error(_ code: DiagnosticCode, at offset: Int, inText textOffset: Int, _ message: String) {
    errorCount += 1
    guard !isFull else { return omittedErrorCount += 1 }
    kept.append(
      Finding(severity: .error, code: code, message: message, offset: offset, textOffset: textOffset, notes: []))
  }

  func warning(_ code: DiagnosticCode, at offset: Int, _ message: String, notes: [Note] = []) {
    guard !isFull else { return }
    kept.append(Finding(severity: .warning, code: code, message: message, offset: offset, notes: notes))
  }

  /// All findings with lines and columns, in the order of the file.
  func diagnostics(in bytes: UnsafeBufferPointer<UInt8>, path: String) -> [Diagnostic] {
    guard !kept.isEmpty else { return [] }
    let placed = kept.map { (finding: $0, place: $0.place(in: bytes)) }
    let positions = Positions(of: placed.flatMap { [$0.place] + $0.finding.notes.map(\.offset) }, in: bytes)
    // Findings at the same position keep the order of the passes.
    let sorted = placed.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
    return sorted.map { _, entry in
      let (finding, place) = entry
      return Diagnostic(
        finding.code, finding.message.asMessage, path: path, position: positions[place], severity: finding.severity,
        notes: finding.notes.map { Diagnostic.Note(message: $0.message.asMessage, position: positions[$0.offset]) })
    }
  }
}

// MARK: - Positions

/// Lines and columns of byte offsets, computed in one pass over the file for lines of any length.
struct Positions {
  private var found: [Int: Diagnostic.Position] = [:]

  init(of offsets: [Int], in bytes: UnsafeBufferPointer<UInt8>) {
    var line = 1
    var column = 1
    var place = bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
    for offset in Set(offsets).sorted() {
      while place < offset, place < bytes.count {
        let byte = bytes[place]
        place += 1
        if byte == UInt8(ascii: "\n") {
          line += 1
          column = 1
        } else if byte & 0b1100_0000 != 0b1000_0000 {
          column += 1
        }
      }
      found[offset] = Diagnostic.Position(line: line, column: column)
    }
  }

  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  subscript(offset: Int) -> Diagnostic.Position { found[offset] ?? Diagnostic.Position(line: 1, column: 1) }
}

// MARK: - Suggestions

/// Finds the name that a misspelled one most likely stands for, with a bound on the work per file.
final class Suggestions {
  private var budget = Limits.comparedNames

  /// `; did you mean 'name'?` for the closest candidate; empty if none is close.
  func clause(for name: String, among candidates: some Sequence<String>) -> String {
    closest(to: name, among: candidates).map { "; did you mean \($0.quoted)?" } ?? ""
  }

  /// The candidate closest to the name; nil if every candidate differs in more than a third of the name's letters.
  func closest(to name: String, among candidates: some Sequence<String>) -> String? {
    let affordable = candidates.prefix { _ in
      budget -= 1
      return budget >= 0
    }
    return NearestName.closest(to: name, among: affordable)
  }
}
