import TrellisModel

/// Values that a store cannot keep, because the database below it cannot.
///
/// A store refuses such a value at a save with the code `unstorable-value`. It has no other exemption: requests may still
/// compare with the value. The list is finite, since each limit is a limit for the programs that use the store.
public enum StoreLimit: Hashable, Sendable {
  /// No text contains the character U+0000, as in PostgreSQL. A list of texts can, since its JSON spells the character
  /// as `\u0000`.
  case zeroCharacter
  /// No date is before this number of microseconds since 1970. A `timestamptz` of PostgreSQL begins in 4714 BC, at
  /// -210866803200000000.
  case datesBefore(microseconds: Int64)
}

extension StoreLimit: CustomStringConvertible {
  public var description: String {
    switch self {
    case .zeroCharacter: "a text with U+0000"
    case .datesBefore(let microseconds): "a date before \(microseconds) µs since 1970"
    }
  }
}

extension Set<StoreLimit> {
  /// Whether a store with these limits can keep a value of an attribute.
  func allow(_ value: StoredValue, of type: AttributeType) -> Bool {
    allSatisfy { limit in
      switch (limit, type, value) {
      case (.zeroCharacter, _, .text(let text)): !text.utf8.contains(0)
      case (.datesBefore(let least), .date, .integer(let date)): date >= least
      default: true
      }
    }
  }
}
