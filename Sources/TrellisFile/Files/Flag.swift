import Synchronization

/// Something that happens once.
final class Flag: Sendable {
  private let isSetAlready = Atomic(false)

  /// Whether this call is the one that sets it.
  func set() -> Bool { !isSetAlready.exchange(true, ordering: .acquiringAndReleasing) }

  var isSet: Bool { isSetAlready.load(ordering: .acquiring) }
}

extension FileStamp {
  func isSameFile(as other: FileStamp) -> Bool { device == other.device && inode == other.inode }
}
