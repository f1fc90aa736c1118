/// A set of keys that mostly has few elements, such as those of the objects that one delete deletes.
///
/// A few keys are searched one by one, which costs less than to hash them and to allocate and grow a hash table.
struct KeySet: Sequence {
  /// All keys, in the order of their insertion, until there are too many; empty from then on.
  private var few: ContiguousArray<Int64> = []
  private var many: Set<Int64> = []

  private static let greatestFew = 8

  init() {}

  init(_ keys: Set<Int64>) {
    if keys.count <= Self.greatestFew { few.append(contentsOf: keys) } else { many = keys }
  }

  /// Whether a key is in the set.
  ///
  /// - Complexity: O(1)
  func contains(_ key: Int64) -> Bool {
    many.isEmpty ? few.contains(key) : many.contains(key)
  }

  /// Inserts a key.
  ///
  /// - Returns: whether the set did not have it.
  mutating func insert(_ key: Int64) -> Bool {
    if !many.isEmpty { return many.insert(key).inserted }
    if few.contains(key) { return false }
    if few.count < Self.greatestFew {
      if few.isEmpty { few.reserveCapacity(Self.greatestFew) }
      few.append(key)
    } else {
      // The reserved space stays.
      many.formUnion(few)
      many.insert(key)
      few = []
    }
    return true
  }

  /// Reserves space for keys that are about to be inserted.
  mutating func reserve(_ count: Int) {
    if many.count + few.count + count > Self.greatestFew { many.reserveCapacity(many.count + few.count + count) }
  }

  /// Removes keys.
  mutating func subtract(_ keys: Set<Int64>) {
    few.removeAll(where: keys.contains)
    many.subtract(keys)
  }

  /// Whether no key is in another set, too.
  func isDisjoint(with other: Set<Int64>) -> Bool {
    many.isEmpty ? !few.contains(where: other.contains) : many.isDisjoint(with: other)
  }

  /// The keys, in no particular order.
  func makeIterator() -> AnyIterator<Int64> {
    if many.isEmpty { return AnyIterator(few.makeIterator()) }
    return AnyIterator(many.makeIterator())
  }
}
