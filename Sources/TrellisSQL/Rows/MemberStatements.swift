import TrellisSchema

/// The statements that read the members of a relationship for many owners.
///
/// Each statement has one parameter, the list of owners, and returns rows in the order of the list, then by position,
/// then by key. CROSS JOIN fixes the loops and INDEXED BY names the index, so that this order needs no sorting.
package struct MemberStatements {
  private let layout: TableLayout
  private let relationship: Relationship
  /// The entity at the other end.
  package let destination: Int
  private let source: Source

  private enum Source {
    /// The reference in the owner's row.
    case reference(owner: Int, column: String)
    /// The references in the members' rows, with the position column. The index contains both.
    case members(column: String, order: String?, index: String)
    case pairs(JoinTable, isFirst: Bool)
  }

  /// Creates the statements. Nil for a transient relationship.
  package init?(_ layout: TableLayout, entity: Int, property: Int) {
    guard let relationship = layout.relationship(entity, property) else { return nil }
    self.layout = layout
    self.relationship = relationship
    destination = relationship.destination
    switch relationship.home {
    case .column(let number, _):
      guard let column = layout.column(number, of: entity) else { return nil }
      if relationship.isOwnInverse {
        // Both partners have the reference, so the partner is found like the other end of any one-to-one.
        let declaring = layout.model.entities[relationship.entity]
        let index = SQLName.quoted(IndexPlan.referenceName(declaring, relationship.index))
        source = .members(column: column, order: nil, index: index)
      } else {
        source = .reference(owner: entity, column: column)
      }
    case .inverseColumn:
      guard let inverse = layout.model.inverse(of: relationship), case .column(let number, let order) = inverse.home,
        let column = layout.column(number, of: relationship.destination)
      else { return nil }
      let declaring = layout.model.entities[inverse.entity]
      source = .members(
        column: column, order: order.flatMap { layout.column($0, of: relationship.destination) },
        index: SQLName.quoted(IndexPlan.referenceName(declaring, inverse.index)))
    case .joinTable(let number, let isFirst):
      source = .pairs(layout.model.joinTables[number], isFirst: isFirst)
    case .transient: return nil
    }
  }

  /// Selects the owner, then the member's row.
  package var rows: String {
    let table = layout.tables[destination]
    let selection = "SELECT k.value, \(table.selection("t")) FROM trellis_values(?) AS k "
    switch source {
    case .reference(let owner, let column):
      return selection + "CROSS JOIN \(layout.tables[owner].name) AS o ON o.\(SQLName.id) = k.value "
        + "CROSS JOIN \(table.name) AS t ON t.\(SQLName.id) = o.\(column)"
    case .members(let column, _, let index):
      return selection + "CROSS JOIN \(table.name) AS t INDEXED BY \(index) ON t.\(column) = k.value"
    case .pairs(let join, let isFirst):
      return selection + pairs(join, isFirst)
        + "CROSS JOIN \(table.name) AS t ON t.\(SQLName.id) = j.\(memberColumn(join, isFirst))"
        + pairOrder(join, isFirst)
    }
  }

  /// Selects the owner, the member's key and its position.
  package var keys: String {
    switch source {
    case .reference(let owner, let column):
      return "SELECT k.value, t.\(SQLName.id), 0 FROM trellis_values(?) AS k "
        + "CROSS JOIN \(layout.tables[owner].name) AS o ON o.\(SQLName.id) = k.value "
        + "CROSS JOIN \(layout.tables[destination].name) AS t ON t.\(SQLName.id) = o.\(column)"
    case .members(let column, let order, let index):
      return "SELECT k.value, t.\(SQLName.id), \(order.map { "ifnull(t.\($0), 0)" } ?? "0") "
        + "FROM trellis_values(?) AS k CROSS JOIN \(layout.tables[destination].name) AS t "
        + "INDEXED BY \(index) ON t.\(column) = k.value"
    case .pairs(let join, let isFirst):
      let member = memberColumn(join, isFirst)
      return "SELECT k.value, j.\(member), \(orderColumn(join, isFirst).map { "ifnull(j.\($0), 0)" } ?? "0") "
        + "FROM trellis_values(?) AS k " + pairs(join, isFirst) + pairOrder(join, isFirst)
    }
  }

  /// Selects the owner and its greatest position. Nil if the relationship is not ordered.
  package var lastPlaces: String? {
    switch source {
    case .reference: return nil
    case .members(let column, let order, let index):
      guard let order else { return nil }
      return "SELECT k.value, max(t.\(order)) FROM trellis_values(?) AS k "
        + "CROSS JOIN \(layout.tables[destination].name) AS t INDEXED BY \(index) ON t.\(column) = k.value GROUP BY k.value"
    case .pairs(let join, let isFirst):
      guard let order = orderColumn(join, isFirst) else { return nil }
      return "SELECT k.value, max(j.\(order)) FROM trellis_values(?) AS k " + pairs(join, isFirst) + "GROUP BY k.value"
    }
  }

  /// Selects the owner and the number of members, for owners that exist. Parameters: the list of owners, and the number
  /// at which counting stops. Nil if the reference is in the owner's own row.
  package var counts: String? {
    let members: String
    switch source {
    case .reference: return nil
    case .members(let column, _, let index):
      members = "FROM \(layout.tables[destination].name) AS t INDEXED BY \(index) WHERE t.\(column) = k.value"
    case .pairs(let join, let isFirst):
      let index = isFirst ? "" : " INDEXED BY \(SQLName.quoted(JoinNames.reversedIndex(join)))"
      members =
        "FROM \(SQLName.quoted(join.name)) AS j\(index) WHERE j.\(ownerColumn(join, isFirst)) = k.value"
    }
    return "SELECT k.value, (SELECT count(*) FROM (SELECT 1 \(members) LIMIT ?2)) FROM trellis_values(?1) AS k "
      + "CROSS JOIN \(layout.tables[relationship.entity].name) AS o ON o.\(SQLName.id) = k.value"
  }

  /// Selects the owners of some members. Nil if the relationship has no join table.
  package var owners: String? {
    guard case .pairs(let join, let isFirst) = source else { return nil }
    let index = isFirst ? " INDEXED BY \(SQLName.quoted(JoinNames.reversedIndex(join)))" : ""
    return "SELECT j.\(ownerColumn(join, isFirst)) FROM trellis_values(?) AS k CROSS JOIN \(SQLName.quoted(join.name)) "
      + "AS j\(index) ON j.\(memberColumn(join, isFirst)) = k.value"
  }

  // MARK: Pairs

  private func ownerColumn(_ join: JoinTable, _ isFirst: Bool) -> String {
    SQLName.quoted(isFirst ? join.first.column : join.partnerColumn)
  }

  private func memberColumn(_ join: JoinTable, _ isFirst: Bool) -> String {
    SQLName.quoted(isFirst ? join.partnerColumn : join.first.column)
  }

  private func orderColumn(_ join: JoinTable, _ isFirst: Bool) -> String? {
    (isFirst ? join.first.orderColumn : join.second?.orderColumn).map(SQLName.quoted)
  }

  private func pairs(_ join: JoinTable, _ isFirst: Bool) -> String {
    let index = isFirst ? "" : "INDEXED BY \(SQLName.quoted(JoinNames.reversedIndex(join))) "
    return "CROSS JOIN \(SQLName.quoted(join.name)) AS j \(index)ON j.\(ownerColumn(join, isFirst)) = k.value "
  }

  /// Neither key of a join table contains positions, so ordered members are sorted.
  private func pairOrder(_ join: JoinTable, _ isFirst: Bool) -> String {
    guard let order = orderColumn(join, isFirst) else { return "" }
    return " ORDER BY k.rowid, j.\(order), j.\(memberColumn(join, isFirst))"
  }
}
