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
}
