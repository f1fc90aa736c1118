package import TrellisModel

/// The names of a file's tables, with what it keeps beside the rows.
package final class SQLiteLayout: TableLayout, @unchecked Sendable {
  /// The full-text tables that queries may use.
  package let search: SearchPlan
  /// The columns of stored derived attributes that queries may use.
  package let derived: DerivedPlan

  package init(
    _ model: Model, search: SearchPlan = SearchPlan(), derived: DerivedPlan = DerivedPlan(), isPast: Bool = false
  ) {
    self.search = search
    self.derived = derived
    super.init(model, isPast: isPast, names: SQLNames(), dialect: .sqlite)
  }

  /// Whether a stored derived attribute at a path's end is read from its column, rather than computed.
  ///
  /// The object at the end of a to-one may be missing. Then its count of members is 0, but its column would be nil.
  func readsDerivedColumn(at path: PropertyPath) -> Bool { !derived.isEmpty && path.onlyStep != nil }
}

extension SQLDialect {
  /// CROSS JOIN fixes the order of the loops: keys outside, rows inside.
  package static let sqlite = SQLDialect(
    list: { "trellis_values(\($0)) AS k" }, onlyMarker: "?", marker: "?", join: "CROSS JOIN", integer: "",
    replacingNull: "ifnull", nullsFirst: "", namesIndexes: true, limitsInside: true)
}
