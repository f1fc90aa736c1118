import TrellisModel

extension GrammarReader {
  /// What is recorded about changes: `true`, `false` or `"values"`.
  func readHistory(_ keyed: KeyedObject) -> Located<HistoryContent>? {
    guard let node = keyed.object["history"]?.value else { return nil }
    switch node.content {
    case .bool(let isRecorded): return Located(isRecorded ? .changes : .off, at: node.offset)
    case .string("values"): return Located(.values, at: node.offset)
    case .string(let word):
      let suggestion = findings.suggestions.clause(for: word, among: ["values"])
      findings.error(
        .unknownWord, at: node.offset,
        "\(word.quoted) is no value of 'history' of \(keyed.owner)"
          + (suggestion.isEmpty ? "; it may be true, false or \"values\"." : suggestion))
    default: keyed.wrongType("history", node, "true, false or \"values\"")
    }
    return nil
  }

  /// How much of the history is kept.
  func readHistoryLimit(_ model: KeyedObject) -> Located<HistoryLimit>? {
    guard let node = model.object["keepHistory"]?.value else { return nil }
    guard let object = node.object else {
      model.wrongType("keepHistory", node, "an object such as {\"days\": 30} or {\"transactions\": 100000}")
      return nil
    }
    guard !object.members.isEmpty else {
      findings.error(
        .wrongType, at: node.offset,
        "'keepHistory' of the model has no limit; give it \"days\", \"transactions\" or both, or take it out.")
      return nil
    }
    let keyed = KeyedObject(
      object, at: node.offset, owner: "'keepHistory' of the model", keys: ModelKeys.historyLimit, findings)
    let limit = HistoryLimit(
      days: keyed.count("days", least: 1), transactions: keyed.count("transactions", least: 1))
    return Located(limit, at: node.offset)
  }
}
