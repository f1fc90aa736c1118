extension Kind {
  /// A category that a new ledger offers.
  public struct Option: Hashable, Sendable {
    /// What the category is called.
    public let name: String
    /// One character that stands for it.
    public let icon: String
  }

  /// One character that stands for the kind.
  public var icon: String {
    switch self {
    case .income: "💰"
    case .expense: "💸"
    }
  }

  /// The categories that a new ledger has for the kind.
  public var options: [Option] {
    switch self {
    case .income: [Option(name: "월급", icon: "🏢"), Option(name: "용돈", icon: "🎁"), Option(name: "기타", icon: "➕")]
    case .expense:
      [
        Option(name: "식비", icon: "🍚"), Option(name: "교통", icon: "🚌"), Option(name: "커피", icon: "☕️"),
        Option(name: "기타", icon: "➖"),
      ]
    }
  }
}
