public import Trellis

extension ManagedObjectContext {
  /// The object with an identifier, for a view that shows it as long as it is there.
  ///
  /// In an observing context, code that calls this in `withObservationTracking`, or in a view, is notified before the object is
  /// deleted, here or by others.
  ///
  /// - Returns: nil if there is none, or it is deleted, unsaved deletes included.
  /// - Throws: ``StoreError`` if the store fails.
  public func liveObject<Object: FetchableObject>(with id: ObjectID<Object>) throws -> Object? {
    guard let object = try object(with: id) else { return nil }
    // After a save of others the object may be gone, which is known when it is read.
    if object.isFault { try refresh(object) }
    return object.isDeleted ? nil : object
  }
}

extension PersistentContainer {
  /// Creates a container in memory with objects for a preview or a test.
  ///
  /// ```swift
  /// let container = try PersistentContainer(previewing: .diary) { context in
  ///   _ = EmotionDiary(in: context, emotion: .happy, content: "산책하고 커피")
  /// }
  /// ```
  /// - Parameters:
  ///   - model: A generated model, such as `.diary`.
  ///   - seed: Makes the objects, which are saved afterwards.
  /// - Throws: what `seed` throws; ``ValidationError`` if an object breaks a rule; ``StoreError`` if there is no such store.
  public convenience init(previewing model: ObjectModel, _ seed: (ManagedObjectContext) throws -> Void) throws {
    try self.init(model: model, store: .memory)
    let context = newContext()
    try seed(context)
    try context.save()
  }
}
