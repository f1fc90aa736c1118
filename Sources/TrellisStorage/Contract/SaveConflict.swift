public import Foundation
public import TrellisModel

// MARK: - Save conflict

/// The rows that changed since their objects were read: another context or process changed or deleted them. Nothing was
/// written.
///
/// To resolve the conflict, save again with a merge policy, which decides which side wins; or refresh the objects,
/// which keeps the edits on top of the new values, and save again; or roll back.
public struct SaveConflict: Error, Sendable, CustomStringConvertible {
  /// An object with a changed row.
  public struct Row: Hashable, Sendable {
    /// The number of the object's entity in the model.
    public var entity: Int
    /// The object's key.
    public var key: Int64
    /// The name of the entity. Stores may leave it nil; contexts set it.
    public var entityName: String?
    /// The changes on both sides. Stores leave it nil; contexts set it.
    public var kind: Kind?
    /// The names of the properties that both sides set; empty if one side deleted the object.
    public var properties: [String] = []
    /// The values of the row by column: as it was read, as in this context, and as in the store. Nil if there is none.
    package var original: [StoredValue]?
    package var mine: [StoredValue]?
    package var theirs: [StoredValue]?
    /// The classes of the entity and its ancestors.
    package var lineage: [ObjectIdentifier] = []

    /// The changes of both sides to an object.
    public enum Kind: Hashable, Sendable {
      /// Both sides changed the object.
      case changedByBoth
      /// The object was changed in this context and deleted elsewhere.
      case deletedByOthers
      /// The object was deleted in this context and changed elsewhere.
      case deletedHere
    }

    /// Creates the entry of a row that has changed.
    public init(entity: Int, key: Int64, entityName: String? = nil) {
      self.entity = entity
      self.key = key
      self.entityName = entityName
    }
  }

  /// The rows that have changed since they were read.
  public var rows: [Row]

  /// Creates the conflict from the rows that have changed.
  public init(rows: [Row]) { self.rows = rows }

  public var description: String {
    let named = rows.prefix(10).map(\.description).joined(separator: ", ")
    let more = rows.count > 10 ? " and \(rows.count - 10) more" : ""
    let (were, since, them) =
      rows.count == 1 ? ("was", "it was read", "it") : ("were", "they were read", "them")
    return "\(named)\(more) \(were) changed or deleted by another writer since \(since), so nothing was saved; "
      + "refresh \(them) and save again, or roll back. [save-conflict]"
  }
}

extension SaveConflict.Row: CustomStringConvertible {
  /// The entity and the key: `Book#12`.
  public var description: String { "\(entityName ?? "entity \(entity)")#\(key)" }
}

// MARK: - Store finding

/// A problem found in a store: its kind, its place, a description, and a repair.
///
/// A finding contains no user data: it identifies an object by its key.
public struct StoreFinding: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the problem. More kinds may be added.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The file's own structure is damaged, or a part of it cannot be read.
    public static let damaged = Code(rawValue: "damaged")
    /// A table of the model is missing, or has a different definition.
    public static let tableDiffers = Code(rawValue: "table-differs")
    /// An index that the store relies on is missing, or has a different definition.
    public static let indexDiffers = Code(rawValue: "index-differs")
    /// A row belongs to no entity of the model.
    public static let unknownEntity = Code(rawValue: "unknown-entity")
    /// An object's key was never reserved, so a new object may get the same key.
    public static let unreservedKey = Code(rawValue: "unreserved-key")
    /// A stored value is invalid for its attribute.
    public static let unreadableValue = Code(rawValue: "unreadable-value")
    /// The file with an attribute's external data is missing, or has other content.
    public static let externalFile = Code(rawValue: "external-file")
    /// A required attribute or a required to-one relationship is null.
    public static let missingValue = Code(rawValue: "missing-value")
    /// A value violates a validation rule of its attribute.
    public static let brokenRule = Code(rawValue: "broken-rule")
    /// A to-many relationship has too few or too many members.
    public static let memberCount = Code(rawValue: "member-count")
    /// A reference leads to no object, or to an object of another entity.
    public static let danglingReference = Code(rawValue: "dangling-reference")
    /// One end of a relationship references the other, but not vice versa.
    public static let missingInverse = Code(rawValue: "missing-inverse")
    /// An object has a position in an ordered to-many and no reference to its owner.
    public static let stalePosition = Code(rawValue: "stale-position")
    /// Two objects have the same key, the same unique key, or the same partner of a one-to-one.
    public static let notUnique = Code(rawValue: "not-unique")
  }

  /// The kind of the finding.
  public var code: Code
  /// The entity; nil for a finding about the whole store.
  public var entity: String?
  /// The object; nil for a finding about several objects or none.
  public var key: Int64?
  /// The properties; empty if there are none.
  public var properties: [String]
  /// The problem, as a sentence.
  public var message: String
  /// The repair, as a sentence.
  public var repair: String

  /// - Parameters:
  ///   - message: The problem, as a sentence without user data.
  ///   - repair: The repair, as a sentence.
  ///   - properties: The names of the properties that the finding concerns.
  ///   - key: The key of the row, if the finding concerns one.
  ///   - entity: The name of the entity, if the finding concerns one.
  ///   - code: The kind of the finding.
  public init(
    _ code: Code, _ message: String, repair: String, entity: String? = nil, key: Int64? = nil, properties: [String] = []
  ) {
    self.code = code
    self.message = message
    self.repair = repair
    self.entity = entity
    self.key = key
    self.properties = properties
  }

  /// The place, the problem, the repair, and the code.
  public var description: String {
    let object = entity.map { entity in key.map { "\(entity)/\($0)" } ?? entity }
    let place = ([object] + [properties.isEmpty ? nil : properties.joined(separator: ", ")]).compactMap(\.self)
    let start = place.isEmpty ? "" : place.joined(separator: ".") + ": "
    return "\(start)\(message) \(repair) [\(code.rawValue)]"
  }
}

// MARK: - Localized errors

// `localizedDescription` of the errors of this module and of the modules below it is their `description`.

extension SaveConflict: LocalizedError {
  public var errorDescription: String? { description }
}

extension EvaluationError: LocalizedError {
  public var errorDescription: String? { description }
}

extension SchemaError: LocalizedError {
  public var errorDescription: String? { description }
}

extension PredicateFormatError: LocalizedError {
  public var errorDescription: String? { description }
}

extension PatternError: LocalizedError {
  public var errorDescription: String? { description }
}

extension StoreFinding: LocalizedError {
  public var errorDescription: String? { description }
}

extension ConstraintViolations: LocalizedError {
  public var errorDescription: String? { description }
}

extension RefusedRows: LocalizedError {
  public var errorDescription: String? { description }
}
