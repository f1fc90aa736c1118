public import TrellisSchema

/// What reading a model file came to.
public struct ModelFileResult: Sendable {
  /// How messages call the file.
  public let path: String
  /// The model; nil if there is any error.
  public let description: ModelDescription?
  /// Whether the file asks for classes that `#Predicate` can be used with. It is no part of the description, since it
  /// changes nothing about what is stored.
  public let foundationPredicates: Bool
  /// Errors and warnings in the order of their places in the file.
  public let diagnostics: [Diagnostic]
  /// How many errors were found beyond those in ``diagnostics``.
  public let omittedErrorCount: Int

  /// Whether the model cannot be used.
  public var hasErrors: Bool { description == nil }

  /// All diagnostics as text, one line each and a line for each note; empty when there are none.
  ///
  /// - Parameter limit: how many diagnostics are written out; the rest is counted in a last line.
  public func rendered(limit: Int = Limits.shownDiagnostics) -> String {
    var text = diagnostics.prefix(limit).map { $0.rendered() + "\n" }.joined()
    let hidden = max(0, diagnostics.count - limit) + omittedErrorCount
    if hidden > 0 { text += "\(path):1:1: note: and \(hidden) more\n" }
    return text
  }
}
