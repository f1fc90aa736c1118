import TrellisModel

/// The type of a column: what it is declared as, unless its values are of another kind.
struct ColumnType {
  var type: AttributeType
  var form: ValueForm
  /// What the declaration limits a text to.
  var maximumLength: Int?
  /// What is to be told about it, as ends of sentences.
  var remarks: [String] = []

  /// - Parameters:
  ///   - isExact: Whether the database holds nothing in a column but what its type says.
  ///   - isKey: Whether the column is one of the primary key, which is seldom counted in fractions.
  init(_ column: SourceColumn, isExact: Bool, isKey: Bool = false) {
    let observed = column.observed
    let declared = column.declaredType.uppercased()
    if declared.hasSuffix("[]") {
      self = ColumnType(listOf: column)
      return
    }
    let word = String(declared.prefix { $0 != "(" }).split(separator: " ").joined(separator: " ")
    let wanted = isExact ? Self.exact(word) : Self.declared(word, observed)
    if let wanted, isExact || wanted.fits(observed) {
      let isWhole = isKey && !isExact && observed.count > 0 && observed.integers == observed.count
      self = isWhole && wanted.type == .decimal ? Self.found(in: observed) : wanted
    } else {
      self = Self.found(in: observed)
      if isExact, column.allowed == nil {
        remarks.append("is of the type \(column.declaredType), and is a string with its text here")
      } else if wanted != nil {
        remarks.append(
          "is declared \(column.declaredType), holds \(Self.kinds(observed)), and is \(type.spelling.withArticle)")
      } else if Self.isForDates(word) {
        remarks.append(
          "is declared \(column.declaredType), holds \(Self.kinds(observed))\(Self.doubt(observed)), and is "
            + "\(type.spelling.withArticle)")
      }
    }
    if !isExact { tellForm(column, word) }
    if type == .string { readLength(column, declared) }
  }

  private init(_ type: AttributeType, _ form: ValueForm) {
    self.type = type
    self.form = form
  }

  private init(listOf column: SourceColumn) {
    let element = String(column.declaredType.dropLast(2))
    let inner =
      column.allowed == nil ? Self.exact(element.prefix { $0 != "(" }.uppercased()) : ColumnType(.string, .string)
    if let inner, inner.form != .data, inner.remarks.isEmpty {
      self.init(.array(inner.type), .list(inner.form))
    } else {
      self.init(.string, .string)
      remarks.append("is a list of \(element), and is a string here")
    }
  }

  // MARK: Declarations

  private static let whole = Int64.min...Int64.max
  private static let int16 = Int64(Int16.min)...Int64(Int16.max)
  private static let int32 = Int64(Int32.min)...Int64(Int32.max)

  /// - Returns: nil for a declaration that tells no type, and for dates in no known form.
  private static func declared(_ word: String, _ observed: ObservedValues) -> ColumnType? {
    func has(_ parts: String...) -> Bool { parts.contains { word.contains($0) } }
    if has("BOOL") || word == "BIT" { return ColumnType(.bool, .bool) }
    if has("UUID", "GUID", "UNIQUEIDENTIFIER") { return ColumnType(.uuid, .uuid) }
    if has("JSON", "INTERVAL", "XML") { return ColumnType(.string, .string) }
    if isForDates(word) { return DateForm.common(of: observed).map { ColumnType(.date, .date($0)) } }
    if word.hasPrefix("TIME") { return ColumnType(.string, .string) }
    if has("REAL", "FLOA", "DOUB") { return ColumnType(.double, .double) }
    if has("CHAR", "CLOB", "TEXT", "STRING", "ENUM") || word == "SET" { return ColumnType(.string, .string) }
    if has("BLOB", "BINARY", "BYTEA", "IMAGE") { return ColumnType(.data, .data) }
    if has("DEC", "NUMERIC", "MONEY", "CURRENCY", "NUMBER") { return ColumnType(.decimal, .decimal) }
    if has("INT", "YEAR", "SERIAL") || word == "LONG" { return ColumnType(.int64, .integer(whole)) }
    return nil
  }

  private static func isForDates(_ word: String) -> Bool { word.contains("DATE") || word.contains("TIMESTAMP") }

  /// Why the values of a column for dates are none here, as the end of a sentence.
  private static func doubt(_ observed: ObservedValues) -> String {
    guard observed.texts + observed.blobs == 0 else {
      return observed.texts > 0 ? " in no known form of dates" : ""
    }
    return ", " + DateForm.doubt(of: observed)
  }

  /// The type of PostgreSQL's types. Nil for one that becomes a text.
  private static func exact(_ word: String) -> ColumnType? {
    switch word {
    case "BOOLEAN": ColumnType(.bool, .bool)
    case "SMALLINT": ColumnType(.int16, .integer(int16))
    case "INTEGER": ColumnType(.int32, .integer(int32))
    case "BIGINT": ColumnType(.int64, .integer(whole))
    case "REAL": ColumnType(.float, .float)
    case "DOUBLE PRECISION": ColumnType(.double, .double)
    case "NUMERIC", "MONEY": ColumnType(.decimal, .decimal)
    case "DATE", "TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP":
      ColumnType(.date, .date(.text))
    case "BYTEA": ColumnType(.data, .data)
    case "UUID": ColumnType(.uuid, .uuid)
    case _ where word.hasSuffix(".CITEXT"): ColumnType(.string, .string)
    case "TEXT", "CHARACTER VARYING", "CHARACTER", "CITEXT", "NAME": ColumnType(.string, .string)
    default: nil
    }
  }

  /// Whether nine of ten sampled values, or more, are of the type.
  private func fits(_ observed: ObservedValues) -> Bool {
    if observed.count == 0 { return true }
    let fitting =
      switch form {
      case .bool: observed.bits + observed.booleans
      case .integer: observed.integers + observed.wholeReals + observed.wholes
      case .double, .float, .decimal: observed.integers + observed.reals + observed.decimals
      case .string: observed.texts + observed.integers + observed.reals
      case .date(.text): observed.dates
      case .date: observed.integers + observed.reals
      case .data: observed.blobs > 0 ? observed.blobs + observed.texts : 0
      case .uuid: observed.uuids + observed.shortBlobs
      case .among, .list: observed.count
      }
    return observed.isMostly(fitting)
  }

  // MARK: Values

  /// The type that all sampled values have.
  private static func found(in observed: ObservedValues) -> ColumnType {
    switch observed.count {
    case 0: ColumnType(.string, .string)
    case observed.integers: ColumnType(.int64, .integer(whole))
    case observed.integers + observed.reals: ColumnType(.double, .double)
    case _ where observed.blobs == 0: ColumnType(.string, .string)
    default: ColumnType(.data, .data)
    }
  }

  private static func kinds(_ observed: ObservedValues) -> String {
    let kinds = [
      ("integers", observed.integers), ("reals", observed.reals), ("texts", observed.texts), ("bytes", observed.blobs),
    ]
    return kinds.filter { $0.1 > 0 }.map(\.0).joined(separator: " and ")
  }

  // MARK: Remarks

  private mutating func tellForm(_ column: SourceColumn, _ word: String) {
    let observed = column.observed
    switch form {
    case .date(let date): if date != .text || observed.texts > 0 { remarks.append("holds dates as \(date.phrase)") }
    case .string:
      if observed.integers + observed.reals > 0, remarks.isEmpty {
        remarks.append("holds numbers as well, which become texts")
      }
      if word.hasPrefix("TIME"), !word.contains("STAMP") { remarks.append("is a time of day, and is a string here") }
      if word.contains("JSON") { remarks.append("is JSON, and is a string with its text here") }
      if word.contains("INTERVAL") { remarks.append("is a span of time, and is a string here") }
    case .data:
      if observed.blobs > 0, observed.count > observed.blobs, remarks.isEmpty {
        remarks.append("holds texts or numbers as well, which become the bytes of their text")
      }
    case .decimal where observed.reals > 0:
      remarks.append("holds binary numbers, which become their shortest decimal texts")
    case .uuid where observed.texts > 0:
      remarks.append("holds texts, whose letters are capitals here")
    default: break
    }
  }

  private mutating func readLength(_ column: SourceColumn, _ declared: String) {
    guard declared.contains("CHAR"), let open = declared.firstIndex(of: "("),
      let length = Int(declared[declared.index(after: open)...].prefix { $0.isNumber }), length > 0,
      length < ObservedValues.mostCharacters
    else { return }
    if column.observed.longest <= length {
      maximumLength = length
    } else {
      remarks.append(
        "is declared \(column.declaredType), but has texts of \(column.observed.longest) characters, so that the length is no rule"
      )
    }
  }
}

extension SourceColumn {
  /// Whether the column of an exact database holds lists that are lists in the model.
  package var isList: Bool { if case .list = ColumnType(self, isExact: true).form { true } else { false } }
}
