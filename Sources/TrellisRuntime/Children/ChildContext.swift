extension ManagedObjectContext {
  /// Makes a child of this context, for changes that may be thrown away, as in a form.
  ///
  /// ```swift
  /// let form = context.newChildContext()
  /// let draft = try form.object(with: diary.objectID)
  /// draft?.content = "비가 왔다"
  /// try form.save()        // now diary.content has it, too, unsaved
  /// try context.save()     // now the store has it
  /// ```
  /// The child sees what this context holds, unsaved changes included. What is changed in the child stays there until
  /// ``save(mergePolicy:)``, which hands it to this context as unsaved changes, one step of its ``undo``; to throw it away let go
  /// of the child. The model's rules and hooks are asked in the child, and again when this context is saved. Unique keys are
  /// looked for in the store and here.
  ///
  /// An object that this context has changed since the child read it is a conflict, settled property by property as between
  /// any two contexts: see ``mergePolicy``. Transient properties do not go from one to the other. A child may have children.
  ///
  /// - Returns: a context in this one's isolation domain that keeps this one alive.
  public func newChildContext() -> ManagedObjectContext {
    ManagedObjectContext(core: core, parent: self)
  }
}
