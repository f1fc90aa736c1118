/// The batches of a context by number.
struct FetchBatches {
  private var byNumber: [UInt32: FetchBatch] = [:]
  private var lastNumber: UInt32 = 0

  subscript(number: UInt32) -> FetchBatch? { number == 0 ? nil : byNumber[number] }

  /// A number for a batch that is about to be filled.
  mutating func add(_ batch: FetchBatch) -> UInt32 {
    repeat { lastNumber &+= 1 } while lastNumber == 0 || byNumber[lastNumber] != nil
    byNumber[lastNumber] = batch
    return lastNumber
  }

  mutating func remove(_ number: UInt32) { byNumber[number] = nil }

  /// Drops the batches of which no object is left.
  mutating func removeUnused(in map: borrowing IdentityMap) {
    var used: Set<UInt32> = []
    map.forEach { used.insert($0.batch) }
    byNumber = byNumber.filter { used.contains($0.key) }
  }
}
