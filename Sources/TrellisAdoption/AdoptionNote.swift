/// Something of a database that has no counterpart in a model, and what became of it.
public struct AdoptionNote: Hashable, Sendable, CustomStringConvertible {
  /// What became of it.
  public enum Outcome: String, Hashable, Sendable, CaseIterable {
    /// It is in the model in another form.
    case changed
    /// It is not in the model, and stored values of it are not copied.
    case leftOut = "left-out"
    /// It has no effect on data, and is left out without a loss.
    case ignored
  }

  /// What became of it.
  public let outcome: Outcome
  /// The table, or the column as `film.rating`, by their names in the database.
  public let subject: String
  /// What it is and what became of it, as the end of a sentence that begins with the subject.
  public let message: String

  /// Creates a note.
  public init(_ outcome: Outcome, _ subject: String, _ message: String) {
    self.outcome = outcome
    self.subject = subject
    self.message = message
  }

  /// The note as a line: `changed film.rating: holds texts and numbers, and is a string`.
  public var description: String { "\(outcome.rawValue) \(subject): \(message)" }
}
