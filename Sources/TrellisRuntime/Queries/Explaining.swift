import TrellisQuery
public import TrellisStorage

extension ManagedObjectContext {
  /// Returns how the store would answer a request: its query plan, whether it scans a whole table, and the index that
  /// would avoid the scan, as the line to add to the model. Nothing is fetched, and unsaved changes are ignored.
  ///
  /// ```swift
  /// print(try context.explain(EmotionDiary.where { $0.mood == "tired" }))
  /// // …
  /// // scans the whole table EmotionDiary
  /// // add "indexes": [["mood"]] to the entity EmotionDiary
  /// ```
  /// - Throws: ``StoreError`` if the store cannot plan the request.
  public func explain<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> QueryPlan {
    try connection().plan(of: request.storeRequest(in: self))
  }

  /// The conditions of a request as a format string, however they were written. Parsing the string gives the same
  /// conditions. The sort order, limit and offset are not part of it.
  ///
  /// ```swift
  /// print(try context.formatText(of: EmotionDiary.where { $0.images.count > 1 }))   // images.@count > 1
  /// ```
  /// The string contains the compared values, so it may contain user data.
  ///
  /// - Throws: ``PredicateFormatError`` if a format cannot be parsed; ``StoreError`` with the code `limit` if the
  ///   conditions are nested too deep.
  /// - Complexity: linear in the number of conditions and values.
  public func formatText<Columns: EntityColumns>(of request: FetchRequest<Columns>) throws -> String {
    let request = try request.storeRequest(in: self)
    return try StoreError.evaluating {
      try (request.predicate ?? .constant(true)).formatText(of: request.entity, in: runtime.model)
    }
  }
}
