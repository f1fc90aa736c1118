import Synchronization
import TrellisSchema
import TrellisStorage

/// Gives contexts blocks of keys from what the store has reserved for this container.
///
/// Taking a block is one atomic addition. The first reservation is so large that it lasts; should a program ever use it up,
/// the store is asked for more, under a lock.
final class KeyAllocator: Sendable {
  /// Four thousand million keys: enough that inserting never has to ask the store, and 2³¹ openings fit into 63 bits.
  private static let reserved: Int64 = 1 << 32

  private let store: any Store
  private let first: Range<Int64>
  private let next: Atomic<Int64>
  /// What is left of a later reservation.
  private let later = Locked<Range<Int64>>(0..<0)

  init(_ store: any Store) throws {
    self.store = store
    first = try store.reserveKeys(Self.reserved)
    next = Atomic(first.lowerBound)
  }

  deinit { giveBackUnused() }

  /// Gives the keys of which no block was taken back to the store. Blocks that are taken afterwards need a new reservation.
  func giveBackUnused() {
    let used = next.exchange(first.upperBound, ordering: .acquiringAndReleasing)
    if used < first.upperBound { store.returnKeys(used..<first.upperBound) }
  }

  /// A block of keys that nobody else gets.
  func takeBlock(_ count: Int64, onFailure report: (GraphProblem) -> Void) -> Range<Int64> {
    let start = next.add(count, ordering: .acquiringAndReleasing).oldValue
    if start <= first.upperBound - count { return start..<(start + count) }
    return takeLater(count, onFailure: report)
  }

  private func takeLater(_ count: Int64, onFailure report: (GraphProblem) -> Void) -> Range<Int64> {
    do {
      return try later.withLock { left in
        if left.count < count { left = try store.reserveKeys(Self.reserved) }
        let block = left.lowerBound..<(left.lowerBound + count)
        left = block.upperBound..<left.upperBound
        return block
      }
    } catch {
      report(GraphProblem(.loadFailed, "No keys could be reserved for new objects.", cause: error))
      // The objects get keys that no store takes; the next save throws what was reported.
      return Int64.min..<(Int64.min + count)
    }
  }
}
