@_spi(Generated) public import TrellisRuntime

extension PersistentContainer {
  /// Makes an object as it was at a moment: its values, its partners, and the order of its members.
  ///
  /// ```swift
  /// let restoration = try container.restore(note.objectID, asOf: token, in: context)
  /// for loss in restoration.losses { print(loss) }
  /// try context.save()
  /// ```
  /// The result are unsaved changes of the context, so all rules of the model apply to them. A deleted object comes back
  /// with the key that it had, and what referred to it and is nil by now refers to it again. A partner that has found
  /// another one meanwhile is taken back. What cannot be restored stays as it is, and is listed in the result.
  ///
  /// - Parameters:
  ///   - id: The identifier of the object.
  ///   - token: The moment.
  ///   - context: A context of the container.
  ///   - withParts: Whether objects come back as well that were deleted since, and that the delete rule of the object
  ///     would take along: its parts, and the parts of these.
  /// - Throws: ``RestoreError`` if the object was not there at that moment. ``StoreError``: `unsupported` if the model
  ///   keeps no values of the object's entity or of partners, `historyExpired`, `otherHistory`. Then nothing is changed.
  /// - Complexity: linear in the number of partners.
  @discardableResult public func restore(
    _ id: AnyObjectID, asOf token: HistoryToken, in context: ManagedObjectContext, withParts: Bool = false
  ) throws -> Restoration {
    precondition(isContainer(of: context), "The context belongs to another container.")
    return try context.allOrNothing {
      var restoring = try ObjectRestoring(asOf: token, of: self, in: context)
      return try restoring.run(id, withParts: withParts)
    }
  }

  /// Makes an object as it was at a moment, as ``restore(_:asOf:in:withParts:)-(AnyObjectID,_,_,_)`` does.
  ///
  /// - Throws: The same errors.
  @discardableResult public func restore<Object: ManagedObject>(
    _ id: ObjectID<Object>, asOf token: HistoryToken, in context: ManagedObjectContext, withParts: Bool = false
  ) throws -> Restoration {
    try restore(
      AnyObjectID(id.key, entity: Object._entity, in: context), asOf: token, in: context, withParts: withParts)
  }
}
