package import TrellisModel

/// How the stored values of one attribute type become values of another. One table for every store: SQLite calls it as a
/// function, documents and the memory store call it directly.
package struct ValueConversion: Sendable {
  /// Whether every value has a counterpart.
  package enum Reach: Hashable, Sendable {
    /// Nothing has to be rewritten: both types store the value in the same form.
    case sameForm
    /// Every value has a counterpart.
    case always
    /// Some values have none, so they have to be counted.
    case counted
    /// The types have nothing in common: only a step in Swift can convert them.
    case never
  }

  package let reach: Reach
  /// Whether a value that has a counterpart is stored in the same way, so that only the others are rewritten.
  package let keepsValues: Bool
  private let old: AttributeForm
  private let new: AttributeForm

  /// - Parameters:
  ///   - stored: the attribute as it was stored, in its model.
  ///   - current: the attribute as it is now, in its model.
  package init(
    from stored: Attribute, in storedModel: Model, to current: Attribute, in currentModel: Model
  ) {
    self.init(
      from: AttributeForm(stored.type, storedModel), to: AttributeForm(current.type, currentModel))
  }

  init(from old: AttributeForm, to new: AttributeForm) {
    self.old = old
    self.new = new
    reach = Self.reach(from: old, to: new)
    keepsValues = reach == .sameForm || reach == .counted && Self.keepsValues(from: old, to: new)
  }

  /// Whether values of an enum become those of an enum, each of them on its own.
  package var isOfEnums: Bool {
    if case .enumeration = old, case .enumeration = new { true } else { false }
  }

  /// The enums of the values, or of the elements of lists; nil if it is not about two enums.
  var enums: (old: EnumDescription, new: EnumDescription)? {
    switch (old, new) {
    case (.enumeration(let old), .enumeration(let new)): return (old, new)
    case (.list(let old), .list(let new)):
      guard case .enumeration(let old) = old.form, case .enumeration(let new) = new.form else { return nil }
      return (old, new)
    default: return nil
    }
  }

  /// Converts a value that is not null.
  ///
  /// - Returns: the value in the new form; nil if it has none.
  package func convert(_ value: StoredValue) -> StoredValue? {
    switch reach {
    case .sameForm: value
    case .never: nil
    case .always, .counted: Self.convert(value, from: old, to: new)
    }
  }

  private static func convert(_ value: StoredValue, from old: AttributeForm, to new: AttributeForm) -> StoredValue? {
    switch (old, new) {
    case (.enumeration(let a), .enumeration(let b)): return EnumConversion(from: a, to: b).convert(value)
    case (.list(let a), .list(let b)):
      guard let values = ListText.values(value, of: a) else { return nil }
      var converted: [StoredValue] = []
      let conversion = ValueConversion(from: a.form, to: b.form)
      for value in values {
        guard let element = conversion.convert(value) else { return nil }
        converted.append(element)
      }
      return ListText.text(converted, of: b.type).map { .text($0) }
    case (_, .list(let b)):
      return ValueConversion(from: old, to: b.form).convert(value)
        .flatMap { ListText.text([$0], of: b.type) }.map { .text($0) }
    case (.list(let a), _) where new != .text:
      guard let values = ListText.values(value, of: a), values.count == 1 else { return nil }
      return ValueConversion(from: a.form, to: new).convert(values[0])
    default: return new.value(old.meaning(of: value))
    }
  }

  private static func reach(from old: AttributeForm, to new: AttributeForm) -> Reach {
    if old == new { return .sameForm }
    switch (old, new) {
    case (.integer(let a), .integer(let b)): return b.contains(a) ? .sameForm : .counted
    case (.bool, .integer): return .sameForm
    case (.integer, .bool): return .counted
    case (.float, .double): return .sameForm
    case (.integer(let a), .double): return ClosedRange<Int64>.exactInDouble.contains(a) ? .always : .counted
    case (.integer(let a), .float): return ClosedRange<Int64>.exactInFloat.contains(a) ? .always : .counted
    case (.bool, .double), (.bool, .float), (.bool, .decimal), (.integer, .decimal): return .always
    case (.date, .integer(let b)): return b.contains(.min ... .max) ? .sameForm : .counted
    case (.integer, .date): return .counted
    case (.double, _) where new.isNumber, (.float, _) where new.isNumber, (.decimal, _) where new.isNumber:
      return .counted
    case (.enumeration(let a), .enumeration(let b)): return EnumConversion(from: a, to: b).reach
    case (.enumeration(let a), .text): return a.rawType == .string ? .sameForm : .always
    case (.enumeration(let a), .integer(let b)):
      guard a.rawType == .integer else { return .never }
      return b.contains(.min ... .max) ? .sameForm : .counted
    case (.text, .enumeration(let b)): return b.rawType == .string && b.unknown != .reject ? .sameForm : .counted
    case (.integer, .enumeration(let b)):
      guard b.rawType == .integer else { return .never }
      return b.unknown == .reject ? .counted : .sameForm
    case (.list(let a), .list(let b)): return reach(from: a.form, to: b.form)
    case (_, .list(let b)): return ofElement(reach(from: old, to: b.form))
    case (.url, .text), (.json, .text), (.list, .text): return .sameForm
    case (_, .text): return .always
    case (.list(let a), _): return reach(from: a.form, to: new) == .never ? .never : .counted
    case (.text, .blob), (.text, .json): return .never
    case (.text, _): return .counted
    case (.uuid, .blob): return .sameForm
    case (.blob, .uuid): return .counted
    default: return .never
    }
  }

  /// A value that becomes the element of a list is written in another way.
  private static func ofElement(_ reach: Reach) -> Reach { reach == .sameForm ? .always : reach }

  private static func keepsValues(from old: AttributeForm, to new: AttributeForm) -> Bool {
    switch (old, new) {
    case (.integer, .integer), (.integer, .bool), (.integer, .date), (.date, .integer), (.double, .float),
      (.blob, .uuid):
      true
    case (.enumeration(let a), .integer): a.rawType == .integer
    case (.enumeration(let a), .enumeration(let b)): EnumConversion(from: a, to: b).keepsValues
    case (.integer, .enumeration): true
    default: false
    }
  }
}

// MARK: - Enum conversion

/// How the cases of an enum become cases of its new version. A case is found by its former names, then by its name, and
/// then by its raw value.
struct EnumConversion {
  /// The new raw value of each stored one that has a case.
  private var values: [StoredValue: StoredValue] = [:]
  private let old: EnumDescription
  private let new: EnumDescription
  /// The cases without a counterpart.
  private(set) var gone: [EnumDescription.Case] = []

  init(from old: EnumDescription, to new: EnumDescription) {
    self.old = old
    self.new = new
    var taken: Set<String> = []
    var successors: [String: StoredValue] = [:]
    let names = Set(old.cases.map(\.name))
    let present = Set(new.cases.map(\.name))
    for current in new.cases {
      // A former name that the stored enum claims itself was renamed before.
      var settled = Set(old.cases.first { $0.name == current.name }?.renamedFrom ?? [])
      var isFound = false
      for former in current.renamedFrom where names.contains(former) && !settled.contains(former) {
        // Several former cases become one. A name that a new case has again is that case's.
        guard !isFound || !present.contains(former), taken.insert(former).inserted else { continue }
        isFound = true
        successors[former] = current.rawValue
        settled.formUnion(old.cases.first { $0.name == former }?.renamedFrom ?? [])
      }
    }
    let renamed = Set(new.cases.filter { current in current.renamedFrom.contains { taken.contains($0) } }.map(\.name))
    let isSameType = old.rawType == new.rawType
    for stored in old.cases {
      let sameName = new.cases.first { $0.name == stored.name && !renamed.contains($0.name) }?.rawValue
      let holder = isSameType ? new.cases.first { $0.rawValue == stored.rawValue } : nil
      // A case that another stored case became says nothing of this one, though it has the raw value now.
      let isTaken = holder.map { renamed.contains($0.name) || names.contains($0.name) } ?? false
      let sameValue = isTaken ? nil : holder?.rawValue
      let kept = isSameType && new.unknown != .reject && !isTaken ? stored.rawValue : nil
      if let value = successors[stored.name] ?? sameName ?? sameValue ?? kept {
        values[stored.rawValue] = value
      } else {
        gone.append(stored)
      }
    }
  }

  func convert(_ value: StoredValue) -> StoredValue? {
    if let known = values[value] { return known }
    // A value without a case stays one, if the enum keeps such values.
    let hasCase = old.cases.contains { $0.rawValue == value }
    return !hasCase && old.rawType == new.rawType && new.unknown != .reject ? value : nil
  }

  /// Whether each case keeps its raw value.
  var keepsValues: Bool { old.rawType == new.rawType && values.allSatisfy { $0 == $1 } }

  var reach: ValueConversion.Reach {
    let mayBeUnknown = old.unknown != .reject && (new.unknown == .reject || old.rawType != new.rawType)
    if !gone.isEmpty || mayBeUnknown { return .counted }
    return keepsValues ? .sameForm : .always
  }
}

/// The form of an attribute's stored values, as far as a conversion depends on it.
enum AttributeForm: Hashable, Sendable {
  case integer(ClosedRange<Int64>)
  case bool, float, double, decimal, date, text, url, uuid, blob
  case enumeration(EnumDescription)
  case list(ListElement)
  /// A `Codable` struct of the app.
  case json(String)

  /// The elements of a list.
  final class ListElement: Hashable, Sendable {
    let type: AttributeType
    let form: AttributeForm

    init(_ type: AttributeType, _ form: AttributeForm) {
      self.type = type
      self.form = form
    }

    static func == (left: ListElement, right: ListElement) -> Bool { left.form == right.form }

    func hash(into hasher: inout Hasher) { hasher.combine(form) }
  }

  init(_ type: AttributeType, _ model: Model) { self.init(type) { model.enumeration(named: $0) } }

  /// - Parameter enumeration: The enum with a name.
  init(_ type: AttributeType, enumeration: (String) -> EnumDescription?) {
    switch type {
    case .integer: self = .integer(type.integerRange)
    case .bool: self = .bool
    case .float: self = .float
    case .double: self = .double
    case .decimal: self = .decimal
    case .date: self = .date
    case .string: self = .text
    case .url: self = .url
    case .uuid: self = .uuid
    case .data: self = .blob
    case .enumeration(let name):
      // An enum without a description has no values.
      self = .enumeration(enumeration(name) ?? EnumDescription(name, rawType: .string, cases: []))
    case .array(let element): self = .list(ListElement(element, AttributeForm(element, enumeration: enumeration)))
    case .codable(let name): self = .json(name)
    }
  }

  /// The form of a computed value; nil if it cannot be a value of an attribute.
  init?(_ type: FormatType, _ model: Model) {
    switch type {
    case .integer: self = .integer(.min ... .max)
    case .real: self = .double
    case .decimal: self = .decimal
    case .text, .entity: self = .text
    case .bool: self = .bool
    case .date: self = .date
    case .data: self = .blob
    case .uuid: self = .uuid
    case .url: self = .url
    case .enumeration(let name):
      guard let description = name.flatMap(model.enumeration) else { return nil }
      self = .enumeration(description)
    case .object, .json: return nil
    }
  }

  var isNumber: Bool {
    switch self {
    case .integer, .bool, .float, .double, .decimal: true
    default: false
    }
  }

  /// What a value means, whatever its form.
  enum Meaning {
    case integer(Int64)
    case truth(Bool)
    case real(Double)
    /// The shortest text of a float is not that of the double with the same value.
    case float(Float)
    case decimal(String)
    case date(Int64)
    case uuid([UInt8])
    case bytes([UInt8])
    /// The name of an enum's case.
    case name(String, raw: StoredValue)
    case text(String)
    /// A value that does not have the form that it should have.
    case none
  }

  func meaning(of value: StoredValue) -> Meaning {
    switch (self, value) {
    case (.enumeration(let description), _):
      let known = description.cases.first { $0.rawValue == value }
      return .name(known?.name ?? "", raw: value)
    case (.date, .integer(let microseconds)): return .date(microseconds)
    case (.integer, .integer(let number)): return .integer(number)
    case (.bool, .integer(let number)): return .truth(number != 0)
    case (.float, .real(let number)): return .float(Float(number))
    case (.double, .real(let number)): return .real(number)
    case (.decimal, .text(let text)): return .decimal(text)
    case (.uuid, .blob(let bytes)): return .uuid(bytes)
    case (.blob, .blob(let bytes)): return .bytes(bytes)
    case (.text, .text(let text)), (.url, .text(let text)), (.list, .text(let text)), (.json, .text(let text)):
      return .text(text)
    default: return .none
    }
  }

  /// The value of this form with a meaning; nil if there is none.
  func value(_ meaning: Meaning) -> StoredValue? {
    switch self {
    case .integer(let range): Self.integer(meaning).flatMap { range.contains($0) ? .integer($0) : nil }
    case .bool: Self.bool(meaning)
    case .double: Self.real(meaning).map { .real($0) }
    case .float: Self.float(meaning).map { .real(Double($0)) }
    case .decimal: Self.decimal(meaning).map { .text($0) }
    case .date: Self.date(meaning).map { .integer($0) }
    case .text: Self.text(meaning).map { .text($0) }
    case .url: if case .text(let text) = meaning, !text.isEmpty { .text(text) } else { nil }
    case .uuid: Self.uuid(meaning).map { .blob($0) }
    case .blob: if case .bytes(let bytes) = meaning { .blob(bytes) } else { nil }
    case .enumeration(let description): Self.rawValue(meaning, description)
    case .list, .json: nil
    }
  }

  private static func integer(_ meaning: Meaning) -> Int64? {
    switch meaning {
    case .integer(let number), .date(let number): number
    case .truth(let isTrue): isTrue ? 1 : 0
    case .real(let number): Int64(exactly: number)
    case .float(let number): Int64(exactly: number)
    case .decimal(let text), .text(let text): Int64(text)
    case .name(_, raw: .integer(let number)): number
    default: nil
    }
  }

  private static func bool(_ meaning: Meaning) -> StoredValue? {
    if case .text(let text) = meaning {
      switch text.lowercased() {
      case "true", "yes", "1": return .integer(1)
      case "false", "no", "0": return .integer(0)
      default: return nil
      }
    }
    guard let number = integer(meaning), number == 0 || number == 1 else { return nil }
    return .integer(number)
  }

  /// The number, if it is exactly a double.
  private static func real(_ meaning: Meaning) -> Double? {
    switch meaning {
    case .integer(let number): return Double(exactly: number)
    case .truth(let isTrue): return isTrue ? 1 : 0
    case .real(let number): return number
    case .float(let number): return Double(number)
    case .decimal(let text), .text(let text): return written(text)
    default: return nil
    }
  }

  /// The number, if it is exactly a float.
  private static func float(_ meaning: Meaning) -> Float? {
    switch meaning {
    case .float(let number): number
    case .decimal(let text), .text(let text): written(text)
    default: real(meaning).flatMap { Float(exactly: $0) }
    }
  }

  /// The number that is written with the same digits as a text; nil if there is none.
  private static func written<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ text: String) -> Number? {
    guard let number = Number(text), number.isFinite else { return nil }
    // A decimal has no digits for the largest and the smallest numbers, whose text is their own.
    if text == number.description { return number }
    guard let wanted = DecimalText.canonical(text), DecimalText.canonical(number.description) == wanted else {
      return nil
    }
    return number
  }

  private static func decimal(_ meaning: Meaning) -> String? {
    switch meaning {
    case .integer(let number): String(number)
    case .truth(let isTrue): isTrue ? "1" : "0"
    case .real(let number): number.isFinite ? DecimalText.canonical("\(number)") : nil
    case .float(let number): number.isFinite ? DecimalText.canonical("\(number)") : nil
    case .decimal(let text), .text(let text): DecimalText.canonical(text)
    default: nil
    }
  }

  private static func date(_ meaning: Meaning) -> Int64? {
    switch meaning {
    case .date(let number), .integer(let number): number
    case .text(let text): DateText.microseconds(text)
    default: nil
    }
  }

  private static func uuid(_ meaning: Meaning) -> [UInt8]? {
    switch meaning {
    case .uuid(let bytes): bytes
    case .bytes(let bytes): bytes.count == 16 ? bytes : nil
    case .text(let text): UUIDText.bytes(text)
    default: nil
    }
  }

  /// The text by which a document shows the value.
  private static func text(_ meaning: Meaning) -> String? {
    switch meaning {
    case .integer(let number): String(number)
    case .truth(let isTrue): isTrue ? "true" : "false"
    case .real(let number): "\(number)"
    case .float(let number): "\(number)"
    case .decimal(let text), .text(let text): text
    case .date(let microseconds): DateText.text(microseconds)
    case .uuid(let bytes): UUIDText.text(bytes)
    case .bytes(let bytes): Base64Text.text(bytes)
    case .name(_, raw: .text(let text)): text
    case .name(_, raw: .integer(let number)): String(number)
    case .name, .none: nil
    }
  }

  private static func rawValue(_ meaning: Meaning, _ description: EnumDescription) -> StoredValue? {
    let raw: StoredValue
    switch meaning {
    case .text(let text):
      if let named = description.cases.first(where: { $0.name == text }) { return named.rawValue }
      // The text of an integer enum's value is the raw value.
      guard let value = description.rawType == .string ? .text(text) : Int64(text).map({ StoredValue.integer($0) })
      else { return nil }
      raw = value
    case .integer(let number): raw = .integer(number)
    default: return nil
    }
    let isKnown = description.unknown != .reject || description.cases.contains { $0.rawValue == raw }
    return isKnown ? raw : nil
  }
}

extension ClosedRange<Int64> {
  fileprivate func contains(_ other: ClosedRange<Int64>) -> Bool {
    lowerBound <= other.lowerBound && other.upperBound <= upperBound
  }
}
