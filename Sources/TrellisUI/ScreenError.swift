public import Foundation

/// Why a form or a list could not be made.
public struct ScreenError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of errors. More kinds may be added.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as text.
    public let rawValue: String

    /// Creates a code from text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The object belongs to no context, or the view has no container.
    public static let noContext = Code(rawValue: "no-context")
    /// The object is deleted.
    public static let noObject = Code(rawValue: "no-object")
  }

  /// The kind of the error.
  public let code: Code
  /// The class of the objects.
  public let entity: String

  init(_ code: Code, _ entity: String) {
    self.code = code
    self.entity = entity
  }

  /// What is missing, and what to do about it.
  public var description: String {
    switch code {
    case .noContext:
      "There is no context for objects of \(entity). Give the container to the views with trellisContainer(_:), and pass "
        + "objects that belong to a context. [no-context]"
    default: "The object of \(entity) is deleted. Close its form. [\(code.rawValue)]"
    }
  }
}

extension ScreenError: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }
}
