package import TrellisSchema

/// The statements that write the rows of a join table.
package struct PairStatements {
  private let table: JoinTable
  private let name: String
  private let first: String
  private let partner: String

  package init(_ table: JoinTable) {
    self.table = table
    name = SQLName.quoted(table.name)
    first = SQLName.quoted(table.first.column)
    partner = SQLName.quoted(table.partnerColumn)
  }

  /// Whether the table has a position column for each end.
  package var hasPlace: Bool { table.first.orderColumn != nil }
  package var hasInversePlace: Bool { table.second?.orderColumn != nil }

  private var orderColumns: [String] {
    [table.first.orderColumn, table.second?.orderColumn].compactMap(\.self).map(SQLName.quoted)
  }

  /// Parameters: both keys, then the positions that the table has.
  package var insert: String {
    let names = [first, partner] + orderColumns
    let values = names.map { _ in "?" }.joined(separator: ", ")
    // A row that another writer has inserted in the meantime is equivalent.
    return "INSERT INTO \(name) (\(names.joined(separator: ", "))) VALUES (\(values)) ON CONFLICT DO NOTHING"
  }

  /// Parameters: both keys.
  package var delete: String { "DELETE FROM \(name) WHERE \(first) = ? AND \(partner) = ?" }

  /// Parameters: the positions that the table has (null leaves one unchanged), then both keys. Nil if the table has
  /// none.
  package var move: String? {
    let columns = orderColumns
    guard !columns.isEmpty else { return nil }
    let assignments = columns.map { "\($0) = coalesce(?, \($0))" }.joined(separator: ", ")
    return "UPDATE \(name) SET \(assignments) WHERE \(first) = ? AND \(partner) = ?"
  }

  /// Parameter: the list of keys to delete the rows of.
  package func deleteAll(ofFirst isFirst: Bool) -> String {
    "DELETE FROM \(name) WHERE \(isFirst ? first : partner) IN \(ListParameter.values)"
  }
}
