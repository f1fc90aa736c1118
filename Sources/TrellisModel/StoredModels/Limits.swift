/// The size limits of a model. A larger model is refused with a message, without a hang or a crash.
package enum Limits {
  /// The size of a file in bytes.
  package static let fileSize = 16 * 1024 * 1024
  /// The nesting depth of objects and lists.
  package static let depth = 64
  package static let entities = 10_000
  /// The number of attributes and relationships of an entity, including inherited ones.
  package static let properties = 1_000
  package static let enums = 10_000
  package static let enumCases = 10_000
  /// The number of entities from a root to its deepest descendant.
  package static let ancestors = 64
  /// The length of a name in UTF-8 bytes.
  package static let nameLength = 255
  /// The number of diagnostics that are printed.
  package static let shownDiagnostics = 100
  /// The number of diagnostics that are kept.
  package static let keptDiagnostics = 1_000
  /// The number of names per file that are compared for suggestions.
  package static let comparedNames = 200_000
}
