public import Foundation
import TrellisStorage

/// The values of an object between two transactions.
public struct ObjectVersion<Values: Sendable>: Sendable {
  /// The moment after the transaction that gave the object these values; nil if the history does not reach back that far.
  public let token: HistoryToken?
  /// The author of that transaction.
  public let author: String?
  /// The values; nil if the object was deleted.
  public let values: Values?

  /// The time of the transaction.
  public var date: Date? { token.map { Date(timeIntervalSince1970: Double($0.position.time) / 1_000_000) } }
}

extension ObjectVersion: CustomStringConvertible {
  /// The transaction and its author, and whether the object was deleted, without the values.
  public var description: String {
    let moment = token.map { "version of transaction \($0.transaction)" } ?? "version of before the history"
    return moment + (author.map { " by \($0)" } ?? "") + (values == nil ? ": deleted" : "")
  }
}

/// Makes versions of the former rows of an object.
struct VersionReading<Values: Sendable> {
  private var rows: [(until: Int64?, values: Values?)] = []

  mutating func add(until: Int64?, _ values: Values?) { rows.append((until, values)) }

  func versions(_ connection: any HistoryConnection) throws -> [ObjectVersion<Values>] {
    var rows = rows
    // Without a present row, the last transaction has deleted the object.
    if let last = rows.last, last.until != nil { rows.append((nil, nil)) }
    var versions: [ObjectVersion<Values>] = []
    var start: Int64?
    for row in rows {
      defer { start = row.until }
      // Before its insertion, there is no version of the object.
      if versions.isEmpty && row.values == nil { continue }
      let entry = try start.flatMap { try connection.entry(number: $0) }
      versions.append(
        ObjectVersion(token: entry.map { HistoryToken($0.position) }, author: entry?.author, values: row.values))
    }
    return versions
  }
}
