package import TrellisModel

/// A step of a migration that is written in Swift. It runs after the rules have been applied, and before the commit.
package struct CodedStep: Sendable {
  /// The number of the version whose rows the step reads.
  package let number: Int
  /// The checksums of all released versions of the model, in the order of their numbers.
  package let released: [String]
  /// The canonical text of the version's model.
  package let text: String
  /// The checksum of the model whose objects the step writes.
  package let target: String
  package let run: @Sendable (StepStores) throws -> Void

  package init(
    number: Int, released: [String], text: String, target: String, run: @escaping @Sendable (StepStores) throws -> Void
  ) {
    self.number = number
    self.released = released
    self.text = text
    self.target = target
    self.run = run
  }

  /// The checksum of the version's model.
  package var checksum: String { released.indices.contains(number - 1) ? released[number - 1] : "" }

  /// The version's model.
  package func model() throws(StoreError) -> Model {
    try StoredModelReading.model(text, checksum: checksum, of: "version \(number)")
  }

  /// Whether a store needs the step: its model is not newer than the version.
  ///
  /// - Parameters:
  ///   - checksum: the checksum of the store's model.
  ///   - former: the checksums of the models that the store had before.
  func isNeeded(_ checksum: String, former: [String]) -> Bool {
    if let version = released.firstIndex(of: checksum) { return version < number }
    // An unreleased model is newer than every version that the store had before it.
    let newest = former.compactMap { released.firstIndex(of: $0) }.max() ?? -1
    return newest + 1 < number
  }
}

/// What a step works with.
package struct StepStores {
  /// The rows as the rules alone bring them to the step's version, for reading.
  package let former: any Store
  /// The step's version of the model.
  package let formerModel: Model
  /// The migrated rows. Nothing that is saved lasts unless the whole migration succeeds.
  package let current: any Store
  /// Throws if the migration is cancelled. It is called again and again.
  package let check: () throws -> Void

  package init(former: any Store, formerModel: Model, current: any Store, check: @escaping () throws -> Void) {
    self.former = former
    self.formerModel = formerModel
    self.current = current
    self.check = check
  }
}

extension MigrationPolicy {
  /// The steps that a store needs, in the order in which they run.
  ///
  /// - Throws: ``StoreError`` if a step is of another model.
  package func steps(
    for checksum: String, former: [String], to model: Model
  ) throws(StoreError) -> [CodedStep] {
    for step in steps where !TextBytes.areEqual(step.target, model.checksum) {
      throw StoreError(
        .otherModel, "The step up to version \(step.number) is of another model than \(model.name).",
        remedy: "Give each store the steps of its own model.")
    }
    return steps.enumerated().filter { $0.element.isNeeded(checksum, former: former) }
      .sorted { ($0.element.number, $0.offset) < ($1.element.number, $1.offset) }.map(\.element)
  }
}

extension StoreError {
  /// The error for a failure inside of a step.
  static func stepFailed(_ step: CodedStep, of store: String, _ error: any Error) -> StoreError {
    if let error = error as? StoreError, error.code == .cancelled { return error }
    return StoreError(
      .stepFailed,
      "The migration of \(store) failed in the step up to version \(step.number), and nothing was changed: \(error)",
      remedy: "Correct the step and open the store again.")
  }
}
