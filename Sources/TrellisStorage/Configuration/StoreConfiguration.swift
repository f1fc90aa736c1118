public import TrellisModel

/// The way to open a store. Stores add their own, such as `.sqlite(at:)`.
public struct StoreConfiguration: Sendable {
  /// Opens or creates the store for a model.
  public let open: @Sendable (Model) throws -> any Store
  /// Opens or creates the store, and reports how far a migration is.
  package let openObserved: @Sendable (Model, MigrationObserver) throws -> any Store
  /// Plans the migration of the stored data to a model, without changing anything; nil if no migration is needed.
  package let plan: @Sendable (Model) throws -> MigrationPlan?

  /// Creates a configuration from the function that opens the store. Its data is never migrated.
  public init(open: @escaping @Sendable (Model) throws -> any Store) {
    self.open = open
    openObserved = { model, _ in try open(model) }
    plan = { _ in nil }
  }

  package init(
    open: @escaping @Sendable (Model, MigrationObserver?) throws -> any Store,
    plan: @escaping @Sendable (Model) throws -> MigrationPlan?
  ) {
    self.open = { model in try open(model, nil) }
    openObserved = { model, observer in try open(model, observer) }
    self.plan = plan
  }
}
