public import Foundation

/// The reason why a database cannot be adopted: a code, a message for a person, and a remedy.
public struct AdoptionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the failure. More kinds may be added.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// There is no such database, or it cannot be read.
    public static let unreadable = Code(rawValue: "unreadable-database")
    /// The file is encrypted, or is no database.
    public static let noDatabase = Code(rawValue: "no-database")
    /// The database is damaged.
    public static let damaged = Code(rawValue: "damaged-database")
    /// Another program keeps the database locked.
    public static let busy = Code(rawValue: "busy-database")
    /// The database has a command of its own.
    public static let otherCommand = Code(rawValue: "other-command")
    /// There are no tables with a counterpart.
    public static let noTables = Code(rawValue: "no-tables")
    /// The tables exceed what a model can have.
    public static let limit = Code(rawValue: "too-large")
    /// The schema has no counterpart as a model.
    public static let invalidModel = Code(rawValue: "invalid-model")
    /// Values, references or rows have no place in the model.
    public static let misfits = Code(rawValue: "misfits")
    /// There is something already at the place of the copy, or nothing can be written there.
    public static let unwritable = Code(rawValue: "unwritable")
  }

  /// The kind of the failure.
  public let code: Code
  /// The failure and its place, as a sentence.
  public let message: String
  /// The remedy, as a sentence.
  public let remedy: String

  /// Creates an error with a message and a remedy for a person.
  public init(_ code: Code, _ message: String, remedy: String) {
    self.code = code
    self.message = message
    self.remedy = remedy
  }

  public var description: String {
    // What is listed ends with a line of its own.
    "\(message)\(message.hasSuffix("\n") ? "" : " ")\(remedy) [\(code.rawValue)]"
  }
}

extension AdoptionError: LocalizedError {
  public var errorDescription: String? { description }
}
