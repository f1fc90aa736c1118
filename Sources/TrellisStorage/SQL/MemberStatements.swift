import TrellisModel

/// The statements that read the members of a relationship for many owners.
///
/// Unless they say otherwise, they have one parameter, the list of owners, and return rows in the order of the list, then
/// by position, then by key. Where the dialect fixes the loops and names the index, this order needs no sorting.
package struct MemberStatements {
  let layout: TableLayout
  private let relationship: Relationship
  /// The entity at the other end.
  package let destination: Int
  private let home: Home
  /// The table that is searched by owner, with its alias, and the hint of the index for this.
  private let table: String
  private let hint: String
  /// The column with the owner's key, or that of the reference in the owner's row.
  let owner: String
  /// The column with the member's key.
  let member: String
  /// The column with the member's position. Nil if the relationship is not ordered.
  private let place: String?
  /// The hint of the index that finds the owners of members.
  private let memberHint: String

  private enum Home {
    /// The reference is in the owner's row.
    case owner
    /// The references are in the members' rows, with the positions.
    case members
    case pairs
  }

  /// Creates the statements. Nil for a transient relationship.
  package init?(_ layout: TableLayout, entity: Int, property: Int) {
    guard let relationship = layout.relationship(entity, property) else { return nil }
    self.layout = layout
    self.relationship = relationship
    destination = relationship.destination
    func hint(_ index: String) -> String {
      layout.dialect.namesIndexes && !layout.isPast ? " INDEXED BY \(layout.names.identifier(index))" : ""
    }
    if case .joinTable(let number, let isFirst) = relationship.home {
      let join = layout.model.joinTables[number]
      let columns = ["j.\(layout.names.column(join.first.column))", "j.\(layout.names.column(join.partnerColumn))"]
      let reversed = hint(JoinNames.reversedIndex(join))
      home = .pairs
      table = "\(layout.names.table(join.name)) AS j"
      (owner, member) = isFirst ? (columns[0], columns[1]) : (columns[1], columns[0])
      place = (isFirst ? join.first : join.second)?.orderColumn.map { "j.\(layout.names.column($0))" }
      (self.hint, memberHint) = isFirst ? ("", reversed) : (reversed, "")
      return
    }
    // If both partners have the reference, the partner is found like the other end of any one-to-one.
    let reference =
      relationship.isOwnInverse || relationship.isColumn ? relationship : layout.model.inverse(of: relationship)
    let declaring = reference === relationship ? entity : relationship.destination
    guard let reference, case .column(let number, let order) = reference.home,
      let column = layout.column(number, of: declaring)
    else { return nil }
    let isOwners = relationship.isColumn && !relationship.isOwnInverse
    let position =
      isOwners || relationship.isOwnInverse ? nil : order.flatMap { layout.column($0, of: relationship.destination) }
    home = isOwners ? .owner : .members
    table = "\(layout.tables[destination].name) AS t"
    owner = isOwners ? "o.\(column)" : "t.\(column)"
    member = "t.\(SQLName.id)"
    place = position.map { "t.\($0)" }
    self.hint =
      isOwners ? "" : hint(IndexPlan.referenceName(layout.model.entities[reference.entity], reference.index))
    memberHint = ""
  }

  // MARK: Parts

  private var dialect: SQLDialect { layout.dialect }
  /// The marker of the first of several parameters.
  private var first: String { "\(dialect.marker)1" }
  private var target: String { "\(layout.tables[destination].name) AS t" }

  package var isJoined: Bool { home == .pairs }
  /// Whether the members' rows have the reference, and no positions.
  var areUnplacedRows: Bool { home == .members && place == nil }
  /// Whether the members have positions.
  package var hasPlaces: Bool { place != nil }
  /// The table that is searched by owner.
  var searched: String { table + hint }

  /// The rows that owners lead to.
  private func found(by key: String) -> String {
    let join = dialect.join
    if home == .owner {
      let owners = "\(layout.tables[relationship.entity].name) AS o"
      return "\(join) \(owners) ON o.\(SQLName.id) = \(key) \(join) \(target) ON \(member) = \(owner)"
    }
    return "\(join) \(searched) ON \(owner) = \(key)"
  }

  /// Owners with members, and those members.
  private func joined(withRow: Bool) -> String {
    let found = "\(dialect.list(dialect.onlyMarker)) \(found(by: "k.value"))"
    if !isJoined { return found }
    return withRow ? "\(found) \(dialect.join) \(target) ON t.\(SQLName.id) = \(member)" : "\(found) "
  }

  /// The ORDER BY. Rows that are found by an index have its order, but no index of a join table contains positions, and
  /// views have no order.
  private var order: String {
    var owner = "k.rowid"
    if dialect.namesIndexes {
      if home == .owner { return "" }
      if !(isJoined && hasPlaces) {
        guard layout.isPast else { return "" }
        owner = "k.value"
      }
    }
    return " ORDER BY \(owner), \(place.map { "\($0)\(dialect.nullsFirst), " } ?? "")\(member)"
  }

  // MARK: Statements

  /// Selects the owner, then the member's row.
  package var rows: String {
    "SELECT k.value, \(layout.tables[destination].selection("t")) FROM \(joined(withRow: true))\(order)"
  }

  /// Selects the level, then the row, of the objects that owners lead to, level after level. Parameters: the list of
  /// owners, and the number of rows at which it stops. Nil unless the relationship leads from one table to the same, by a
  /// reference in its rows.
  ///
  /// The search goes through all rows of a level before the next, and ends when enough rows were found, also in a ring.
  package var levels: String? {
    let table = layout.tables[destination]
    guard !isJoined, table.name == layout.tables[relationship.entity].name else { return nil }
    let (limit, levels) =
      dialect.limitsInside
      ? (" ORDER BY 1 LIMIT \(dialect.marker)2", "w")
      : ("", "(SELECT w.level, w.node FROM w LIMIT \(dialect.marker)2) AS w")
    return "WITH RECURSIVE w(level, node) AS ("
      + "SELECT 1\(dialect.integer), \(member) FROM \(dialect.list(first)) \(found(by: "k.value")) "
      + "UNION ALL SELECT w.level + 1, \(member) FROM w \(found(by: "w.node"))\(limit)) "
      + "SELECT w.level, \(table.selection("t")) FROM \(levels) \(dialect.join) \(target) ON \(member) = w.node"
  }

  /// Selects the owner, the member's key and its position, which is 0 if the members have none.
  package var keys: String {
    let place = place.map { "\(dialect.replacingNull)(\($0), 0)" } ?? "0\(dialect.integer)"
    return "SELECT k.value, \(member), \(place) FROM \(joined(withRow: false))\(order)"
  }

  /// Selects the owner and its greatest position. Nil if the relationship is not ordered.
  package var lastPlaces: String? {
    guard let place else { return nil }
    return "SELECT k.value, max(\(place)) FROM \(joined(withRow: false))\(isJoined ? "" : " ")GROUP BY k.value"
  }

  /// Selects some members and their positions, which may be null. Parameters: the list of members, and the owner. Nil if
  /// the relationship is not ordered.
  package var places: String? {
    guard let place else { return nil }
    return "SELECT k.value, \(place) FROM \(dialect.list(first)) \(dialect.join) \(table) "
      + "ON \(member) = k.value AND \(owner) = \(dialect.marker)2"
  }

  /// Selects the owner and the number of members, for owners that exist. Parameters: the list of owners, and the number
  /// at which counting stops, if the dialect has one. Nil if the reference is in the owner's own row.
  package var counts: String? { counts(ofList: first) }

  /// The same with another expression for the list of owners.
  package func counts(ofList list: String) -> String? {
    if home == .owner { return nil }
    let members = "FROM \(searched) WHERE \(owner) = k.value"
    let counted = dialect.limitsInside ? "FROM (SELECT 1 \(members) LIMIT \(dialect.marker)2)" : members
    return "SELECT k.value, (SELECT count(*) \(counted)) FROM \(dialect.list(list)) \(dialect.join) "
      + "\(layout.tables[relationship.entity].name) AS o ON o.\(SQLName.id) = k.value"
  }

  /// Selects the owners of some members. Parameter: the list of members. Nil if the relationship has no join table.
  package var owners: String? {
    guard isJoined else { return nil }
    return "SELECT \(owner) FROM \(dialect.list(dialect.onlyMarker)) \(dialect.join) \(table)\(memberHint) "
      + "ON \(member) = k.value"
  }
}
