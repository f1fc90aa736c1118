import TrellisQuery
import TrellisSchema

/// The results of a request in order, with their sort values.
struct LiveEntries {
  private(set) var rows = LiveRows()
  /// The sort values of each result by key, to find its position.
  private var known: [Int64: [StoredValue]] = [:]

  mutating func append(_ key: Int64, _ values: [StoredValue]) {
    rows.append(key, values)
    known[key] = values
  }

  var count: Int { rows.count }

  func contains(_ key: Int64) -> Bool { known[key] != nil }

  /// The sort values of a result; nil if the key is not among the results.
  func values(of key: Int64) -> [StoredValue]? { known[key] }

  /// The position of an entry, or the position to insert it at.
  ///
  /// - Complexity: logarithmic, and linear in the number of blocks.
  func place(for key: Int64, _ wanted: [StoredValue], _ order: SortOrder) -> Int {
    rows.place { other, values in order.order(values, other, wanted, key) < 0 }
  }

  mutating func insert(_ key: Int64, _ values: [StoredValue], at place: Int) {
    rows.insert(key, values, at: place)
    known[key] = values
  }

  mutating func remove(at place: Int) { known[rows.remove(at: place)] = nil }

  mutating func setValues(_ values: [StoredValue], of key: Int64, at place: Int) {
    rows.setValues(values, at: place)
    known[key] = values
  }
}
