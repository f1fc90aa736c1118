import TrellisForeignFiles
import Foundation
import TrellisModel
import TrellisStorage

/// Turns stored values of one attribute of Core Data into values of its counterpart.
struct ValueDecoder {
  /// A value, and what is to be told about it.
  struct Result {
    var value: StoredValue
    var findings: [(outcome: CoreDataFinding.Outcome, message: String)] = []
  }

  private let type: AttributeType
  private let isTransformable: Bool
  /// The files of large values; nil if the attribute has none.
  private let blobs: ExternalBlobs?
  private let isOptional: Bool
  /// The value for a row that must have one and has none.
  private let replacement: StoredValue
  private let hasDefault: Bool

  init(_ attribute: TranslatedAttribute, _ blobs: ExternalBlobs) {
    type = attribute.description.type
    isTransformable = attribute.source.kind == .transformable
    self.blobs = attribute.source.allowsExternalStorage ? blobs : nil
    isOptional = attribute.description.isOptional
    let constant = Self.stored(attribute.description.defaultValue, type)
    hasDefault = constant != nil
    replacement = constant ?? Self.zero(of: type)
  }

  /// The value for a row. A required value that is null becomes the default, or else the zero of its type.
  func decode(_ source: ForeignValue) -> Result {
    var result = converted(source)
    guard result.value.isNull, !isOptional else { return result }
    let why = source == .null ? "was null" : nil
    let what = hasDefault ? "took its default" : "has no default, and took the zero of its type"
    if let why {
      result.findings.append((.repaired, "\(why), and \(what)"))
    } else {
      result.findings.append((.repaired, "is required, and \(what)"))
    }
    result.value = replacement
    return result
  }

  // MARK: Conversion

  private static let other = "had a value of another kind, which was converted"
  private static let none = "had a value that is none of its type, and lost it"

  private func converted(_ source: ForeignValue) -> Result {
    if source == .null { return Result(value: .null) }
    if isTransformable { return transformed(source) }
    switch type {
    case .bool: return whole(source, in: Int64.min...Int64.max) { $0 == 0 ? 0 : 1 }
    case .integer: return whole(source, in: type.integerRange) { $0 }
    case .double: return real(source) { $0 }
    case .float: return real(source) { Float($0).isInfinite && $0.isFinite ? nil : Double(Float($0)) }
    case .decimal: return decimal(source)
    case .date: return date(source)
    case .string: return text(source)
    case .url: return url(source)
    case .uuid: return uuid(source)
    case .data: return data(source)
    case .enumeration, .array, .codable: return Self.lost
    }
  }

  private static let lost = Result(value: .null, findings: [(.leftOut, none)])

  private func whole(_ source: ForeignValue, in range: ClosedRange<Int64>, _ value: (Int64) -> Int64) -> Result {
    let number: Int64?
    let isOther: Bool
    switch source {
    case .integer(let found): (number, isOther) = (found, false)
    case .real(let found): (number, isOther) = (Int64(exactly: found), true)
    case .text(let text): (number, isOther) = (Int64(text), true)
    case .unsound, .blob, .null: (number, isOther) = (nil, true)
    }
    guard let number, range.contains(number) else { return Self.lost }
    return Result(value: .integer(value(number)), findings: isOther ? [(.repaired, Self.other)] : [])
  }

  private func real(_ source: ForeignValue, _ value: (Double) -> Double?) -> Result {
    let number: Double?
    var isOther = false
    switch source {
    case .integer(let found): number = Double(found)
    case .real(let found): number = found
    case .text(let text): (number, isOther) = (Double(text), true)
    case .unsound, .blob, .null: number = nil
    }
    guard let number = number.flatMap(value), !number.isNaN else { return Self.lost }
    return Result(value: .real(number), findings: isOther ? [(.repaired, Self.other)] : [])
  }

  /// A decimal of Core Data is a binary number in the file, so that digits beyond its precision are gone already.
  private func decimal(_ source: ForeignValue) -> Result {
    switch source {
    case .integer(let value): return Result(value: .text(String(value)))
    case .real(let value):
      guard value.isFinite, let text = DecimalText.canonical("\(value)") else { return Self.lost }
      return Result(
        value: .text(text), findings: [(.kept, "is a binary number in the store, and has its shortest text")])
    case .text(let text):
      guard let canonical = DecimalText.canonical(text) else { return Self.lost }
      return Result(value: .text(canonical))
    case .unsound, .blob, .null: return Self.lost
    }
  }

  private func date(_ source: ForeignValue) -> Result {
    switch source {
    case .integer(let seconds): CoreDataDate.microseconds(seconds).map { Result(value: .integer($0)) } ?? Self.lost
    case .real(let seconds): CoreDataDate.microseconds(seconds).map { Result(value: .integer($0)) } ?? Self.lost
    case .text, .unsound, .blob, .null: Self.lost
    }
  }

  private func text(_ source: ForeignValue) -> Result {
    switch source {
    case .text(let text): Result(value: .text(text))
    case .unsound(let bytes):
      Result(
        value: .text(String(decoding: bytes, as: UTF8.self)),
        findings: [(.repaired, "is no UTF-8, and has replacement characters")])
    case .integer(let value): Result(value: .text(String(value)), findings: [(.repaired, Self.other)])
    case .real(let value): Result(value: .text("\(value)"), findings: [(.repaired, Self.other)])
    case .blob(let bytes):
      String(validating: bytes, as: UTF8.self).map {
        Result(value: .text($0), findings: [(.repaired, Self.other)])
      } ?? Self.lost
    case .null: Result(value: .null)
    }
  }

  private func url(_ source: ForeignValue) -> Result {
    guard case .text(let text) = source, URL(string: text) != nil else { return Self.lost }
    return Result(value: .text(text))
  }

  private func uuid(_ source: ForeignValue) -> Result {
    switch source {
    case .blob(let bytes) where bytes.count == 16: return Result(value: .blob(bytes))
    case .text(let text):
      guard let bytes = UUIDText.bytes(text) else { return Self.lost }
      return Result(value: .blob(bytes), findings: [(.repaired, Self.other)])
    default: return Self.lost
    }
  }

  private func data(_ source: ForeignValue) -> Result {
    guard let bytes = Self.bytes(of: source) else { return Self.lost }
    guard let blobs else { return Result(value: .blob(bytes.bytes), findings: bytes.findings) }
    switch blobs.content(of: bytes.bytes) {
    case .value(let content): return Result(value: .blob(content), findings: bytes.findings)
    case .missingFile:
      return Result(value: .null, findings: [(.leftOut, "is in a file that is not beside the store")])
    }
  }

  private static func bytes(
    of source: ForeignValue
  ) -> (bytes: [UInt8], findings: [(outcome: CoreDataFinding.Outcome, message: String)])? {
    switch source {
    case .blob(let bytes): (bytes, [])
    case .text(let text): (Array(text.utf8), [(.repaired, other)])
    case .unsound(let bytes): (bytes, [(.repaired, other)])
    default: nil
    }
  }

  // MARK: Transformables

  private func transformed(_ source: ForeignValue) -> Result {
    let content = data(source)
    guard type != .data, case .blob(let bytes) = content.value else { return content }
    guard let value = try? ArchivedValue(archive: bytes), let stored = value.stored(as: type) else {
      return Result(
        value: .null, findings: content.findings + [(.leftOut, "is no archive of its type, and lost its value")])
    }
    return Result(value: stored, findings: content.findings)
  }

  // MARK: Replacements

  private static func stored(_ value: DefaultValue?, _ type: AttributeType) -> StoredValue? {
    switch (value, type) {
    case (.value(let stored)?, _): stored
    case (.list(let values)?, .array(let element)): ListText.text(values, of: element).map { .text($0) }
    default: nil
    }
  }

  /// The value of a type for a row that must have one and has none.
  private static func zero(of type: AttributeType) -> StoredValue {
    switch type {
    case .bool, .integer: .integer(0)
    case .float, .double: .real(0)
    case .decimal: .text("0")
    case .date: .integer(978_307_200_000_000)
    case .string, .enumeration, .codable: .text("")
    case .data: .blob([])
    case .uuid: .blob([UInt8](repeating: 0, count: 16))
    case .url: .text("about:blank")
    case .array: .text("[]")
    }
  }
}

extension ArchivedValue {
  /// The value in its stored form; nil if it is none of the type.
  func stored(as type: AttributeType) -> StoredValue? {
    if case .null = self { return .null }
    guard case .array(let element) = type else { return storedScalar(as: type) }
    guard case .list(let values) = self else { return nil }
    var stored: [StoredValue] = []
    for value in values {
      guard let scalar = value.storedScalar(as: element) else { return nil }
      stored.append(scalar)
    }
    return ListText.text(stored, of: element).map { .text($0) }
  }

  private func storedScalar(as type: AttributeType) -> StoredValue? {
    switch (type, self) {
    case (.string, .text(let text)): .text(text)
    case (.bool, .bool(let flag)): .integer(flag ? 1 : 0)
    case (.bool, .integer(let value)) where value == 0 || value == 1: .integer(value)
    case (.integer(let type), .integer(let value)): type.range.contains(value) ? .integer(value) : nil
    case (.double, .real(let value)): value.isFinite ? .real(value) : nil
    case (.double, .integer(let value)): Double(exactly: value).map { .real($0) }
    case (.float, .real(let value)): Float(value).isFinite ? .real(Double(Float(value))) : nil
    case (.float, .integer(let value)): Float(exactly: value).map { .real(Double($0)) }
    case (.decimal, .decimal(let text)): .text(text)
    case (.decimal, .integer(let value)): .text(String(value))
    case (.date, .date(let seconds)): CoreDataDate.microseconds(seconds).map { .integer($0) }
    case (.uuid, .uuid(let bytes)): .blob(bytes)
    case (.uuid, .text(let text)): UUIDText.bytes(text).map { .blob($0) }
    case (.url, .url(let text)), (.url, .text(let text)): URL(string: text) == nil ? nil : .text(text)
    case (.data, .data(let bytes)): .blob(bytes)
    default: nil
    }
  }
}
