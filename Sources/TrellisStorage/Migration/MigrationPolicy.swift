/// What the opening of a store does if the store was made with a former model.
///
/// ```swift
/// let container = try PersistentContainer(model: .diary, store: .sqlite(at: url, migration: .refused))
/// ```
public struct MigrationPolicy: Sendable {
  package enum Mode: Sendable {
    case automatic, refused, losing
  }

  package let mode: Mode
  /// The steps in Swift, in the order in which they were given.
  package var steps: [CodedStep] = []
  /// Whether a store on a server is migrated while programs are connected that cannot use it afterwards.
  package private(set) var stopsFormerPrograms = false

  package init(mode: Mode, steps: [CodedStep] = []) {
    self.mode = mode
    self.steps = steps
  }

  /// Migrates whatever the current model accounts for, and refuses the rest with an error that names the lines to
  /// write in the model. Nothing is lost without the model's consent; if something is, a copy of the file is written
  /// beside it before. A store on a server is not copied: that is left to the server's backups.
  public static let automatic = MigrationPolicy(mode: .automatic)

  /// Refuses every store that has to be migrated.
  public static let refused = MigrationPolicy(mode: .refused)

  /// Migrates, and deletes what the current model does not account for, as while an app is not released yet. A copy of
  /// a file is written beside it before.
  public static let allowingDataLoss = MigrationPolicy(mode: .losing)

  /// The same policy, which migrates a store on a server even while programs with a former model are connected to it that
  /// could not use it afterwards. Each of their calls then throws `migratedByOthers`.
  ///
  /// Without it such a migration is refused with `formerPrograms`. A migration that only adds to the store never stops
  /// a program; see ``MigrationPlan/incompatibilities``. Files are migrated as without it.
  ///
  /// ```swift
  /// .postgres(url, migration: .automatic.stoppingFormerPrograms())
  /// ```
  public func stoppingFormerPrograms() -> MigrationPolicy {
    var policy = self
    policy.stopsFormerPrograms = true
    return policy
  }
}
