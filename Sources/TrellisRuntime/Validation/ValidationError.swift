/// Why objects cannot be saved: every broken rule of the save at once. Nothing was written, and the context is as it was.
public struct ValidationError: Error, Sendable, CustomStringConvertible {
  public let failures: [ValidationFailure]

  public var description: String {
    let lines = failures.prefix(20).map { "- \($0)" }
    let more = failures.count > 20 ? ["- and \(failures.count - 20) more"] : []
    return
      (["\(failures.count) rule\(failures.count == 1 ? " is" : "s are") broken, so nothing was saved:"] + lines + more)
      .joined(separator: "\n")
  }
}

/// One rule that one object breaks.
public struct ValidationFailure: Hashable, Sendable, CustomStringConvertible {
  public enum Rule: String, Hashable, Sendable {
    /// A to-one that must have a partner has none.
    case required
    case minimumCount, maximumCount
    case minimum, maximum
    case minimumLength, maximumLength
    case pattern
    /// A number that is no number.
    case notANumber
    /// The object may not be deleted while it has partners here.
    case deniedDelete
  }

  /// The object's entity.
  public let entity: String
  /// The object's key.
  public let key: Int64
  public let property: String
  public let rule: Rule
  /// The rule in words, fit for a person; it holds no user data.
  public let message: String

  public var description: String { "\(entity)#\(key).\(property): \(message) [\(rule.rawValue)]" }
}
