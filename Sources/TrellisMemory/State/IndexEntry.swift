import TrellisQuery
import TrellisSchema

/// The order of an index: each column by its kind and direction, then equal rows by key in the direction of the last
/// column, like a fetch that is sorted by these columns.
final class IndexShape: Sendable {
  let columns: [Int]
  let kinds: [ValueKind]
  let isDescending: [Bool]

  init(columns: [Int], kinds: [ValueKind], isDescending: [Bool]) {
    self.columns = columns
    self.kinds = kinds
    self.isDescending = isDescending
  }

  var isKeyDescending: Bool { isDescending.last ?? false }

  func entry(_ row: MemoryRow) -> IndexEntry {
    IndexEntry(values: columns.map(row.value), key: row.key, shape: self)
  }

  /// A position before or after all entries that begin with these values.
  func bound(_ prefix: [StoredValue], isBehind: Bool) -> IndexEntry {
    IndexEntry(values: prefix, key: 0, shape: self, bound: isBehind ? 1 : -1)
  }
}

/// A row in an ordered index, or a position between rows.
package struct IndexEntry: Comparable, Sendable {
  let values: [StoredValue]
  let key: Int64
  let shape: IndexShape
  /// Negative for a position before all entries that begin with these values, positive for one after them.
  var bound: Int8 = 0

  package static func < (left: IndexEntry, right: IndexEntry) -> Bool { left.order(to: right) < 0 }
  package static func == (left: IndexEntry, right: IndexEntry) -> Bool { left.order(to: right) == 0 }

  /// Negative if this entry comes first.
  private func order(to other: IndexEntry) -> Int {
    let common = min(values.count, other.values.count)
    let order = order(to: other.values, first: common)
    if order != 0 { return order }
    if bound != 0 || other.bound != 0 { return Int(bound) - Int(other.bound) }
    if key == other.key { return 0 }
    return (key < other.key) != shape.isKeyDescending ? -1 : 1
  }

  private func order(to others: [StoredValue], first count: Int) -> Int {
    for place in 0..<count {
      let order = ValueOrder.compare(values[place], others[place], kind: shape.kinds[place])
      if order != 0 { return shape.isDescending[place] ? -order : order }
    }
    return 0
  }

  /// Whether the row's values begin with these.
  func begins(with prefix: [StoredValue]) -> Bool {
    prefix.count <= values.count && order(to: prefix, first: prefix.count) == 0
  }
}
