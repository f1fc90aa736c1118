import TrellisQuery
import TrellisSchema
import TrellisStorage

/// A walk through an ordered index that visits a request's rows in their sort order, so that no sorting is needed and
/// the walk ends at the limit.
///
/// The predicate must fix values for the index's first columns. The sort keys are all columns after them, either in the
/// index's directions or all reversed.
struct IndexWalk {
  let index: Layout.OrderedIndex
  private let entries: OrderedMap<IndexEntry, Void>
  private let prefix: [StoredValue]
  private let isBackward: Bool

  /// The walk for a request. Nil if there is none.
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

  /// The columns of the sort keys. Nil if a sort key compares differently than an index.
  private static func columns(of sort: [SortKey], _ entity: Entity) -> [(column: Int, isDescending: Bool)]? {
    var columns: [(column: Int, isDescending: Bool)] = []
    for key in sort {
      guard key.options.isEmpty, key.query == nil, key.path.variable == 0, let step = key.path.onlyStep,
        entity.properties.indices.contains(step), let column = entity.properties[step].column,
        // The index contains the keys of dangling references, which read as nil.
        entity.properties[step].relationship?.isLeftAlone != true,
        key.kind == Layout.kind(of: column, entity)
      else { return nil }
      columns.append((column, key.isDescending))
    }
    return columns
  }

  /// Visits the keys of the rows in order until `body` returns false.
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
