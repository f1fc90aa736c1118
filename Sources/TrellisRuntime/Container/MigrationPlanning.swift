public import TrellisStorage

extension MigrationPlan {
  /// Plans the migration of a store to a model, without changing anything.
  ///
  /// ```swift
  /// if let plan = try MigrationPlan(of: .sqlite(at: url), to: .diary), !plan.questions.isEmpty { print(plan) }
  /// ```
  /// - Parameters:
  ///   - store: The store. It may be open elsewhere.
  ///   - model: The current model.
  /// - Returns: The plan; nil if the store is missing, or need not be migrated.
  /// - Throws: ``StoreError`` if the store is damaged, foreign, of another model, or of a newer version of the model.
  /// - Complexity: Counts the rows that steps concern, which reads the tables of these steps once for each count.
  public init?(of store: StoreConfiguration, to model: ObjectModel) throws {
    guard let plan = try store.plan(RuntimeModel(model).model) else { return nil }
    self = plan
  }
}
