import TrellisQuery
public import TrellisStorage

extension ManagedObjectContext {
  /// How the store would answer a request: its plan, whether it goes through a whole table, and the index that would spare
  /// that, as the line to add to the model. Nothing is fetched, and unsaved changes do not count.
  ///
  /// ```swift
  /// print(try context.explain(EmotionDiary.where { $0.mood == "tired" }))
  /// // …
  /// // scans the whole table EmotionDiary
  /// // add "indexes": [["mood"]] to the entity EmotionDiary
  /// ```
  /// - Throws: ``StoreError`` when the store cannot plan the request.
  public func explain<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> QueryPlan {
    try connection().plan(of: request.storeRequest(in: self))
  }

  /// What a request asks for as a format string, whichever way its conditions were written. It reads back as the same
  /// conditions; order, limit and offset are no part of it.
  ///
  /// ```swift
  /// print(try context.formatText(of: EmotionDiary.where { $0.images.count > 1 }))   // images.@count > 1
  /// ```
  /// The text has the values that are compared, so it may hold user data.
  ///
  /// - Throws: ``PredicateFormatError`` for a format that cannot be read; ``StoreError`` with the code `limit` for conditions
  ///   that are nested too deep.
  /// - Complexity: linear in the number of conditions and values.
  public func formatText<Columns: EntityColumns>(of request: FetchRequest<Columns>) throws -> String {
    let request = try request.storeRequest(in: self)
    return try StoreError.evaluating {
      try (request.predicate ?? .constant(true)).formatText(of: request.entity, in: runtime.model)
    }
  }
}
