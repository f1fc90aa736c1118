/// The guarantee that a save gives when it returns.
public enum Durability: String, Hashable, Sendable, CaseIterable {
  /// A completed save survives a power failure.
  case durable
  /// A completed save survives a crash of the process. A power failure may undo the latest saves, but never a part of
  /// one.
  case relaxed
}
