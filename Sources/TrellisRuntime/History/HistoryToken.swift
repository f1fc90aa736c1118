import TrellisStorage

/// A moment in the history of a store: after one of its transactions.
///
/// A token can be kept, as text or by `Codable`, and used in later runs of the program. It belongs to the history of one
/// store. A copy of the store accepts the tokens of the transactions that both have.
///
/// ```swift
/// let token = try container.historyToken()
/// defaults.set(token.description, forKey: "lastSync")
/// ```
public struct HistoryToken: Hashable, Sendable {
  let position: HistoryPosition

  init(_ position: HistoryPosition) { self.position = position }

  /// The number of the transaction, which counts those of the store from 1; 0 for the time before the first one.
  public var transaction: Int64 { position.number }
}

extension HistoryToken: LosslessStringConvertible {
  /// The token as a text without spaces.
  public var description: String {
    "\(position.identity):\(position.number):\(position.time):\(position.part)"
  }

  /// Creates a token from its text; nil for any other text.
  public init?(_ description: String) {
    let parts = description.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 4, !parts[0].isEmpty, let number = Int64(parts[1]), let time = Int64(parts[2]),
      let part = Int64(parts[3]), number >= 0, part >= 0
    else { return nil }
    position = HistoryPosition(identity: String(parts[0]), number: number, time: time, part: part)
  }
}

extension HistoryToken: Codable {
  /// Decodes the token's text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let token = HistoryToken(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "The text is no token of a history.")
    }
    self = token
  }

  /// Encodes the token's text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
