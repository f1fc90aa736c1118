public import TrellisRuntime

extension PersistentContainer {
  /// Undoes past saves: the objects and properties that they changed are as before them.
  ///
  /// ```swift
  /// let imports = try container.history(since: yesterday).filter { $0.author == "import" }
  /// try container.undo(imports, in: context)
  /// try context.save()
  /// ```
  /// The result are unsaved changes of the context, so all rules of the model apply to them, and the save that writes them
  /// can be undone in turn. Deleted objects come back with the keys that they had.
  ///
  /// A save can be undone as long as each object and property that it changed is as it left them, whatever else was saved
  /// since; unsaved changes of the context count as well. Otherwise nothing is changed, and the error lists all
  /// conflicts.
  ///
  /// - Parameters:
  ///   - saves: Transactions of the container's history, in any order. The newest is undone first.
  ///   - context: A context of the container.
  /// - Throws: ``UndoRefusal`` with the conflicts of the first save that cannot be undone. ``StoreError``: `unsupported`
  ///   if the model does not keep the values of a changed entity, `historyExpired` if they are not kept any more.
  /// - Complexity: linear in the number of changes of the saves, and in the members of relationships that they changed.
  public func undo(_ saves: [HistoryTransaction], in context: ManagedObjectContext) throws {
    precondition(isContainer(of: context), "The context belongs to another container.")
    try context.allOrNothing {
      for save in saves.sorted(by: { $0.token.transaction > $1.token.transaction }) {
        var undoing = try SaveUndoing(save, of: self, in: context)
        try undoing.run()
      }
    }
  }
}
