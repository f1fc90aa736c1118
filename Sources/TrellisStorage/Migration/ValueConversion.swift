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
  }

  /// Converts a value that is not null.
  ///
  /// - Returns: the value in the new form; nil if it has none.
  package func convert(_ value: StoredValue) -> StoredValue? {
    switch reach {
    case .sameForm: value
    case .never: nil
    case .always, .counted: new.value(old.meaning(of: value))
    }
  }

  private static func reach(from old: AttributeForm, to new: AttributeForm) -> Reach {
    if old == new { return .sameForm }
    switch (old, new) {
    case (.integer(let a), .integer(let b)): return b.contains(a) ? .sameForm : .counted
    case (.bool, .integer): return .sameForm
    case (.integer, .bool): return .counted
    case (.float, .double): return .sameForm
    case (.integer(let a), .double): return AttributeForm.exactInDouble.contains(a) ? .always : .counted
    case (.integer(let a), .float): return AttributeForm.exactInFloat.contains(a) ? .always : .counted
    case (.bool, .double), (.bool, .float), (.bool, .decimal), (.integer, .decimal): return .always
    case (.date, .integer(let b)): return b.contains(.min ... .max) ? .sameForm : .counted
    case (.integer, .date): return .counted
    case (.double, _) where new.isNumber, (.float, _) where new.isNumber, (.decimal, _) where new.isNumber:
      return .counted
    case (.enumeration(let a), .enumeration(let b)): return a.rawType == b.rawType ? .sameForm : .counted
    case (.enumeration(let a), .text): return a.rawType == .string ? .sameForm : .always
    case (.enumeration(let a), .integer(let b)):
      guard a.rawType == .integer else { return .never }
      return b.contains(.min ... .max) ? .sameForm : .counted
    case (.text, .enumeration(let b)): return b.rawType == .string ? .sameForm : .counted
    case (.integer, .enumeration(let b)): return b.rawType == .integer ? .sameForm : .never
    case (.url, .text): return .sameForm
    case (.json, .text): return .sameForm
    case (_, .text): return .always
    case (.text, .blob): return .never
    case (.text, .json), (.text, .list): return .never
    case (.text, _): return .counted
    case (.uuid, .blob): return .sameForm
    case (.blob, .uuid): return .counted
    default: return .never
    }
  }
}

/// The form of an attribute's stored values, as far as a conversion depends on it.
enum AttributeForm: Hashable, Sendable {
  case integer(ClosedRange<Int64>)
  case bool, float, double, decimal, date, text, url, uuid, blob
  case enumeration(EnumDescription)
  case list(AttributeType)
  /// A `Codable` struct of the app.
  case json(String)

  static let exactInDouble: ClosedRange<Int64> = -(1 << 53)...(1 << 53)
  static let exactInFloat: ClosedRange<Int64> = -(1 << 24)...(1 << 24)

  init(_ type: AttributeType, _ model: Model) {
    switch type {
    case .int16: self = .integer(Int64(Int16.min)...Int64(Int16.max))
    case .int32: self = .integer(Int64(Int32.min)...Int64(Int32.max))
    case .int64: self = .integer(.min ... .max)
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
      self = .enumeration(model.enumeration(named: name) ?? EnumDescription(name, rawType: .string, cases: []))
    case .array(let element): self = .list(element)
    case .codable(let name): self = .json(name)
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
    case (.float, .real(let number)), (.double, .real(let number)): return .real(number)
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
    case .float: Self.real(meaning).flatMap { Double(Float($0)) == $0 ? .real($0) : nil }
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
    case .decimal(let text), .text(let text):
      guard let number = Double(text), number.isFinite else { return nil }
      // The double counts as the same number if it is written with the same digits. A decimal has no digits for the
      // largest and the smallest doubles, whose text is their own.
      if text == "\(number)" { return number }
      guard let wanted = DecimalText.canonical(text), DecimalText.canonical("\(number)") == wanted else { return nil }
      return number
    default: return nil
    }
  }

  private static func decimal(_ meaning: Meaning) -> String? {
    switch meaning {
    case .integer(let number): String(number)
    case .truth(let isTrue): isTrue ? "1" : "0"
    case .real(let number): number.isFinite ? DecimalText.canonical("\(number)") : nil
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
    switch meaning {
    case .name(let name, raw: let raw):
      let isKept = description.rawType == .string && raw.isText || description.rawType == .integer && raw.isInteger
      return isKept ? raw : description.cases.first { $0.name == name }?.rawValue
    case .text(let text):
      if let named = description.cases.first(where: { $0.name == text }) { return named.rawValue }
      // The text of an integer enum's value is the raw value.
      return description.rawType == .integer ? Int64(text).map { .integer($0) } : nil
    case .integer(let number): return .integer(number)
    default: return nil
    }
  }
}

extension ClosedRange<Int64> {
  fileprivate func contains(_ other: ClosedRange<Int64>) -> Bool {
    lowerBound <= other.lowerBound && other.upperBound <= upperBound
  }
}

extension StoredValue {
  fileprivate var isText: Bool { if case .text = self { true } else { false } }
  fileprivate var isInteger: Bool { if case .integer = self { true } else { false } }
}
