/// The objects that one fetch brought, so that what is lazily loaded for one is loaded for its siblings too.
final class FetchBatch {
  // Only the methods below touch the fields, and none calls out while it does: nothing can overlap, so nothing is checked.
  @exclusivity(unchecked) private(set) var keys: ContiguousArray<Int64> = []
  /// Whether its objects may load relationships when these are used.
  var lazyLoading = LazyLoading.allowed
  /// The relationship by which its objects were found, and the batch of those that have it; nil for a request's results.
  var cameBy: (batch: UInt32, relationship: RelationshipInfo)?
  /// Where the last search ended: accesses mostly go through a batch from front to end.
  private var cursor = 0
  /// How many siblings the next load of each relationship takes along.
  private var windows: [(property: Int, size: Int)] = []

  /// The first load takes few along, in case the walk ends early; each further one takes four times as many.
  private static let firstWindow = 256
  private static let growth = 4
  private static let largestWindow = 1 << 16

  func append(_ key: Int64) { keys.append(key) }

  /// The keys from an object's place onwards that its relationship is to be loaded for.
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
