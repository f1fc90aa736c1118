public import Foundation

/// The reason why a Foundation predicate cannot be used with a store, and a remedy. It contains no value from the
/// predicate.
///
/// ```
/// EmotionDiary has no property at a key path of this predicate that leads to a 'String'. Ask about the properties from which it
/// is computed. [unknown-property]
/// ```
public struct PredicateImportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of mistake. The set may grow.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The model does not set `foundationPredicates`, so its classes have no key paths.
    public static let noKeyPaths = Code(rawValue: "no-key-paths")
    /// A key path leads to a property that the model does not have.
    public static let unknownProperty = Code(rawValue: "unknown-property")
    /// An expression has no counterpart in store predicates.
    public static let unsupported = Code(rawValue: "unsupported")
    /// The predicate has too many branches.
    public static let tooManyBranches = Code(rawValue: "too-many-branches")
  }

  public let code: Code
  /// The mistake and a remedy, as sentences.
  public let message: String

  package init(code: Code, message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { "\(message) [\(code.rawValue)]" }
}

extension PredicateImportError: LocalizedError {
  public var errorDescription: String? { description }
}

extension PredicateImportError {
  static func unsupported(_ what: String, _ remedy: String) -> PredicateImportError {
    PredicateImportError(code: .unsupported, message: "\(what) cannot be asked of a store. \(remedy)")
  }

  /// An error that names an expression's type, without the types of its parts.
  static func unsupported(_ type: Any.Type) -> PredicateImportError {
    let name = "\(type)".prefix { $0 != "<" }
    return unsupported("'\(name)'", "Write this part as a typed condition or in a format string.")
  }
}
