/// The changes between two versions of a model, for people and for programs.
struct ChangeList {
  let old: String
  let new: String
  let changes: [ModelChange]

  /// Whether something breaks for one of some audiences.
  func breaks(for audiences: Set<ModelChange.Audience>) -> Bool {
    changes.contains { $0.impact == .breaking && audiences.contains($0.audience) }
  }

  /// The changes in groups, what breaks first.
  var text: String {
    var text = "\(old) → \(new)\n"
    if changes.isEmpty { return text + "  nothing changes for others\n" }
    for impact in ModelChange.Impact.allCases {
      let found = changes.filter { $0.impact == impact }
      if found.isEmpty { continue }
      text += "\(impact.title)\n"
      let rows = ModelChange.Audience.allCases.flatMap { audience in
        found.filter { $0.audience == audience }.map { ["  " + audience.rawValue, $0.subject, $0.message] }
      }
      text += TextTable(rows).text
    }
    return text
  }

  /// One object. Every key is always there.
  var json: String {
    JSONText.object([
      ("old", JSONText.quoted(old)), ("new", JSONText.quoted(new)),
      (
        "changes",
        changes.isEmpty ? "[]" : "[\n    \(changes.map(Self.json).joined(separator: ",\n    "))\n  ]"
      ),
    ])
  }

  private static func json(_ change: ModelChange) -> String {
    JSONText.object([
      ("for", JSONText.quoted(change.audience.rawValue)), ("impact", JSONText.quoted(change.impact.rawValue)),
      ("code", JSONText.quoted(change.code)), ("subject", JSONText.quoted(change.subject)),
      ("message", JSONText.quoted(change.message)),
    ])
  }
}
