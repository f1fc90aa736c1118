import Synchronization

/// A flag that can be set once.
package final class Flag: Sendable {
  private let isSetAlready = Atomic(false)

  package init() {}

  /// Sets the flag; returns whether this call was the first.
  package func set() -> Bool { !isSetAlready.exchange(true, ordering: .acquiringAndReleasing) }

  package var isSet: Bool { isSetAlready.load(ordering: .acquiring) }
}
