public import TrellisRuntime

/// A reason why a save cannot be undone.
public struct UndoConflict: Hashable, Sendable {
  /// What is not as the save left it.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The history does not list all changes of the transaction.
    case notRecorded = "not-recorded"
    /// The property has another value than the save gave it, or other partners.
    case changed = "changed-later"
    /// The order of the members was changed later.
    case reordered = "reordered-later"
    /// The object was deleted later.
    case deleted = "deleted-later"
    /// The object is there again.
    case exists = "exists-again"
    /// A partner that the object had before the save is gone.
    case partnerGone = "partner-gone"
    /// The partner that the object had before the save has another one now.
    case partnerTaken = "partner-taken"
    /// Other objects refer to the object that the save inserted.
    case used = "used-later"
  }

  /// The moment after the save.
  public let save: HistoryToken
  /// The object; nil if the conflict concerns the save as a whole.
  public let object: AnyObjectID?
  /// The name of the property; nil if the conflict concerns the object as a whole.
  public let property: String?
  /// The reason.
  public let reason: Reason
}

extension UndoConflict: CustomStringConvertible {
  /// The object, the property and the reason as a sentence, with the reason's code.
  public var description: String {
    let place = (object.map { "\($0)" } ?? "Save \(save.transaction)") + (property.map { ".\($0)" } ?? "")
    let what =
      switch reason {
      case .notRecorded: "changed objects that the history does not list"
      case .changed: "was changed later"
      case .reordered: "was put into another order later"
      case .deleted: "was deleted later"
      case .exists: "exists again"
      case .partnerGone: "led to an object that is gone"
      case .partnerTaken: "leads to another object by now"
      case .used: "is referred to by other objects by now"
      }
    return "\(place) \(what). [\(reason.rawValue)]"
  }
}

/// The refusal to undo a save. Nothing was changed.
public struct UndoRefusal: Error, Hashable, Sendable {
  /// What is not as the save left it, at least one.
  public let conflicts: [UndoConflict]
}

extension UndoRefusal: CustomStringConvertible {
  /// The conflicts, each in a line.
  public var description: String { conflicts.map { "\($0)" }.joined(separator: "\n") }
}
