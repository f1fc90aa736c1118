/// What databases write in different ways in statements that are the same otherwise.
///
/// Its parts are values, which a statement takes up when it is made. A statement that runs asks nothing of it.
package struct SQLDialect: Sendable {
  /// Rows `k` for the keys of a list, with the columns `value` and `rowid`, from the marker of the parameter with the list.
  let list: @Sendable (_ marker: String) -> String
  /// The marker of the only parameter, and what precedes the number of one of several.
  let onlyMarker: String
  let marker: String
  /// A join whose left side has few rows.
  let join: String
  /// What follows an integer for it to have the type of a key.
  let integer: String
  /// The function that replaces null.
  let replacingNull: String
  /// What follows a sort key for null to come first.
  let nullsFirst: String
  /// Whether statements name the index that finds the members of each owner, and have the order of its rows.
  let namesIndexes: Bool
  /// Whether a parameter limits the rows of a count and of a recursive query where they are found.
  let limitsInside: Bool

  package init(
    list: @escaping @Sendable (_ marker: String) -> String, onlyMarker: String, marker: String, join: String,
    integer: String, replacingNull: String, nullsFirst: String, namesIndexes: Bool, limitsInside: Bool
  ) {
    self.list = list
    self.onlyMarker = onlyMarker
    self.marker = marker
    self.join = join
    self.integer = integer
    self.replacingNull = replacingNull
    self.nullsFirst = nullsFirst
    self.namesIndexes = namesIndexes
    self.limitsInside = limitsInside
  }
}
