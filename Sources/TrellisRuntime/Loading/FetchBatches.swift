/// The batches of a context by number.
struct FetchBatches {
  private var byNumber: [UInt32: FetchBatch] = [:]
  private var lastNumber: UInt32 = 0
  /// What the batches hold, in keys; each counts as a few more for itself.
  private var weight = 0
  /// At which weight it pays to look for batches that nobody needs.
  private var threshold = FetchBatches.leastThreshold

  private static let leastThreshold = 8_192
  private static let batchWeight = 16

  subscript(number: UInt32) -> FetchBatch? { number == 0 ? nil : byNumber[number] }

  /// A number for a batch that is about to be filled.
  ///
  /// A context that fetches the same few objects again and again has no reason to sweep, yet each fetch leaves a batch; so
  /// those that nobody needs are dropped when there are twice as many as were needed before.
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

  /// Drops the batches of which no object is left.
  mutating func removeUnused(in map: borrowing IdentityMap) {
    if byNumber.isEmpty { return }
    var used: Set<UInt32> = []
    var last: UInt32 = 0
    // Neighbouring keys mostly came together.
    map.forEach { object in
      if object.batch != last { used.insert(object.batch) }
      last = object.batch
    }
    byNumber = byNumber.filter { used.contains($0.key) }
    weight = byNumber.reduce(0) { $0 + Self.batchWeight + $1.value.keys.count }
  }
}
