/// Why objects cannot be saved: every broken rule at once. Nothing was written, and the context is as it was.
///
/// ```swift
/// do {
///   try context.save()
/// } catch let error as ValidationError {
///   for failure in error.failures { print(failure.property, failure.message) }
/// }
/// ```
public struct ValidationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The broken rules, by object in the order in which the context looks at them.
  public let failures: [ValidationFailure]

  /// Puts failures together, such as those that a hook has found.
  public init(failures: [ValidationFailure]) { self.failures = failures }

  /// How many rules are broken, and the first twenty.
  public var description: String {
    let lines = failures.prefix(20).map { "- \($0)" }
    let more = failures.count > 20 ? ["- and \(failures.count - 20) more"] : []
    return
      (["\(failures.count) rule\(failures.count == 1 ? " is" : "s are") broken, so nothing was saved:"] + lines + more)
      .joined(separator: "\n")
  }
}

/// One rule that one object breaks.
public struct ValidationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of rules.
  public enum Rule: String, Hashable, Sendable {
    /// A to-one that must have a partner has none.
    case required
    /// A to-many has too few members, or too many.
    case minimumCount, maximumCount
    /// A number or a date lies outside its bounds.
    case minimum, maximum
    /// A text, data or a list is too short, or too long.
    case minimumLength, maximumLength
    /// A text does not match its pattern.
    case pattern
    /// A number or a date that is none, or one in a list or in a struct, which may not be infinite either. Dates further from 1970
    /// than 292,000 years count among them.
    case notANumber
    /// The object may not be deleted while it has partners here.
    case deniedDelete
    /// Another object has the same unique key.
    case unique
    /// The relationship was set to an object that somebody else has deleted meanwhile.
    case deletedPartner
    /// A rule of the program's own, from a hook.
    case custom
  }

  /// The object that breaks the rule.
  public let object: AnyObjectID
  /// The property that the rule is about, as the model declares it; empty where a rule of the program's own names none.
  public let property: String
  /// The rule that is broken.
  public let rule: Rule
  /// The rule in words, fit for a person, to be read after the property's name: "must be at least 1". It holds no user data.
  public let message: String
  /// The objects that stand in the way of a delete, others with the same unique key, and partners that somebody else has deleted; empty for other rules.
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

  /// The object, the property and the rule in words, with the objects that stand in the way.
  public var description: String {
    let place = property.isEmpty ? "\(object)" : "\(object).\(property)"
    let names = blockers.prefix(5).map(\.description).joined(separator: ", ")
    let more = blockers.count > 5 ? " and \(blockers.count - 5) more" : ""
    return "\(place) \(message)\(names.isEmpty ? "" : ": \(names)\(more)") [\(rule.rawValue)]"
  }
}
