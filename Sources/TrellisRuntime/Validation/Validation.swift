import Foundation
import TrellisModel
import TrellisStorage

/// The error when objects cannot be saved, with every broken rule. Nothing was written, and the context is unchanged.
///
/// ```swift
/// do {
///   try context.save()
/// } catch let error as ValidationError {
///   for failure in error.failures { print(failure.property, failure.message) }
/// }
/// ```
public struct ValidationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The broken rules by object, in the order in which the context checks them.
  public let failures: [ValidationFailure]

  /// Creates an error from failures, such as those that a hook has found.
  public init(failures: [ValidationFailure]) { self.failures = failures }

  /// The number of broken rules, and the first twenty.
  public var description: String {
    let lines = failures.prefix(20).map { "- \($0)" }
    let more = failures.count > 20 ? ["- and \(failures.count - 20) more"] : []
    return
      (["\(failures.count) rule\(failures.count == 1 ? " is" : "s are") broken, so nothing was saved:"] + lines + more)
      .joined(separator: "\n")
  }
}

/// A rule that an object breaks.
public struct ValidationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of rules.
  public enum Rule: String, Hashable, Sendable {
    /// A required to-one relationship is nil.
    case required
    /// A to-many relationship has too few or too many members.
    case minimumCount, maximumCount
    /// A number or a date is out of bounds.
    case minimum, maximum
    /// A text, data or a list is too short or too long.
    case minimumLength, maximumLength
    /// A text does not match its pattern.
    case pattern
    /// A value cannot be stored: a number that is NaN, a NaN or infinite number in a list or struct, or a date further
    /// from 1970 than 292,000 years.
    case notANumber
    /// The object cannot be deleted while the relationship has partners.
    case deniedDelete
    /// Another object has the same unique key.
    case unique
    /// The relationship was set to an object that another context has deleted meanwhile.
    case deletedPartner
    /// A custom rule, from a hook.
    case custom
  }

  /// The object that breaks the rule.
  public let object: AnyObjectID
  /// The name of the property in the model; empty if a custom rule does not name one.
  public let property: String
  /// The broken rule.
  public let rule: Rule
  /// The rule in words for the user, to be read after the property's name: "must be at least 1". It contains no user
  /// data.
  public let message: String
  /// The objects that prevent a delete, those with the same unique key, or the partners that another context has
  /// deleted; empty for other rules.
  public let blockers: [AnyObjectID]

  package init(
    _ object: AnyObjectID, property: String, rule: Rule, message: String, blockers: [AnyObjectID] = []
  ) {
    self.object = object
    self.property = property
    self.rule = rule
    self.message = message
    self.blockers = blockers
  }

  /// The object's entity.
  public var entity: String { object.entity }
  /// The object's key.
  public var key: Int64 { object.key }

  /// The object, the property and the rule in words, with the blocking objects.
  public var description: String {
    let place = property.isEmpty ? "\(object)" : "\(object).\(property)"
    let names = blockers.prefix(5).map(\.description).joined(separator: ", ")
    let more = blockers.count > 5 ? " and \(blockers.count - 5) more" : ""
    return "\(place) \(message)\(names.isEmpty ? "" : ": \(names)\(more)") [\(rule.rawValue)]"
  }
}

// MARK: - Validating

extension ManagedObject {
  /// Checks the object as a save would, without saving, so that a form can show what is missing while it is filled in.
  ///
  /// ```swift
  /// do {
  ///   try receipt.validate()
  /// } catch let error as ValidationError {
  ///   for failure in error.failures { mark(failure.property, failure.message) }
  /// }
  /// ```
  /// A deleted object is checked for reasons that prevent the delete.
  ///
  /// - Throws: ``ValidationError`` with every rule that the object breaks; ``StoreError`` if the store fails.
  public final func validate() throws {
    guard let context = managedObjectContext else { return }
    _willRead(-1)
    try context.throwPendingFailure()
    var rules = ObjectRules(context)
    rules.countsUnchanged = true
    switch phase {
    case .deleted: try rules.checkDeleted([self])
    case .inserted: try rules.checkAll(self, .validateInsert)
    default: try rules.checkAll(self, .validateUpdate)
    }
    if !rules.failures.isEmpty { throw ValidationError(failures: rules.failures) }
  }
}

extension ManagedObjectContext {
  /// Checks everything that a save is about to write.
  ///
  /// - Throws: ``ValidationError`` with every broken rule.
  func validate(_ plan: SavePlan) throws {
    var rules = ObjectRules(self)
    for object in plan.inserted { try rules.checkAll(object, .validateInsert) }
    for (object, _) in plan.updated { try rules.checkAll(object, .validateUpdate) }
    for object in plan.relinked { try rules.checkAll(object, .validateUpdate) }
    try rules.checkDeleted(plan.deleted)
    guard rules.failures.isEmpty else { throw ValidationError(failures: rules.failures) }
  }
}

// MARK: - Attribute check

/// An attribute with rules for its values. A class, because every save iterates over these attributes for every object.
final class CheckedAttribute: Sendable {
  let index: Int
  let name: String
  private let type: AttributeType
  private let rules: AttributeRules
  private let pattern: Pattern?

  /// Returns nil if every value is valid.
  init?(_ attribute: Attribute) {
    rules = attribute.description.rules
    guard !rules.isEmpty || attribute.type.mayHoldNoNumber else { return nil }
    index = attribute.index
    name = attribute.name
    type = attribute.type
    // The model tool has already refused invalid patterns.
    pattern = rules.pattern.flatMap { try? Pattern($0) }
  }

  typealias Failure = (rule: ValidationFailure.Rule, message: String)

  /// The rules that a value breaks, with messages. Nil values satisfy every rule.
  func failures(of value: StoredValue) -> [Failure] {
    if isNoNumber(value) { return [(.notANumber, numberMessage)] }
    if value.isNull || rules.isEmpty { return [] }
    var failures: [Failure] = []
    if let failure = bounds(value) { failures.append(failure) }
    if let failure = length(value) { failures.append(failure) }
    if let failure = patternFailure(value) { failures.append(failure) }
    return failures
  }

  private var numberMessage: String {
    switch type {
    case .date: "must be a date within 292,000 years of 1970"
    case .array, .codable: "must hold nothing but what can be kept: no number in it may be infinite or none"
    default: "must be a number"
    }
  }

  private func isNoNumber(_ value: StoredValue) -> Bool {
    switch value {
    case .real(let number): number.isNaN
    case .integer(.min): type == .date
    case .text("NaN"): type == .decimal
    case .text(let text): type.isJSON && (text.isEmpty || type == .array(.decimal) && text.contains("NaN"))
    default: false
    }
  }

  private func bounds(_ value: StoredValue) -> Failure? {
    if rules.minimum == nil && rules.maximum == nil { return nil }
    let kind: ValueKind = type == .decimal ? .decimal : .text
    let isDate = type == .date
    if let minimum = rules.minimum, ValueOrder.compare(value, minimum, kind: kind) < 0 {
      return (.minimum, "must \(isDate ? "not be before" : "be at least") \(words(for: minimum))")
    }
    if let maximum = rules.maximum, ValueOrder.compare(value, maximum, kind: kind) > 0 {
      return (.maximum, "must \(isDate ? "not be after" : "be at most") \(words(for: maximum))")
    }
    return nil
  }

  /// A bound in readable form.
  private func words(for bound: StoredValue) -> String {
    switch bound {
    case .integer(let number): type == .date ? DateText.text(number) : "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): text
    case .blob, .file, .null: "its bound"
    }
  }

  private func length(_ value: StoredValue) -> Failure? {
    guard rules.minimumLength != nil || rules.maximumLength != nil, !isSurelyWithin(value),
      let length = length(of: value)
    else { return nil }
    if let minimum = rules.minimumLength, length < minimum {
      return (.minimumLength, minimum == 1 ? "must not be empty" : "must have at least \(minimum) \(unit(minimum))")
    }
    if let maximum = rules.maximumLength, length > maximum {
      return (.maximumLength, "must have at most \(maximum) \(unit(maximum))")
    }
    return nil
  }

  private func unit(_ count: Int) -> String {
    let word =
      switch type {
      case .array: "element"
      case .data: "byte"
      default: "character"
      }
    return count == 1 ? word : word + "s"
  }

  /// Whether the byte count of a text already shows that its length is valid: a scalar takes one to four bytes.
  private func isSurelyWithin(_ value: StoredValue) -> Bool {
    guard case .text(let text) = value else { return false }
    if case .array = type { return false }
    let bytes = text.utf8.count
    return (bytes + 3) / 4 >= rules.minimumLength ?? 0 && bytes <= rules.maximumLength ?? .max
  }

  /// The number of Unicode scalars of a text, of bytes of data, or of elements of a list.
  private func length(of value: StoredValue) -> Int? {
    switch value {
    case .text(let text):
      guard case .array = type else { return text.unicodeScalars.count }
      return (try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Any])?.count
    case .blob(let bytes): return bytes.count
    case .file(let file): return file.size
    default: return nil
    }
  }

  private func patternFailure(_ value: StoredValue) -> Failure? {
    guard let pattern, case .text(let text) = value else { return nil }
    return switch pattern.match(text) {
    case .matches: nil
    case .differs: (.pattern, "must have the form that is asked for")
    case .tooCostly: (.pattern, "is too long to be matched against its pattern")
    }
  }
}

extension AttributeType {
  /// Whether the type has values that cannot be stored, such as NaN.
  fileprivate var mayHoldNoNumber: Bool {
    switch self {
    case .float, .double, .decimal, .date, .codable: true
    case .array(let element): element.mayHoldNoNumber
    case .string, .bool, .int16, .int32, .int64, .data, .uuid, .url, .enumeration: false
    }
  }

  fileprivate var isJSON: Bool {
    switch self {
    case .array, .codable: true
    default: false
    }
  }
}
