public import Foundation

/// Why a predicate of Foundation cannot be asked of a store: what was not understood, and the way out. It holds no value that
/// the predicate compares with.
///
/// ```
/// EmotionDiary has no property at a key path of this predicate that leads to a 'String'. Ask about the properties from which it
/// is computed. [unknown-property]
/// ```
public struct PredicateImportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of mistake it is. The set may grow.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// The model does not say that its classes know their key paths.
    public static let noKeyPaths = Code(rawValue: "no-key-paths")
    /// A key path leads to something that the model does not have.
    public static let unknownProperty = Code(rawValue: "unknown-property")
    /// An expression has no counterpart in the predicates of stores.
    public static let unsupported = Code(rawValue: "unsupported")
    /// The predicate has too many branches.
    public static let tooManyBranches = Code(rawValue: "too-many-branches")
  }

  public let code: Code
  /// What is wrong and what to do, as sentences.
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

  /// An expression by the name of its type, without those of its parts.
  static func unsupported(_ type: Any.Type) -> PredicateImportError {
    let name = "\(type)".prefix { $0 != "<" }
    return unsupported("'\(name)'", "Write this part as a typed condition or in a format string.")
  }
}
