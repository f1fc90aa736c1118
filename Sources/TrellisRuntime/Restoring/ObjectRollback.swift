import TrellisStorage

extension IdentifiedObject {
  /// Whether a property differs from the last fetched or saved state. A property of a new object always does.
  ///
  /// ```swift
  /// saveButton.isEnabled = diary.hasChanges(\.content) || diary.hasChanges(\.tags)
  /// ```
  /// - Parameter property: A property of the model, or one that is computed from properties of the model.
  /// - Complexity: linear in the number of the object's properties.
  public func hasChanges<Value>(_ property: KeyPath<Self, Value>) -> Bool {
    let numbers = numbers(of: property)
    if phase == .inserted { return !numbers.isEmpty }
    guard phase == .persistent else { return false }
    let changed = changedNumbers
    return numbers.contains { number in
      changed.contains(number) || extras?.list(number)?.hasChanges == true
    }
  }

  /// The members of a to-many relationship in the last fetched or saved state, without those that were deleted since.
  ///
  /// - Throws: ``StoreError`` if members have to be loaded and the store fails.
  public func committedMembers<View: ToManyView>(of property: KeyPath<Self, View>) throws -> [View.Element] {
    guard phase == .persistent, let context = link.context else { return [] }
    var members: [View.Element] = []
    for number in numbers(of: property) {
      guard let relationship = context.relationship(number, of: self) else { continue }
      let list = context.loadedList(of: self, relationship)
      try context.throwPendingFailure()
      for key in list.committed ?? list.keys {
        let member = try context.object(key, entity: relationship.destination)
        if let member = member as? View.Element, member.isAlive { members.append(member) }
      }
    }
    return members
  }

  /// Reverts the changes of a property since the object was last fetched or saved. The inverses of a relationship are
  /// updated.
  ///
  /// ```swift
  /// diary.content = "…"
  /// diary.mood = "happy"
  /// try diary.rollback(\.content)   // the mood stays
  /// ```
  /// Properties of new and deleted objects are unchanged.
  ///
  /// - Parameter property: A property of the model, or one that is computed from properties of the model.
  /// - Throws: ``StoreError`` if former partners have to be loaded and the store fails.
  public func rollback<Value>(_ property: KeyPath<Self, Value>) throws {
    guard phase == .persistent, let context = link.context else { return }
    let numbers = numbers(of: property)
    try context.adoptStoredReferences(of: self, numbers)
    try context.rollback(self, numbers)
    context.settleBacklog()
  }
}

extension ManagedObject {
  /// Reverts all changes of this object since it was last fetched or saved: values and relationships are restored, a
  /// delete is reverted together with its cascade, and the insert of a new object is withdrawn.
  ///
  /// Other objects change only at the inverses of the object's relationships.
  ///
  /// - Throws: ``StoreError`` if former partners have to be loaded and the store fails.
  /// - Complexity: linear in the number of changed objects of the context.
  public final func rollback() throws {
    guard let context = managedObjectContext, context.isAllowed("rollback") else { return }
    if phase == .inserted { return try context.withdraw(self) }
    if phase == .deleted { context.undelete(self) }
    guard phase == .persistent else { return }
    try context.rollbackEverything(of: self)
    context.settleBacklog()
  }
}

extension ManagedObjectContext {
  /// Reverts every change of a saved object. The backlog is not processed, because a save that calls this may have to
  /// revert it.
  ///
  /// - Throws: the same errors as ``rollback(_:_:)``.
  func rollbackEverything(of object: ManagedObject) throws {
    adoptDeferredLists(of: object)
    guard object.isInChangedList else { return }
    let numbers = Array(info(of: object).entity.properties.indices)
    try adoptStoredReferences(of: object, numbers)
    try rollback(object, numbers)
  }
}
