package import TrellisForeignFiles

extension ForeignValue {
  /// The kind in sentences: `a text`.
  var kind: String {
    switch self {
    case .null: "no value"
    case .integer: "an integer"
    case .real: "a real"
    case .text: "a text"
    case .unsound: "a text that is no UTF-8"
    case .blob: "bytes"
    }
  }
}

/// What tells a row from all others of its table: its number, or the values of its key.
package enum RowIdentity: Hashable, Sendable, CustomStringConvertible {
  case number(Int64)
  case values([ForeignValue])

  /// The identity in messages: `#7`, or the values of the key.
  package var description: String {
    switch self {
    case .number(let number): "#\(number)"
    case .values(let values): "(" + values.map(Self.text).joined(separator: ", ") + ")"
    }
  }

  private static func text(_ value: ForeignValue) -> String {
    switch value {
    case .null: "null"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let value): String(value.prefix(60))
    case .unsound: "?"
    case .blob(let bytes): "x'" + bytes.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }
  }
}

/// A row that is passed during a query.
package struct SourceRow: Sendable {
  package var identity: RowIdentity
  /// The values of the columns that were asked for.
  package var values: [ForeignValue]
  /// The rows that the references lead to; nil for one that is null or leads nowhere.
  package var targets: [RowIdentity?]

  package init(_ identity: RowIdentity, values: [ForeignValue], targets: [RowIdentity?]) {
    self.identity = identity
    self.values = values
    self.targets = targets
  }
}

/// A question for the rows of a table.
package struct RowQuery: Sendable {
  package var table: String
  package var columns: [String]
  package var references: [SourceForeignKey]

  package init(_ table: String, columns: [String] = [], references: [SourceForeignKey] = []) {
    self.table = table
    self.columns = columns
    self.references = references
  }
}

/// A database at one moment: its schema, and its rows as often as they are asked for. Used by one thread at a time.
package protocol AdoptionSource: AnyObject {
  /// The database in messages.
  var place: String { get }
  /// Reads the schema.
  ///
  /// - Parameter sample: the most rows of each table that are looked at.
  /// - Throws: ``AdoptionError``.
  func schema(sample: Int) throws -> SourceSchema
  /// Passes rows in an order that stays the same from one call to the next.
  ///
  /// - Throws: ``AdoptionError``, or errors of `body`.
  func rows(_ query: RowQuery, _ body: (SourceRow) throws -> Void) throws
}
