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
    if byNumber.isEmpty { return }
    var used: Set<UInt32> = []
    var last: UInt32 = 0
    // Neighbouring keys mostly came together.
    map.forEach { object in
      if object.batch != last { used.insert(object.batch) }
      last = object.batch
    }
    byNumber = byNumber.filter { used.contains($0.key) }
  }
}
