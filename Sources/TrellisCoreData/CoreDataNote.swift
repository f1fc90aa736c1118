/// Something of a Core Data model that has no counterpart, and what became of it.
public struct CoreDataNote: Hashable, Sendable, CustomStringConvertible {
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
  /// The entity, or the property as `Entry.mood`; the name of the model for the whole of it.
  public let subject: String
  /// What it is and what became of it, as the end of a sentence that begins with the subject.
  public let message: String

  /// Creates a note.
  public init(_ outcome: Outcome, _ subject: String, _ message: String) {
    self.outcome = outcome
    self.subject = subject
    self.message = message
  }

  /// The note as a line: `changed Entry.description: is called …`.
  public var description: String { "\(outcome.rawValue) \(subject): \(message)" }
}
