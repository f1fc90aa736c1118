import TrellisModel

extension GrammarReader {
  /// What a server of replicas decides: `{ "conflict": "latest" }`.
  func readSync(_ keyed: KeyedObject) -> Located<SyncDecision>? {
    guard let node = keyed.object["sync"]?.value else { return nil }
    guard let object = node.object else {
      keyed.wrongType("sync", node, "an object such as {\"conflict\": \"latest\"}")
      return nil
    }
    let sync = KeyedObject(
      object, at: node.offset, owner: "'sync' of \(keyed.owner)", keys: ModelKeys.sync, required: ["conflict"], findings
    )
    return sync.word("conflict", SyncDecision.self).map { Located($0, at: node.offset) }
  }
}
