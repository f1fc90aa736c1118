import Synchronization

/// Something that happens once.
package final class Flag: Sendable {
  private let isSetAlready = Atomic(false)

  package init() {}

  /// Whether this call is the one that sets it.
  package func set() -> Bool { !isSetAlready.exchange(true, ordering: .acquiringAndReleasing) }

  package var isSet: Bool { isSetAlready.load(ordering: .acquiring) }
}
