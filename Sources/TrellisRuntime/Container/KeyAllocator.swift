import Synchronization
import TrellisSchema
import TrellisStorage

/// Gives contexts blocks of keys from what the store has reserved for this container.
///
/// Taking a block is one atomic addition. The first reservation is so large that it lasts; should a program ever use it up,
/// the store is asked for more, under a lock.
final class KeyAllocator: Sendable {
  private let store: any Store
  private let first: Range<Int64>
  private let next: Atomic<Int64>
  /// What is left of a later reservation.
  private let later = Locked<Range<Int64>>(0..<0)
  /// Keys of objects that can never be saved, above all that a store gives out; no other object has such a key.
  private let unsaveable = Atomic(firstUnsaveable)
  private static let firstUnsaveable: Int64 = .max - (1 << 40)

  init(_ store: any Store) throws {
    self.store = store
    first = try store.reserveKeys(KeyReservation.size)
    next = Atomic(first.lowerBound)
  }

  deinit { giveBackUnused() }

  /// Gives the keys of which no block was taken back to the store. Blocks that are taken afterwards need a new reservation.
  func giveBackUnused() {
    let used = next.exchange(first.upperBound, ordering: .acquiringAndReleasing)
    if used < first.upperBound { store.returnKeys(used..<first.upperBound) }
  }

  /// A block of keys that nobody else gets.
  func takeBlock(_ count: Int64, onFailure report: (ContextError) -> Void) -> Range<Int64> {
    let start = next.add(count, ordering: .acquiringAndReleasing).oldValue
    if start <= first.upperBound - count { return start..<(start + count) }
    return takeLater(count, onFailure: report)
  }

  private func takeLater(_ count: Int64, onFailure report: (ContextError) -> Void) -> Range<Int64> {
    do {
      return try later.withLock { left in
        if left.count < count { left = try store.reserveKeys(KeyReservation.size) }
        guard left.count >= count else { throw KeyReservation.exhausted(store.name) }
        let block = left.lowerBound..<(left.lowerBound + count)
        left = block.upperBound..<left.upperBound
        return block
      }
    } catch {
      report(ContextError(.loadFailed, "No keys could be reserved for new objects.", cause: error))
      // One at a time: the next object may get a key of the store's again.
      let key = unsaveable.add(1, ordering: .relaxed).oldValue
      return key..<(key + 1)
    }
  }

  /// Refuses objects that were made while no keys could be reserved.
  ///
  /// - Throws: ``StoreError``.
  func check(_ inserted: ContiguousArray<ManagedObject>) throws(StoreError) {
    guard unsaveable.load(ordering: .relaxed) > Self.firstUnsaveable else { return }
    guard inserted.contains(where: { $0.phase == .inserted && $0._key >= Self.firstUnsaveable }) else { return }
    throw StoreError(
      .limit, "There are new objects that were made while \(store.name) gave out no keys, so they cannot be saved.",
      remedy: "Roll back, and make them again.")
  }
}
