public import Foundation
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

extension ValidationError: LocalizedError {
  public var errorDescription: String? { description }
}

extension ValidationFailure: LocalizedError {
  public var errorDescription: String? { description }
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
    guard let graph = attachedGraph else { return }
    _willRead(-1)
    try graph.throwPendingFailure()
    var rules = ObjectRules(graph)
    rules.countsUnchanged = true
    switch phase {
    case .deleted: try rules.checkDeleted([self])
    case .inserted: try rules.checkAll(self, .validateInsert)
    default: try rules.checkAll(self, .validateUpdate)
    }
    if !rules.failures.isEmpty { throw ValidationError(failures: rules.failures) }
  }
}

extension ObjectGraph {
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

// MARK: - Discarded change

/// A change that was discarded because it broke rules.
public struct DiscardedChange: Hashable, Sendable {
  /// The kinds of changes.
  public enum Kind: Hashable, Sendable {
    /// The object was new and was withdrawn.
    case insert
    /// The object was changed and has its last fetched or saved values again.
    case update
    /// The object was deleted and was restored.
    case delete
  }

  /// The object of the change.
  public let object: AnyObjectID
  /// The kind of the change.
  public let kind: Kind
  /// The reasons: the rules that were broken by this object or by the partners that it left.
  public let failures: [ValidationFailure]
}

extension ObjectGraph {
  /// Discards the changes of objects that break rules, so that the remaining changes can be saved and one invalid object does not block every save of the context.
  @discardableResult func discardInvalidChanges() throws -> [DiscardedChange] {
    guard isAllowed("discardInvalidChanges") else { return [] }
    var discarding = Discarding(self)
    while let refusal = try refusalOfSave() { try discarding.giveUp(refusal.failures) }
    return discarding.discarded
  }

  /// The rules that a save would break.
  private func refusalOfSave() throws -> ValidationError? {
    do {
      try SaveOperation.rehearse(self)
    } catch let refusal as ValidationError {
      return refusal
    } catch is SaveConflict {}
    return nil
  }
}

/// Discards changes until the remaining ones are valid.
private struct Discarding {
  private(set) var discarded: [DiscardedChange] = []
  private let graph: ObjectGraph
  /// Objects that were rolled back once. If such an object still breaks a rule, the cause is another object.
  private var settled: Set<Int64> = []

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Discards changes that broke rules, at least one.
  mutating func giveUp(_ failures: [ValidationFailure]) throws {
    let before = discarded.count
    let told = Dictionary(grouping: failures, by: \.key)
    let rescued = try rescuedByHooks(told)
    // Discarding one change may repair or break another object, so each object is checked again.
    try giveUp { [self] object in rescued.contains(object._key) ? [] : try brokenRules(of: object) }
    // Failures that only the store can find, or that a hook has caused.
    if discarded.count == before { try giveUp { told[$0._key] ?? [] } }
    if discarded.count == before { try giveUpAround(failures) }
    if discarded.count == before { giveUpEverything(failures) }
  }

  private func brokenRules(of object: ManagedObject) throws -> [ValidationFailure] {
    var rules = ObjectRules(graph)
    switch object.phase {
    case .deleted: try rules.checkDeleted([object])
    case .inserted: try rules.checkAll(object, .validateInsert)
    default: try rules.checkAll(object, .validateUpdate)
    }
    return rules.failures
  }

  /// Objects that break rules now, but that their hooks repair before each save.
  private func rescuedByHooks(_ told: [Int64: [ValidationFailure]]) throws -> Set<Int64> {
    guard graph.runtime.hooks.contains(.willSave) else { return [] }
    let silent = graph.makePlan().checked.filter { told[$0._key] == nil }
    return Set(try silent.filter { try !brokenRules(of: $0).isEmpty }.map(\._key))
  }

  private mutating func giveUp(_ failures: (ManagedObject) throws -> [ValidationFailure]) throws {
    let plan = graph.makePlan()
    for object in plan.deleted where object.phase == .deleted {
      let failures = try failures(object)
      if !failures.isEmpty { undelete(object, failures) }
    }
    for object in plan.checked where object.isAlive {
      let failures = try failures(object)
      if !failures.isEmpty { try discard(object, failures) }
    }
  }

  private mutating func discard(_ object: ManagedObject, _ failures: [ValidationFailure]) throws {
    if try bringBackPartners(of: object, failures) { return }
    note(object, object.phase == .inserted ? .insert : .update, failures)
    if object.phase == .inserted { return try graph.withdraw(object) }
    guard settled.insert(object._key).inserted else { return giveUpEverything(failures) }
    try object.rollback()
  }

  /// Repairs objects that were not changed themselves, but are invalid because of changes around them.
  private mutating func giveUpAround(_ failures: [ValidationFailure]) throws {
    for (key, failures) in Dictionary(grouping: failures, by: \.key).sorted(by: { $0.key < $1.key }) {
      guard let object = graph.map[key], object.phase == .persistent else { continue }
      if failures.contains(where: { $0.rule == .deniedDelete }) {
        // The object would only be deleted together with others, so their deletes are reverted.
        for victim in graph.deletedObjects where victim.phase == .deleted { undelete(victim, failures) }
      } else if try !bringBackPartners(of: object, failures), settled.insert(key).inserted {
        note(object, .update, failures)
        let names = Set(failures.map(\.property))
        let broken = graph.info(of: object).allRelationships.filter { names.contains($0.name) }
        try refreshPartners(of: object, broken)
        try graph.rollback(object, broken.map(\.property))
      }
    }
  }

  /// Refreshes the partners of an object, because other contexts may have deleted them.
  private func refreshPartners(of object: ManagedObject, _ relationships: [RelationshipInfo]) throws {
    for relationship in relationships {
      let partners = graph.presentPartners(of: object, relationship).compactMap { graph.map[$0] }
      try graph.refreshRows(partners.filter { $0.phase == .persistent })
    }
  }

  /// Reverts the deletes that removed a required partner of an object.
  private mutating func bringBackPartners(of object: ManagedObject, _ failures: [ValidationFailure]) throws -> Bool {
    guard object.phase == .persistent else { return false }
    var isAny = false
    for relationship in graph.info(of: object).allRelationships {
      let reasons = failures.filter { $0.property == relationship.name && $0.rule != .maximumCount }
      if reasons.isEmpty { continue }
      // An object that is as the store has it still refers to the partner.
      let keys =
        try graph.formerPartners(of: object, relationship) ?? graph.presentPartners(of: object, relationship)
      for key in keys {
        guard let partner = graph.map[key], partner.phase == .deleted else { continue }
        undelete(partner, reasons)
        isAny = true
      }
    }
    return isAny
  }

  private mutating func undelete(_ object: ManagedObject, _ failures: [ValidationFailure]) {
    note(object, .delete, failures)
    graph.undelete(object)
  }

  /// Discards all changes, as the last resort for rules that contradict each other.
  private mutating func giveUpEverything(_ failures: [ValidationFailure]) {
    for object in graph.insertedObjects { note(object, .insert, failures) }
    for object in graph.updatedObjects where !settled.contains(object._key) { note(object, .update, failures) }
    for object in graph.deletedObjects { note(object, .delete, failures) }
    graph.rollback()
  }

  private mutating func note(_ object: ManagedObject, _ kind: DiscardedChange.Kind, _ failures: [ValidationFailure]) {
    let id = AnyObjectID(object, graph.info(of: object))
    discarded.append(DiscardedChange(object: id, kind: kind, failures: failures))
  }
}
