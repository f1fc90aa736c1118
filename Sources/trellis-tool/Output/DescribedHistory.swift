import TrellisModel

/// What a store records about changes, for people.
enum DescribedHistory {
  /// `changes of Note; changes and former values of Folder; at most 30 days`; nil if nothing is recorded.
  static func text(of model: Model) -> String? {
    let roots = model.entities.filter { $0.parent == nil }
    let recorded = Dictionary(grouping: roots) { model.history(of: $0.index) }
    var parts: [String] = []
    for content in HistoryContent.allCases {
      guard let entities = recorded[content], let described = content.described else { continue }
      let isOfAll = entities.count == roots.count
      parts.append(isOfAll ? described : "\(described) of \(entities.map(\.name).joined(separator: ", "))")
    }
    guard !parts.isEmpty else { return nil }
    if let limit = model.description.keepHistory { parts.append("at most \(limit.described)") }
    return parts.joined(separator: "; ")
  }
}

extension HistoryContent {
  /// What is recorded; nil for nothing.
  var described: String? {
    switch self {
    case .off: nil
    case .changes: "changes"
    case .values: "changes and former values"
    }
  }
}

extension HistoryLimit {
  fileprivate var described: String {
    let days = days.map { $0 == 1 ? "1 day" : "\($0) days" }
    let transactions = transactions.map { $0 == 1 ? "1 transaction" : "\($0) transactions" }
    return [days, transactions].compactMap { $0 }.joined(separator: " and ")
  }
}
