import TrellisForeignFiles
import TrellisModel

extension SchemaTranslation {
  // MARK: Enums

  /// Makes an enum of a condition that lists values, or a bool of 0 and 1.
  mutating func restrict(
    _ type: inout ColumnType, to values: [ForeignValue], _ folding: TextFolding?, _ column: SourceColumn,
    _ number: Int, _ name: String
  ) {
    let table = drafts[number].table.name
    if type.form == .bool { return }
    if case .integer = type.form, Set(values) == [.integer(0), .integer(1)] {
      type.type = .bool
      type.form = .bool
      return
    }
    let isPossible = type.type == .string || { if case .integer = type.form { true } else { false } }()
    let stored = values.compactMap { type.form.stored($0) }
    guard isPossible, stored.count == values.count else {
      return note(
        .leftOut, table, column.name, "allows some values only, and is no string or integer, so it is no enum")
    }
    guard let folding = type.type == .string ? folding : .exact else {
      return note(
        .leftOut, table, column.name,
        "allows some values only, by a collation that only the program knows, so it is no enum")
    }
    var distinct: [StoredValue] = []
    for value in stored where !ValueForm.contains(distinct, value, folding) { distinct.append(value) }
    let enumName = addEnum(drafts[number].plan.name + Naming.capitalized(name), distinct, isText: type.type == .string)
    type.type = .enumeration(enumName)
    type.form = .among(distinct, type.form, folding)
    type.maximumLength = nil
    if folding != .exact {
      let difference = folding == .ofTrailingSpaces ? "spaces at the end" : "small and capital letters"
      type.remarks.append("allows values whatever their \(difference), which are spelled as in the condition here")
    }
  }

  /// Uses an enum of the database, the same one for all columns of it.
  mutating func restrict(
    _ type: inout ColumnType, to allowed: (name: String, values: [String]), _ number: Int
  ) {
    guard !allowed.values.isEmpty else { return }
    if case .array = type.type {
      type.remarks = ["is a list of the enum \(allowed.name), and is a list of strings here"]
      return
    }
    let cases = allowed.values.map { StoredValue.text($0) }
    let known =
      knownEnums[allowed.name] ?? (addEnum(Naming.plainEntity(allowed.name), cases, isText: true), cases)
    knownEnums[allowed.name] = known
    type.type = .enumeration(known.name)
    type.form = .among(known.cases, .string)
    type.maximumLength = nil
    type.remarks = []
  }

  mutating func addEnum(_ wanted: String, _ values: [StoredValue], isText: Bool) -> String {
    let usable = Naming.isReservedType(wanted) ? wanted + "Kind" : wanted
    let name = typeNames.takeUnused(usable, usable + "Kind")
    var names = NameScope()
    let cases = values.map { value in
      let text =
        switch value {
        case .text(let text): text
        case .integer(let number): number < 0 ? "minus\(number.magnitude)" : "\(number)"
        default: ""
        }
      var caseName = Naming.enumCase(text)
      if Naming.isReservedCase(caseName) { caseName += "Value" }
      return EnumDescription.Case(names.takeUnused(caseName), value)
    }
    enums.append(EnumDescription(name, rawType: isText ? .string : .integer, cases: cases))
    return name
  }

  // MARK: Rules

  mutating func add(
    _ condition: ColumnCondition, to attribute: inout AttributeDescription, _ type: ColumnType, _ column: SourceColumn,
    _ table: String
  ) {
    switch condition {
    case .allowed, .required: break
    case .minimum(_, let value, let isIncluded):
      guard let bound = bound(value, isIncluded, type, step: 1) else {
        return note(
          .leftOut, table, column.name,
          "must be \(isIncluded ? "at least" : "above") \(Self.text(value)), and has no bound here")
      }
      attribute.rules.minimum = Self.greater(attribute.rules.minimum, bound)
    case .maximum(_, let value, let isIncluded):
      guard let bound = bound(value, isIncluded, type, step: -1) else {
        return note(
          .leftOut, table, column.name,
          "must be \(isIncluded ? "at most" : "below") \(Self.text(value)), and has no bound here")
      }
      attribute.rules.maximum = Self.less(attribute.rules.maximum, bound)
    case .minimumLength(_, let length):
      guard type.type == .string else { return tellLength(table, column.name) }
      attribute.rules.minimumLength = max(attribute.rules.minimumLength ?? 0, length)
    case .maximumLength(_, let length):
      guard type.type == .string else { return tellLength(table, column.name) }
      attribute.rules.maximumLength = min(attribute.rules.maximumLength ?? .max, length)
    }
  }

  mutating func tellLength(_ table: String, _ column: String) {
    note(.leftOut, table, column, "has a condition for its length, and is no string")
  }

  /// A bound in stored form; nil if the type has none, or none that leaves the value itself out.
  func bound(_ value: ForeignValue, _ isIncluded: Bool, _ type: ColumnType, step: Int64) -> StoredValue? {
    switch type.type {
    case .integer:
      let whole: StoredValue? =
        if case .real(let number) = value {
          Int64(exactly: step > 0 ? number.rounded(.up) : number.rounded(.down)).map { .integer($0) }
        } else { type.form.stored(value) }
      guard case .integer(let number)? = whole else { return nil }
      let isExact = type.form.stored(value) != nil
      let (moved, isTooLarge) = number.addingReportingOverflow(isIncluded || !isExact ? 0 : step)
      return isTooLarge ? nil : type.form.stored(.integer(moved))
    case .double, .float, .decimal, .date: return isIncluded ? type.form.stored(value) : nil
    default: return nil
    }
  }

  static func text(_ value: ForeignValue) -> String {
    switch value {
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): "'\(text)'"
    default: "a value"
    }
  }

  static func greater(_ one: StoredValue?, _ other: StoredValue) -> StoredValue {
    one.map { isLess($0, other) ? other : $0 } ?? other
  }

  static func less(_ one: StoredValue?, _ other: StoredValue) -> StoredValue {
    one.map { isLess(other, $0) ? other : $0 } ?? other
  }

  static func isLess(_ left: StoredValue, _ right: StoredValue) -> Bool {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): left < right
    case (.real(let left), .real(let right)): left < right
    case (.text(let left), .text(let right)): DecimalText.isLess(left, right)
    default: false
    }
  }

  /// Leaves out rules that contradict each other.
  mutating func drop(emptyRangesOf attribute: inout AttributeDescription, _ table: String, _ column: String) {
    if let least = attribute.rules.minimum, let greatest = attribute.rules.maximum, Self.isLess(greatest, least) {
      attribute.rules.minimum = nil
      attribute.rules.maximum = nil
      note(.leftOut, table, column, "has bounds that no value is between")
    }
    if let least = attribute.rules.minimumLength, let greatest = attribute.rules.maximumLength, greatest < least {
      attribute.rules.minimumLength = nil
      attribute.rules.maximumLength = nil
      note(.leftOut, table, column, "has bounds that no length is between")
    }
  }

  // MARK: Defaults

  mutating func addDefault(
    _ text: String, to attribute: inout AttributeDescription, _ type: ColumnType, _ column: SourceColumn,
    _ table: String
  ) {
    guard column.generation == nil else { return }
    let expression = SQLExpression(text)
    if expression == .literal(.null) { return }
    if let value = Self.moment(expression), type.type == .date || type.type == .uuid {
      if (type.type == .date) == (value == .now) { return attribute.defaultValue = value }
    }
    if case .call("nextval", _)? = expression {
      return note(.ignored, table, column.name, "is counted by the database; a program gives new objects its values")
    }
    var source: ForeignValue?
    switch expression {
    case .literal(let literal)?: source = literal
    case .column(let word, isQuoted: true)?: source = .text(word)
    default: break
    }
    guard let source, let stored = type.form.stored(source), stored != .null,
      Self.obeys(stored, attribute)
    else {
      return note(.leftOut, table, column.name, "has the default \(text), which has no words here")
    }
    if case .array = type.type { return note(.leftOut, table, column.name, "has the default \(text)") }
    attribute.defaultValue = .value(stored)
  }

  static let moments: Set<String> = [
    "now", "current_timestamp", "current_date", "datetime", "date", "strftime", "julianday", "unixepoch",
    "localtimestamp",
    "clock_timestamp", "transaction_timestamp", "statement_timestamp",
  ]

  /// The default that an expression for the present moment, or for a new identifier, is.
  static func moment(_ expression: SQLExpression?) -> DefaultValue? {
    switch expression {
    case .column(let word, isQuoted: false)?: moments.contains(word.lowercased()) ? .now : nil
    case .call("gen_random_uuid", _)?, .call("uuid_generate_v4", _)?, .call("uuid", _)?: .new
    case .call(let function, let arguments)?:
      moments.contains(function)
        && (arguments.isEmpty || arguments.contains(.literal(.text("now"))) || ["now", "unixepoch"].contains(function))
        ? .now : nil
    default: nil
    }
  }

  /// Whether a default obeys the rules of its attribute.
  static func obeys(_ value: StoredValue, _ attribute: AttributeDescription) -> Bool {
    if attribute.type.enumName != nil { return true }
    let alone = ModelDescription(name: "Alone", entities: [EntityDescription("Alone", attributes: [attribute])])
    guard let model = try? Model(alone), let resolved = model.entities[0].properties.first?.attribute else {
      return false
    }
    return CheckedAttribute(resolved)?.failures(of: value).isEmpty ?? true
  }
}
