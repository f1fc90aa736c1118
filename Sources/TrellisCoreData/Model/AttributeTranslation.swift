import Foundation
import TrellisModel

/// Turns an attribute of Core Data into one of a model file.
struct AttributeTranslation {
  /// What the attribute became; nil if it has no counterpart.
  private(set) var description: AttributeDescription?
  /// What became of the parts without a counterpart, as ends of sentences.
  private(set) var notes: [(outcome: CoreDataNote.Outcome, message: String)] = []

  private let source: CoreDataModel.Attribute

  /// - Parameters:
  ///   - name: The name in the model file.
  ///   - hint: The type of a transformable attribute, if its values or another model tell; otherwise its class does.
  init(_ source: CoreDataModel.Attribute, name: String, hint: AttributeType? = nil) {
    self.source = source
    guard let type = type(hint) else { return }
    var description = AttributeDescription(
      name, type, optional: source.isOptional, transient: source.isTransient,
      userInfo: UserInfo.entries(source.userInfo))
    if type == .data, source.allowsExternalStorage, !source.isTransient { description.isExternal = true }
    self.description = description
    translateRules()
    translateDefault()
    noteOptions()
  }

  private mutating func note(_ outcome: CoreDataNote.Outcome, _ message: String) { notes.append((outcome, message)) }

  // MARK: Type

  private mutating func type(_ hint: AttributeType?) -> AttributeType? {
    if let derivation = source.derivation {
      let expression = derivation.isEmpty ? "" : ", \(derivation)"
      note(.leftOut, "is derived\(expression); compute it in a predicate or in Swift")
      return nil
    }
    switch source.kind {
    case .integer16: return .int16
    case .integer32: return .int32
    case .integer64: return .int64
    case .decimal: return .decimal
    case .double: return .double
    case .float: return .float
    case .string: return .string
    case .boolean: return .bool
    case .date: return .date
    case .binary: return .data
    case .uuid: return .uuid
    case .uri: return .url
    case .undefined, .objectID:
      let kind = source.kind == .undefined ? "has no type" : "is an object ID"
      note(.leftOut, "\(kind)\(source.isTransient ? " and is transient; declare it in Swift" : "")")
      return nil
    case .composite(let name):
      note(.leftOut, "is of the composite \(name), which the model does not have")
      return nil
    case .transformable: return transformableType(hint)
    }
  }

  private mutating func transformableType(_ hint: AttributeType?) -> AttributeType? {
    let type = hint ?? source.customClass.flatMap(Self.type(ofClass:))
    let by = source.customClass.map { " of the class \($0)" } ?? ""
    if let type, type != .data {
      note(.changed, "is transformable\(by); its archived values are of the type \(type.spelling)")
      return type
    }
    guard !source.isTransient else {
      note(.leftOut, "is transformable\(by) and transient; declare it in Swift")
      return nil
    }
    let transformer = source.valueTransformer.map { ", through \($0)" } ?? ""
    note(.changed, "is transformable\(by)\(transformer); it is data, with what the transformer has made of the value")
    return .data
  }

  /// The types of archived values by the names of their classes, as models of Xcode spell them.
  private static let classes: [String: AttributeType] = [
    "String": .string, "NSString": .string, "Date": .date, "NSDate": .date, "UUID": .uuid, "NSUUID": .uuid,
    "URL": .url, "NSURL": .url, "NSDecimalNumber": .decimal, "Decimal": .decimal,
  ]
  private static let elements: [String: AttributeType] = [
    "Int": .int64, "Int64": .int64, "Int32": .int32, "Int16": .int16, "Bool": .bool, "Double": .double,
    "CGFloat": .double, "Float": .float, "Data": .data, "NSData": .data,
  ]

  static func type(ofClass name: String) -> AttributeType? {
    let name = name.filter { !$0.isWhitespace }
    if let type = classes[name] { return type }
    var element = name[...]
    if element.hasPrefix("["), element.hasSuffix("]") {
      element = element.dropFirst().dropLast()
    } else if element.hasSuffix(">"), let start = element.firstIndex(of: "<"),
      ["Array", "Set", "NSArray", "NSSet", "Swift.Array", "Swift.Set"].contains(element[..<start])
    {
      element = element[element.index(after: start)...].dropLast()
      if element.hasSuffix("*") { element.removeLast() }
    } else {
      return nil
    }
    let plain = element.split(separator: ".").last.map(String.init) ?? ""
    return (classes[plain] ?? elements[plain]).map { .array($0) }
  }

  // MARK: Rules

  private mutating func translateRules() {
    guard let type = description?.type else { return }
    if let pattern = source.pattern {
      if type != .string {
        note(.ignored, "has a pattern, which is for strings alone")
      } else if (try? Pattern(pattern)) != nil {
        description?.rules.pattern = pattern
      } else {
        note(.leftOut, "has the pattern \(pattern), which is no regular expression here")
      }
    }
    guard source.minimum != nil || source.maximum != nil else { return }
    if type == .string {
      let (least, greatest) = (length(source.minimum), length(source.maximum))
      description?.rules.minimumLength = least
      description?.rules.maximumLength = greatest
    } else if type.hasBounds {
      let (least, greatest) = (bound(source.minimum, type), bound(source.maximum, type))
      description?.rules.minimum = least
      description?.rules.maximum = greatest
    } else {
      note(.leftOut, "has a least or greatest value, which its type has not")
    }
    guard let rules = description?.rules, !rules.canHold else { return }
    note(.leftOut, "has bounds that no value can keep")
    description?.rules = AttributeRules(pattern: rules.pattern)
  }

  private mutating func length(_ value: ArchivedValue?) -> Int? {
    guard let value else { return nil }
    if let number = value.number, let length = Int(exactly: number.rounded(.towardZero)), length >= 0,
      length <= Int(Int32.max)
    {
      return length
    }
    note(.leftOut, "has a bound \(value.shown), which is no length")
    return nil
  }

  private mutating func bound(_ value: ArchivedValue?, _ type: AttributeType) -> StoredValue? {
    guard let value else { return nil }
    if case .value(let stored)? = value.constant(of: type) { return stored }
    note(.leftOut, "has a bound \(value.shown), which is no value of its type")
    return nil
  }

  // MARK: Default

  private mutating func translateDefault() {
    guard let description, let value = source.defaultValue else { return }
    if value == .null { return }
    guard let constant = value.constant(of: description.type) else {
      // Some writers give a Boolean or a number an empty default, which is none.
      let isNone = value == .text("") && description.type != .url
      let reason =
        description.type == .url
        ? "is no absolute URL, as the default in a model file has to be; set the value in code"
        : "is no value of its type"
      if !isNone { note(.leftOut, "has the default \(value.shown), which \(reason)") }
      return
    }
    guard !description.rules.isBroken(by: constant, of: description.type) else {
      return note(.leftOut, "has the default \(value.shown), which breaks its own rules")
    }
    self.description?.defaultValue = constant
  }

  // MARK: Options

  private mutating func noteOptions() {
    if source.hashModifier != nil { note(.ignored, "has a hash modifier, and there are no hashes") }
    if source.allowsExternalStorage, description?.isExternal == false, source.kind != .transformable {
      note(.ignored, "allows external storage, which is for data alone")
    }
    for option in source.otherOptions {
      let reason =
        switch option {
        case "spotlightIndexingEnabled": "is indexed by Spotlight; make it searchable for a full-text index"
        case "allowsCloudEncryption": "may be encrypted in CloudKit"
        case "preserveAfterDeletion":
          "is kept in the history of deletions; give the model a history, and the attribute keepInHistory"
        default: "has the option \(option)"
        }
      note(.ignored, reason)
    }
  }
}

// MARK: - Constants

extension ArchivedValue {
  /// The value as a number; texts are read.
  var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    case .bool(let flag): flag ? 1 : 0
    case .decimal(let text): Double(text)
    case .text(let text): Double(text) ?? Self.flag(text).map { $0 ? 1 : 0 }
    default: nil
    }
  }

  /// The Boolean that a text of a model file stands for. Models have such texts for numbers as well.
  private static func flag(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "yes", "true": true
    case "no", "false": false
    default: nil
    }
  }

  /// The value in a message.
  var shown: String {
    switch self {
    case .null: "null"
    case .bool(let flag): String(flag)
    case .integer(let value): String(value)
    case .real(let value): "\(value)"
    case .text(""), .url(""): "of an empty text"
    case .text(let text): "'\(text.prefix(40))'"
    case .date(let seconds): "\(seconds) seconds after 2001"
    case .url(let text), .decimal(let text): text
    case .uuid(let bytes): UUIDText.text(bytes)
    case .data, .list, .dictionary: "of another kind"
    }
  }

  /// The value of a default or a bound; nil if it is none of the type.
  func constant(of type: AttributeType) -> DefaultValue? {
    if case .array(let element) = type {
      guard case .list(let values) = self else { return nil }
      var constants: [StoredValue] = []
      for value in values {
        guard let constant = value.scalar(of: element), element != .data else { return nil }
        constants.append(constant)
      }
      return .list(constants)
    }
    return scalar(of: type).map { .value($0) }
  }

  private func scalar(of type: AttributeType) -> StoredValue? {
    switch type {
    case .bool: return number.map { .integer($0 == 0 ? 0 : 1) }
    case .integer(let type): return whole.flatMap { type.range.contains($0) ? .integer($0) : nil }
    case .double: return number.flatMap { $0.isFinite ? .real($0) : nil }
    case .float: return number.map { Double(Float($0)) }.flatMap { $0.isFinite ? .real($0) : nil }
    case .decimal: return decimalText.map { .text($0) }
    case .string:
      switch self {
      case .text(let text): return .text(text)
      case .integer, .real: return .text(shown)
      default: return nil
      }
    case .date:
      guard case .date(let seconds) = self else { return nil }
      return CoreDataDate.microseconds(seconds).map { .integer($0) }
    case .uuid:
      switch self {
      case .uuid(let bytes): return .blob(bytes)
      case .text(let text): return UUIDText.bytes(text).map { .blob($0) }
      default: return nil
      }
    case .url:
      switch self {
      case .url(let text), .text(let text): return Self.isPlainURL(text) ? .text(text) : nil
      default: return nil
      }
    case .data:
      switch self {
      case .data(let bytes): return .blob(bytes)
      case .text(""): return .blob([])
      default: return nil
      }
    case .enumeration, .array, .codable: return nil
    }
  }

  private var whole: Int64? {
    switch self {
    case .integer(let value): value
    case .decimal(let text), .text(let text): Int64(text) ?? number.flatMap { Int64(exactly: $0) }
    default: number.flatMap { Int64(exactly: $0) }
    }
  }

  private var decimalText: String? {
    switch self {
    case .text(let text), .decimal(let text): DecimalText.canonical(text) ?? Self.flag(text).map { $0 ? "1" : "0" }
    case .integer(let value): String(value)
    default: number.flatMap { DecimalText.canonical("\($0)") }
    }
  }

  /// Whether a text is an absolute URL as a model file may have it: a scheme, a colon, and text without white space.
  private static func isPlainURL(_ text: String) -> Bool {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
    let scheme = text.utf8[..<colon]
    let isLetter: (UInt8) -> Bool = { ($0 | 32) >= UInt8(ascii: "a") && ($0 | 32) <= UInt8(ascii: "z") }
    let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"<>\"{}|\\^`".utf8.contains($0) }
    return scheme.first.map(isLetter) == true && isPlain && text.utf8.index(after: colon) < text.utf8.endIndex
      && scheme.allSatisfy { isLetter($0) || ($0 >= 0x30 && $0 <= 0x39) || "+-.".utf8.contains($0) }
      && URL(string: text) != nil
  }
}

extension AttributeRules {
  /// Whether some value can keep the bounds.
  fileprivate var canHold: Bool {
    if let minimum, let maximum, maximum.isBelow(minimum) { return false }
    if let minimumLength, let maximumLength, maximumLength < minimumLength { return false }
    return true
  }

  /// Whether a default breaks one of the rules.
  fileprivate func isBroken(by value: DefaultValue, of type: AttributeType) -> Bool {
    guard case .value(let value) = value else { return false }
    if let minimum, value.isBelow(minimum) { return true }
    if let maximum, maximum.isBelow(value) { return true }
    guard type == .string, case .text(let text) = value else { return false }
    let length = text.unicodeScalars.count
    if let minimumLength, length < minimumLength { return true }
    if let maximumLength, length > maximumLength { return true }
    guard let pattern, let compiled = try? Pattern(pattern) else { return false }
    return compiled.match(text) != .matches
  }
}

extension StoredValue {
  fileprivate func isBelow(_ other: StoredValue) -> Bool {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): left < right
    case (.real(let left), .real(let right)): left < right
    case (.text(let left), .text(let right)): DecimalText.isLess(left, right)
    default: false
    }
  }
}

/// Notes by key, each key once.
enum UserInfo {
  static func entries(_ pairs: [(key: String, value: String)]) -> [UserInfoEntry] {
    var known: Set<String> = []
    return pairs.filter { known.insert($0.key).inserted }.map { UserInfoEntry($0.key, $0.value) }
  }
}

/// Dates of Core Data: seconds since 2001-01-01T00:00:00Z.
enum CoreDataDate {
  /// Microseconds since 1970, rounded; nil beyond some 292,000 years around it.
  static func microseconds(_ seconds: Double) -> Int64? {
    let rounded = (seconds * 1_000_000).rounded()
    guard rounded.magnitude < 9.2229e18 else { return nil }
    let sum = Int64(rounded) + 978_307_200_000_000
    return sum.magnitude > 9_222_000_000_000_000_000 ? nil : sum
  }

  /// The same of a whole number of seconds.
  static func microseconds(_ seconds: Int64) -> Int64? {
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, isTooLarge) = product.addingReportingOverflow(978_307_200_000_000)
    return overflow || isTooLarge || sum.magnitude > 9_222_000_000_000_000_000 ? nil : sum
  }
}
