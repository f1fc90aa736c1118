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

// MARK: - Mixed keys

/// What is known of many keys in no order, such as those of an ordered to-many.
///
/// A set of them costs as much as ``mostPasses`` passes over them, so it is made after so many. Keys of new objects are
/// the greatest and need neither.
final class MixedKeys {
  // Only the methods access the fields, and none calls other code while it does.

  /// No key is greater.
  @exclusivity(unchecked) private var greatest: Int64
  @exclusivity(unchecked) private var passes = 0
  @exclusivity(unchecked) private var set: Set<Int64>?

  private static let mostPasses = 32

  init(greatest: Int64) { self.greatest = greatest }

  /// Whether a key is among the keys; nil if only a pass over them can tell.
  func contains(_ key: Int64) -> Bool? {
    key > greatest ? false : set?.contains(key)
  }

  /// Counts a pass over the keys.
  func notePass(over keys: ContiguousArray<Int64>) {
    passes += 1
    if passes > Self.mostPasses { set = Set(keys) }
  }

  func insert(_ key: Int64) {
    greatest = max(greatest, key)
    set?.insert(key)
  }

  func remove(_ key: Int64) { set?.remove(key) }

  /// Forgets the set: some of its keys were removed.
  func forgetSet() { set = nil }
}

// MARK: - Filter

/// A few bits of each key of a set, which tell of most other keys that they are not in it, without hashing them.
struct KeyFilter {
  private var words: [UInt64]
  /// Selects the bits of a key that are looked at.
  private let mask: UInt64

  /// The number of bits for each key: one in so many other keys is not told apart.
  private static let bitsForKey = 8

  init(_ keys: Set<Int64>) {
    var bits = UInt64(UInt64.bitWidth)
    while bits < UInt64(keys.count) * UInt64(Self.bitsForKey) { bits *= 2 }
    mask = bits - 1
    words = [UInt64](repeating: 0, count: Int(bits) / UInt64.bitWidth)
    for key in keys {
      let place = UInt64(bitPattern: key) & mask
      words[Int(place >> 6)] |= 1 &<< (place & 63)
    }
  }

  /// Whether a key may be in the set. If not, it is not.
  @inline(__always) func mayContain(_ key: Int64) -> Bool {
    let place = UInt64(bitPattern: key) & mask
    return words[Int(place >> 6)] & (1 &<< (place & 63)) != 0
  }
}
