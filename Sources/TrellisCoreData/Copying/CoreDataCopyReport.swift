public import TrellisModel

/// What a copy of a Core Data store has found in the data, and what became of it.
public struct CoreDataFinding: Hashable, Sendable, CustomStringConvertible {
  /// What became of it.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// A value or a link was changed.
    case repaired
    /// A row, a link or a value is not in the copy.
    case leftOut = "left-out"
    /// It is in the copy as it is, although it breaks a rule of the model or has lost precision before.
    case kept
  }

  /// What became of it.
  public let outcome: Outcome
  /// The entity, by its name in Core Data; the table for rows of none.
  public let entity: String
  /// The property, by its name in Core Data; nil for whole rows.
  public let property: String?
  /// What it is and what became of it, as the end of a sentence.
  public let message: String
  /// The number of rows, values or links; 1 for a property or table as a whole.
  public internal(set) var count: Int
  /// The primary keys (`Z_PK`) of the first ones, at most ten; empty for a property or table as a whole.
  public internal(set) var firstKeys: [Int64]

  /// The finding as a line: `repaired 27 × Message.delivered: was null, and took its default (1, 2, 5, …)`.
  public var description: String {
    let subject = property.map { "\(entity).\($0)" } ?? entity
    let keys = firstKeys.map(String.init).joined(separator: ", ") + (count > firstKeys.count ? ", …" : "")
    return "\(outcome.rawValue) \(count) × \(subject): \(message)" + (firstKeys.isEmpty ? "" : " (\(keys))")
  }
}

/// The result of copying a Core Data store.
public struct CoreDataCopyReport: Sendable, CustomStringConvertible {
  /// The number of copied rows of an entity.
  public struct RowCount: Hashable, Sendable {
    /// The entity, by its name in Core Data.
    public let entity: String
    /// The number of rows of exactly this entity.
    public let rows: Int
  }

  /// The copied rows, for each entity that has some.
  public internal(set) var rows: [RowCount] = []
  /// The number of copied pairs of relationships in tables of their own.
  public internal(set) var pairs = 0
  /// The values and links that were changed.
  public internal(set) var repaired: [CoreDataFinding] = []
  /// The rows, links and values that are not in the copy.
  public internal(set) var left: [CoreDataFinding] = []
  /// What is in the copy as it was, although it breaks a rule or has lost precision before.
  public internal(set) var kept: [CoreDataFinding] = []
  /// What of the model has no counterpart.
  public internal(set) var notes: [CoreDataNote] = []
  /// The keys of the rows in the copy.
  public internal(set) var keys: CoreDataKeys
  /// The model of the copy: the given one, or that of the old store with the types that the values of its transformable
  /// attributes have.
  public internal(set) var model: ModelDescription

  /// The report as lines, one for each entity and each finding.
  public var description: String {
    let copied = rows.isEmpty ? ["copied no rows"] : rows.map { "copied \($0.rows) × \($0.entity)" }
    let counts = copied + (pairs > 0 ? ["copied \(pairs) pairs"] : [])
    return (counts + (repaired + left + kept).map(\.description) + notes.map(\.description)).joined(separator: "\n")
  }
}

/// How far a copy is.
public struct CoreDataCopyProgress: Hashable, Sendable {
  /// The rows that were copied so far.
  public let rows: Int
  /// The rows to copy.
  public let totalRows: Int

  /// From 0 to 1. Reading before the first row and a migration after the last are not part of it.
  public var fractionCompleted: Double { totalRows == 0 ? 1 : Double(rows) / Double(totalRows) }
}

extension CoreDataCopyProgress: CustomStringConvertible {
  /// The number of copied rows and of all rows.
  public var description: String { "\(rows) of \(totalRows) rows" }
}

extension CoreDataCopyReport.RowCount: CustomStringConvertible {
  /// The number and the entity: `12 × Entry`.
  public var description: String { "\(rows) × \(entity)" }
}

// MARK: - Collecting

/// Collects what a copy finds, with equal findings of one property as one.
final class FindingCollector {
  private struct Subject: Hashable {
    let outcome: CoreDataFinding.Outcome
    let entity: String
    let property: String?
    let message: String
  }

  private var places: [Subject: Int] = [:]
  private(set) var all: [CoreDataFinding] = []

  private static let mostKeys = 10

  func note(
    _ outcome: CoreDataFinding.Outcome, _ entity: String, _ property: String?, _ message: String, key: Int64?
  ) {
    let subject = Subject(outcome: outcome, entity: entity, property: property, message: message)
    guard let place = places[subject] else {
      places[subject] = all.count
      all.append(
        CoreDataFinding(
          outcome: outcome, entity: entity, property: property, message: message, count: 1,
          firstKeys: key.map { [$0] } ?? []))
      return
    }
    all[place].count += 1
    if let key, all[place].firstKeys.count < Self.mostKeys { all[place].firstKeys.append(key) }
  }
}
