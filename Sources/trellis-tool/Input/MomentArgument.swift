import Foundation
import TrellisModel
import TrellisRuntime

/// A moment of a store's history among the arguments: the number of a save, a date, a token, or `now`.
struct MomentArgument {
  private enum Kind {
    case save(Int64), date(Date), token(HistoryToken), now
  }

  private let kind: Kind
  private let text: String

  /// - Throws: ``ToolFailure`` if the text is no moment.
  init(_ text: String, of command: ToolCommand) throws(ToolFailure) {
    self.text = text
    if text == "now" {
      kind = .now
    } else if let number = Int64(text), number >= 0 {
      kind = .save(number)
    } else if let time = DateText.keptMicroseconds(text) ?? DateText.keptMicroseconds(text + "T00:00:00Z") {
      kind = .date(Date(timeIntervalSince1970: Double(time) / 1_000_000))
    } else if let token = HistoryToken(text) {
      kind = .token(token)
    } else {
      throw .usage(
        "\(text.inMessage) is no moment, as the number of a save, a date such as 2026-01-31T09:30:00Z, a token and now are.",
        of: command)
    }
  }

  /// The moment as it was given, in quotes.
  var inMessage: String { text.inMessage }

  /// The moment of an option; nil if it is not given.
  static func option(
    _ name: String, _ arguments: ParsedArguments, of command: ToolCommand
  ) throws(ToolFailure) -> MomentArgument? {
    guard let text = arguments.value(of: name) else { return nil }
    return try MomentArgument(text, of: command)
  }

  /// The moment in the history of a store.
  ///
  /// - Throws: ``ToolFailure`` for a save that there is not; ``StoreError``.
  func token(in container: PersistentContainer) throws -> HistoryToken {
    switch kind {
    case .now: return try container.historyToken()
    case .date(let date): return try container.historyToken(at: date)
    case .token(let token): return token
    case .save(0):
      guard let first = try container.history(limit: 1).first else { return try container.historyToken() }
      return try container.historyToken(before: first)
    case .save: return try save(in: container).token
    }
  }

  /// The save that the moment follows.
  ///
  /// - Throws: ``ToolFailure`` if there is none; ``StoreError``.
  func save(in container: PersistentContainer) throws -> HistoryTransaction {
    let number = if case .save(let number) = kind { number } else { try token(in: container).transaction }
    if let save = try container.transaction(number) {
      // The token of another store has the number of one of its saves.
      guard case .token(let token) = kind, token != save.token else { return save }
    }
    throw ToolFailure(.failure, "error: The history has no save \(text.inMessage); trellis history lists them.")
  }
}
