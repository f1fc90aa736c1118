import TrellisModel

extension MigrationPlan {
  /// The number of questions that a message lists.
  private static let shown = 20

  /// - Throws: ``StoreError`` if the model leaves a question open, or the policy forbids migrations.
  package func check(_ policy: MigrationPolicy, _ store: String) throws(StoreError) {
    if let refusal = refusal(of: store) { throw refusal }
    guard policy.mode == .refused else { return }
    throw forbidden(
      store, because: "the store was opened with migration: .refused",
      remedy: "Open it with migration: .automatic, or with the model it was made with.")
  }

  /// The error that refuses the migration; nil if there is no question.
  ///
  /// - Parameter store: the store's name.
  package func refusal(of store: String) -> StoreError? {
    let questions = questions
    guard let first = questions.first else { return nil }
    var lines = questions.prefix(Self.shown).map { "  \($0.subject): \($0.text). \($0.answer)" }
    if questions.count > Self.shown { lines.append("  and \(questions.count - Self.shown) more") }
    var code = StoreError.Code.notUnique
    for step in questions {
      guard case .asks(let question) = step.risk else { continue }
      if question.isLoss {
        code = .dataLoss
        break
      }
      code = .unanswered
    }
    let name = migration.current.name
    return StoreError(
      code,
      "\(store) was made with another version of the model \(name), and cannot be migrated to the current one as it "
        + "is:\n\(lines.joined(separator: "\n"))\n",
      remedy: code == .notUnique
        ? "Nothing was changed." : "Nothing was changed. Write the answers in the model file of \(name).",
      entity: String(first.subject.prefix { $0 != "." }),
      properties: first.subject.contains(".") ? [String(first.subject.drop { $0 != "." }.dropFirst())] : [])
  }

  /// The error for a store that must not be migrated.
  package func forbidden(_ store: String, because reason: String, remedy: String) -> StoreError {
    let lines = steps.prefix(Self.shown).map { "  \($0.subject): \($0.text)" }
    return StoreError(
      .needsMigration,
      "\(store) was made with another version of the model \(migration.current.name), and \(reason):\n"
        + "\(lines.joined(separator: "\n"))\n", remedy: remedy)
  }
}

// MARK: - Duplicate refusal

/// The error of a migration to a model with a unique key that stored rows violate.
enum DuplicateRefusal {
  static func error(
    _ store: String, _ entity: String, _ properties: [String], count: Int, examples: [String]
  ) -> StoreError {
    let what = count == 1 ? "one value is" : "\(count) values are"
    return StoreError(
      .notUnique,
      "\(store) cannot be migrated: \(entity).\(properties.joined(separator: ", ")) is unique in this model, and "
        + "\(what) stored more than once: \(examples.joined(separator: "; "))\(count > examples.count ? "; …" : "").",
      remedy: "Nothing was changed. Make the values unique with the former program, or unite the rows in a step.",
      entity: entity, properties: properties)
  }
}
