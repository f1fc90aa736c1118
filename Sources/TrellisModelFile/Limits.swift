/// How large a model may be. What is larger is refused with a message: no hang and no crash.
public enum Limits {
  /// Bytes of a file.
  public static let fileSize = 16 * 1024 * 1024
  /// Objects and lists inside each other.
  public static let depth = 64
  public static let entities = 10_000
  /// Attributes and relationships of one entity, inherited ones included.
  public static let properties = 1_000
  public static let enums = 10_000
  public static let enumCases = 10_000
  /// Entities from a root to its furthest descendant.
  public static let ancestors = 64
  /// UTF-8 bytes of a name.
  public static let nameLength = 255
  /// Diagnostics that are written out.
  public static let shownDiagnostics = 100
  /// Diagnostics that are kept at all.
  static let keptDiagnostics = 1_000
  /// Names compared in search of suggestions, in one file.
  static let comparedNames = 200_000
}
