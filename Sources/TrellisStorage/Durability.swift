/// What a save has brought to safety when it returns.
public enum Durability: String, Hashable, Sendable, CaseIterable {
  /// A save that has returned survives a power cut.
  case durable
  /// A save that has returned survives a crash of the program; a power cut may undo the latest saves, never a part of one.
  case relaxed
}
