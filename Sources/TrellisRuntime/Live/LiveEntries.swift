import TrellisQuery
import TrellisSchema

/// The results of a request in their order, with what they are sorted by.
struct LiveEntries {
  private(set) var rows = LiveRows()
  /// What each is sorted by, to find its place.
  private var known: [Int64: [StoredValue]] = [:]

  mutating func append(_ key: Int64, _ values: [StoredValue]) {
    rows.append(key, values)
    known[key] = values
  }

  var count: Int { rows.count }

  func contains(_ key: Int64) -> Bool { known[key] != nil }

  /// What a result is sorted by; nil for what is none.
  func values(of key: Int64) -> [StoredValue]? { known[key] }

  /// Where an entry belongs, or is.
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
