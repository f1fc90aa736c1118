import TrellisQuery
import TrellisSchema

/// The results of a request in their order, with what they are sorted by.
struct LiveEntries {
  private(set) var keys: [Int64] = []
  /// What each is sorted by.
  private(set) var values: [[StoredValue]] = []
  /// The keys again, to know at once who is none of them.
  private var members: Set<Int64> = []

  mutating func append(_ key: Int64, _ values: [StoredValue]) {
    keys.append(key)
    self.values.append(values)
    members.insert(key)
  }

  var count: Int { keys.count }

  func contains(_ key: Int64) -> Bool { members.contains(key) }

  /// - Complexity: linear for a result, constant for what is none.
  func place(of key: Int64) -> Int? { members.contains(key) ? keys.firstIndex(of: key) : nil }

  /// Where an entry belongs.
  ///
  /// - Complexity: logarithmic.
  func place(for key: Int64, _ wanted: [StoredValue], _ order: SortOrder) -> Int {
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low + high) / 2
      if order.order(values[middle], keys[middle], wanted, key) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  mutating func insert(_ key: Int64, _ wanted: [StoredValue], at place: Int) {
    keys.insert(key, at: place)
    values.insert(wanted, at: place)
    members.insert(key)
  }

  mutating func remove(at place: Int) {
    members.remove(keys.remove(at: place))
    values.remove(at: place)
  }

  mutating func setValues(_ wanted: [StoredValue], at place: Int) { values[place] = wanted }
}
