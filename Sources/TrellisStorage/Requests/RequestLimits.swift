import TrellisQuery

extension StoreRequest {
  /// The maximum number of sort keys of a request, in every store.
  ///
  /// SQLite libraries crash on 64 order terms if one of them is of a joined table. The object's key is one more term.
  public static let sortKeyLimit = 60

  /// - Throws: ``StoreError`` with the code `limit` if the request has more sort keys than ``sortKeyLimit``.
  public func checkSortKeys() throws(StoreError) {
    guard sort.count > Self.sortKeyLimit else { return }
    throw StoreError(
      .limit, "A request has \(sort.count) sort keys; \(Self.sortKeyLimit) are the most.",
      remedy: "Sort by fewer properties.")
  }

  package static let tooDeep = StoreError(
    .limit, "The predicate is nested too deep: \(QueryPredicate.depthLimit) levels are the most.",
    remedy: "Put the terms into one list of and, or, or use a list of values with isIn.")
}
