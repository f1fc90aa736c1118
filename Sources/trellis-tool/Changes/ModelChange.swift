/// What a change of a model means for somebody beside the stored data.
struct ModelChange: Hashable {
  /// Who has to do with it.
  enum Audience: String, CaseIterable {
    /// The Swift code of the program, which uses generated declarations.
    case swift
    /// Documents of others that are imported.
    case importing = "import"
    /// Readers of exported documents.
    case exporting = "export"
    /// Programs with the former model on the same store.
    case rollout
    /// The store, beyond what the plan of a migration tells.
    case store
  }

  /// How much it matters, from bad to good.
  enum Impact: String, CaseIterable {
    /// What was right fails.
    case breaking
    /// What was right goes on, with other results.
    case aware
    case safe

    /// The title of a group.
    var title: String { self == .aware ? "to be aware of" : rawValue }
  }

  let audience: Audience
  let impact: Impact
  /// The kind of the change, which does not change between releases.
  let code: String
  /// The entity, property or type, by its former name if it has one.
  let subject: String
  /// The change, as the end of a sentence that begins with the subject.
  let message: String
}
