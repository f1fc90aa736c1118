public import Foundation

/// The reason why a Core Data model or store cannot be read: a code, a message for a person, and a remedy.
public struct CoreDataError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the failure. More kinds may be added.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// There is no such file, or it cannot be read.
    public static let unreadableFile = Code(rawValue: "unreadable-file")
    /// The file is no model of Core Data.
    public static let noModel = Code(rawValue: "no-model")
    /// The model contradicts itself, so that it has no counterpart.
    public static let invalidModel = Code(rawValue: "invalid-model")
    /// The file is no SQLite store of Core Data.
    public static let noCoreDataStore = Code(rawValue: "no-core-data-store")
    /// The file is encrypted.
    public static let encrypted = Code(rawValue: "encrypted")
    /// The store does not contain its model, and none was given.
    public static let noModelCache = Code(rawValue: "no-model-cache")
    /// The given model is not that of the store.
    public static let otherModel = Code(rawValue: "other-model")
    /// The store is damaged.
    public static let damaged = Code(rawValue: "damaged")
    /// Another program writes to the store.
    public static let busy = Code(rawValue: "busy")
    /// There is something already at the place of the copy.
    public static let fileExists = Code(rawValue: "file-exists")
    /// Writing failed.
    public static let inputOutput = Code(rawValue: "input-output")
    /// The file exceeds what can be read.
    public static let limit = Code(rawValue: "limit")
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

  public var description: String { "\(message) \(remedy) [\(code.rawValue)]" }
}

extension CoreDataError: LocalizedError {
  public var errorDescription: String? { description }
}
