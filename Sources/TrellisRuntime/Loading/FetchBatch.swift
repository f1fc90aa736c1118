/// The objects of one fetch. A lazy load for one of them is made for its siblings, too.
final class FetchBatch {
  // Only the methods below access the fields, and none calls other code while it does: accesses cannot overlap, so they
  // are not checked.
  @exclusivity(unchecked) private(set) var keys: ContiguousArray<Int64> = []
  /// The rule for lazy loads of the relationships of its objects.
  var lazyLoading = LazyLoading.allowed
  /// The relationship through which its objects were loaded, and the batch of its owners; nil for the results of a
  /// request.
  var cameBy: (batch: UInt32, relationship: RelationshipInfo)?
  /// The position where the last search ended: accesses mostly go through a batch from front to end.
  private var cursor = 0
  /// The number of siblings that the next load of each relationship includes.
  private var windows: [(property: Int, size: Int)] = []

  /// The first load includes few siblings, in case a loop ends early; each further one includes four times as many.
  private static let firstWindow = 256
  private static let growth = 4
  private static let largestWindow = 1 << 16

  func append(_ key: Int64) { keys.append(key) }

  /// The keys, from an object's position on, for which its relationship is loaded.
  func siblings(from key: Int64, property: Int) -> ArraySlice<Int64> {
    guard let start = position(of: key) else { return [key] }
    return ArraySlice(keys[start..<min(keys.count, start + nextWindow(property))])
  }

  private func nextWindow(_ property: Int) -> Int {
    for index in windows.indices where windows[index].property == property {
      windows[index].size = min(windows[index].size * Self.growth, Self.largestWindow)
      return windows[index].size
    }
    windows.append((property, Self.firstWindow))
    return Self.firstWindow
  }

  private func position(of key: Int64) -> Int? {
    for (range) in [cursor..<keys.count, 0..<min(cursor, keys.count)] {
      if let found = keys[range].firstIndex(of: key) {
        cursor = found
        return found
      }
    }
    return nil
  }
}
