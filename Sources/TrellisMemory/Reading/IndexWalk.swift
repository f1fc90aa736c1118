import TrellisQuery
import TrellisSchema
import TrellisStorage

/// A way through an ordered index on which the rows of a request come in its order, so that nothing has to be sorted and
/// going on ends at the limit.
///
/// The index's first columns are those for which the predicate demands a value; the sort goes by all columns behind them,
/// either as the index has them or the other way round.
struct IndexWalk {
  let index: Layout.OrderedIndex
  private let entries: OrderedMap<IndexEntry, Void>
  private let prefix: [StoredValue]
  private let isBackward: Bool

  /// The way for a request; nil when there is none.
  init?(_ request: StoreRequest, _ snapshot: Snapshot, _ entity: Entity) {
    guard let sort = Self.columns(of: request.sort, entity), !sort.isEmpty else { return nil }
    let demands = KeyLookup(snapshot: snapshot, entity: entity).singleValues(request.predicate)
    for index in snapshot.layout.orderedIndexesOf[entity.index] {
      let shape = index.shape
      let bound = shape.columns.count - sort.count
      guard bound >= 0, zip(shape.columns[bound...], sort).allSatisfy({ $0 == $1.column }) else { continue }
      let prefix = shape.columns[..<bound].compactMap { demands[$0] }
      let isSame = zip(shape.isDescending[bound...], sort).map { $0 == $1.isDescending }
      guard prefix.count == bound, isSame.allSatisfy({ $0 == isSame[0] }) else { continue }
      self.index = index
      self.prefix = prefix
      isBackward = !isSame[0]
      entries = snapshot.state.ordered[index.index]
      return
    }
    return nil
  }

  /// The columns by which is sorted, in the order of the index's own comparison; nil when it is another comparison.
  private static func columns(of sort: [SortKey], _ entity: Entity) -> [(column: Int, isDescending: Bool)]? {
    var columns: [(column: Int, isDescending: Bool)] = []
    for key in sort {
      guard key.options.isEmpty, key.query == nil, key.path.variable == 0, let step = key.path.onlyStep,
        entity.properties.indices.contains(step), let column = entity.properties[step].column,
        // The index has the keys of references that read nil.
        entity.properties[step].relationship?.isLeftAlone != true,
        key.kind == Layout.kind(of: column, entity)
      else { return nil }
      columns.append((column, key.isDescending))
    }
    return columns
  }

  /// Goes through the keys of the rows in order until `body` returns false.
  func forEach(_ body: (Int64) throws -> Bool) rethrows {
    func visit(_ entry: IndexEntry) throws -> Bool { try entry.begins(with: prefix) && body(entry.key) }
    let start = index.shape.bound(prefix, isBehind: isBackward)
    if isBackward {
      try entries.forEachBackward(before: start) { entry, _ in try visit(entry) }
    } else {
      try entries.forEach(from: start) { entry, _ in try visit(entry) }
    }
  }
}
