import TrellisModel
public import TrellisStorage

/// A step of a migration that is written in Swift, for what the model cannot say.
///
/// ```swift
/// let container = try PersistentContainer(model: .diary, store: .sqlite(at: url, migration: .automatic {
///   MigrationStep(upTo: DiaryHistory.V3.self) { migration in
///     try migration.forEach(DiaryHistory.V3.Entry.self) { old in
///       let entry = try migration.object(Entry.self, for: old)
///       for name in old.tagList {
///         let known = try migration.context.first(Tag.where { $0.name == name })
///         entry.tags.append(known ?? Tag(in: migration.context, name: name))
///       }
///     }
///   }
/// }))
/// ```
/// The step runs when a store of version 3 or older is opened, after everything that the model itself accounts for, and
/// before the commit. It reads rows as they were in version 3, and writes objects of the current model. A store that
/// is older than version 3 is brought to version 3 by the rules of the model, for reading only. Rules and steps
/// succeed together, or the store stays as it was.
///
/// If there are several steps, they run in the order of their versions. Objects that an earlier step makes are among
/// the current objects, and not among the rows that a later step reads.
///
/// The types of a version are generated if the model file lists it: `"migrates": [3]`.
public struct MigrationStep: Sendable {
  let step: CodedStep

  /// Creates a step.
  ///
  /// - Parameters:
  ///   - version: The newest version that needs the step, such as `DiaryHistory.V3.self`.
  ///   - body: The work. It runs on the thread that opens the store. Objects must not leave it. What it throws ends the
  ///     migration: opening the store throws a ``StoreError`` with the code `stepFailed`.
  public init<Version: FormerVersion>(
    upTo version: Version.Type, _ body: @escaping @Sendable (DataMigration<Version>) throws -> Void
  ) {
    let current = Version._current
    step = CodedStep(
      number: Version.number, released: Version._released, text: Version._text, target: current.checksum
    ) { stores in
      let core = try ContainerCore(
        runtime: RuntimeModel(current), store: stores.current, news: nil, log: .fromEnvironment,
        errorHandler: PersistentContainer.printProblem)
      defer { core.close() }
      let context = ManagedObjectContext(core: core)
      let migration = DataMigration<Version>(context, FormerRows(stores.former, stores.formerModel), stores.check)
      try body(migration)
      try migration.save()
    }
  }
}

extension MigrationPolicy {
  /// As ``automatic``, followed by steps in Swift.
  ///
  /// - Parameter steps: The steps, as in the example at ``MigrationStep``.
  public static func automatic(@MigrationStepBuilder _ steps: () -> [MigrationStep]) -> MigrationPolicy {
    MigrationPolicy(mode: .automatic, steps: steps().map(\.step))
  }

  /// As ``allowingDataLoss``, followed by steps in Swift.
  ///
  /// - Parameter steps: The steps, as in the example at ``MigrationStep``.
  public static func allowingDataLoss(@MigrationStepBuilder _ steps: () -> [MigrationStep]) -> MigrationPolicy {
    MigrationPolicy(mode: .losing, steps: steps().map(\.step))
  }
}

/// Collects the steps that are written one below the other.
@resultBuilder public enum MigrationStepBuilder {
  /// Collects the steps.
  public static func buildBlock(_ steps: MigrationStep...) -> [MigrationStep] { steps }
}

// MARK: - Former version

/// A released version of a model. Generated code conforms to it, with a type for the rows of each entity.
public protocol FormerVersion: Sendable {
  /// The number of the version, from 1.
  static var number: Int { get }
  /// The model of today.
  @_spi(Generated) static var _current: ObjectModel { get }
  /// The checksums of all released versions, in the order of their numbers.
  @_spi(Generated) static var _released: [String] { get }
  /// The canonical text of the version's model.
  @_spi(Generated) static var _text: String { get }
}
