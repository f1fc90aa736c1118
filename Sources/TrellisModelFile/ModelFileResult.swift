public import TrellisSchema

/// The result of parsing a model file.
public struct ModelFileResult: Sendable {
  /// The name of the file in messages.
  public let path: String
  /// The model; nil if there are errors.
  public let description: ModelDescription?
  /// Whether the file requests classes that work with `#Predicate`. It is not part of the description, because it does
  /// not affect the stored data.
  public let foundationPredicates: Bool
  /// Errors and warnings, in the order of the file.
  public let diagnostics: [Diagnostic]
  /// The number of errors not included in ``diagnostics``.
  public let omittedErrorCount: Int

  /// Whether the model is unusable because of errors.
  public var hasErrors: Bool { description == nil }

  /// All diagnostics as text, one line each and one line per note; empty if there are none.
  ///
  /// - Parameter limit: the maximum number of printed diagnostics. A last line counts the others.
  public func rendered(limit: Int = Limits.shownDiagnostics) -> String {
    var text = diagnostics.prefix(limit).map { $0.rendered() + "\n" }.joined()
    let hidden = max(0, diagnostics.count - limit) + omittedErrorCount
    if hidden > 0 { text += "\(path):1:1: note: and \(hidden) more\n" }
    return text
  }
}
