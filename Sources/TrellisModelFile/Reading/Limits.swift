/// The size limits of a model. A larger model is refused with a message, without a hang or a crash.
public enum Limits {
  /// The size of a file in bytes.
  public static let fileSize = 16 * 1024 * 1024
  /// The nesting depth of objects and lists.
  public static let depth = 64
  public static let entities = 10_000
  /// The number of attributes and relationships of an entity, including inherited ones.
  public static let properties = 1_000
  public static let enums = 10_000
  public static let enumCases = 10_000
  /// The number of entities from a root to its deepest descendant.
  public static let ancestors = 64
  /// The length of a name in UTF-8 bytes.
  public static let nameLength = 255
  /// The number of diagnostics that are printed.
  public static let shownDiagnostics = 100
  /// The number of diagnostics that are kept.
  static let keptDiagnostics = 1_000
  /// The number of names per file that are compared for suggestions.
  static let comparedNames = 200_000
}
