/// The batches of a context by number.
struct FetchBatches {
  private var byNumber: [UInt32: FetchBatch] = [:]
  private var lastNumber: UInt32 = 0
  /// The number of keys in all batches, plus a constant for each batch.
  private var weight = 0
  /// The weight above which unused batches are removed.
  private var threshold = FetchBatches.leastThreshold

  private static let leastThreshold = 8_192
  private static let batchWeight = 16

  subscript(number: UInt32) -> FetchBatch? { number == 0 ? nil : byNumber[number] }

  /// Adds a batch that is about to be filled, and returns its number.
  ///
  /// A context that fetches the same few objects repeatedly has no reason to sweep, yet each fetch leaves a batch.
  /// Unused batches are therefore removed when there are twice as many as were in use before.
  mutating func add(_ batch: FetchBatch, keeping map: borrowing IdentityMap) -> UInt32 {
    weight += Self.batchWeight + (byNumber[lastNumber]?.keys.count ?? 0)
    if weight > threshold {
      removeUnused(in: map)
      threshold = max(Self.leastThreshold, 2 * weight, weight + map.count)
    }
    repeat { lastNumber &+= 1 } while lastNumber == 0 || byNumber[lastNumber] != nil
    byNumber[lastNumber] = batch
    return lastNumber
  }

  var count: Int { byNumber.count }

  mutating func remove(_ number: UInt32) { byNumber[number] = nil }

  /// Removes the batches without any object in memory.
  mutating func removeUnused(in map: borrowing IdentityMap) {
    if byNumber.isEmpty { return }
    var used: Set<UInt32> = []
    var last: UInt32 = 0
    // Objects with neighbouring keys mostly came in one batch.
    map.forEach { object in
      if object.batch != last { used.insert(object.batch) }
      last = object.batch
    }
    byNumber = byNumber.filter { used.contains($0.key) }
    weight = byNumber.reduce(0) { $0 + Self.batchWeight + $1.value.keys.count }
  }
}
