/// What a command tells its caller. The numbers from 64 are those of the BSD convention (`sysexits.h`).
enum ExitStatus: Int32, Comparable {
  case success = 0
  /// A model has errors, a file would change, or a store breaks rules or refuses.
  case failure = 1
  /// A migration has open questions, or cannot be done; a change was told, and not written; or replicas have conflicts.
  case asks = 2
  /// A migration loses data with the consent of the model.
  case loses = 3
  case usage = 64
  case unreadable = 66
  /// The command is not there on this system, or a server gives no answer.
  case unavailable = 69
  case unwritable = 74

  static func < (left: ExitStatus, right: ExitStatus) -> Bool { left.rawValue < right.rawValue }
}

/// The reason why a command ends.
struct ToolFailure: Error {
  let status: ExitStatus
  /// Whole lines for the error stream.
  let text: String

  init(_ status: ExitStatus, _ text: String) {
    self.status = status
    self.text = text.isEmpty || text.hasSuffix("\n") ? text : text + "\n"
  }
}
