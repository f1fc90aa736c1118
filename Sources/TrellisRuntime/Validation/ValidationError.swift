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
    /// A value cannot be stored: a number that is NaN, a NaN or infinite number in a list or struct, a decimal of more
    /// than 38 digits, or a date further from 1970 than 292,000 years.
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
  /// deleted; empty for other rules. Of the objects that prevent a delete, these are the first twenty at most.
  public let blockers: [AnyObjectID]
  /// The number of objects that prevent a delete, or that ``blockers`` contains for other rules.
  public let blockerCount: Int

  /// The maximum number of ``blockers`` of a refused delete.
  static let mostBlockers = 20

  /// - Parameter blockerCount: nil if `blockers` are all.
  package init(
    _ object: AnyObjectID, property: String, rule: Rule, message: String, blockers: [AnyObjectID] = [],
    blockerCount: Int? = nil
  ) {
    self.blockerCount = blockerCount ?? blockers.count
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
    let more = blockerCount > 5 ? " and \(blockerCount - 5) more" : ""
    return "\(place) \(message)\(names.isEmpty ? "" : ": \(names)\(more)") [\(rule.rawValue)]"
  }
}

extension ValidationFailure.Rule {
  init(_ rule: ValueRule) {
    self =
      switch rule {
      case .minimum: .minimum
      case .maximum: .maximum
      case .minimumLength: .minimumLength
      case .maximumLength: .maximumLength
      case .pattern: .pattern
      case .notANumber: .notANumber
      }
  }
}

extension ValidationError: LocalizedError {
  public var errorDescription: String? { description }
}

extension ValidationFailure: LocalizedError {
  public var errorDescription: String? { description }
}
