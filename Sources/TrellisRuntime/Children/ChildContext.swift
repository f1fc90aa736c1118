extension ManagedObjectContext {
  /// Creates a child of this context, for changes that may be discarded, as in a form.
  ///
  /// ```swift
  /// let form = context.newChildContext()
  /// let draft = try form.object(with: diary.objectID)
  /// draft?.content = "비가 왔다"
  /// try form.save()        // now diary.content has it, too, unsaved
  /// try context.save()     // now the store has it
  /// ```
  /// The child reads the objects of this context, including unsaved changes. Changes of the child stay there until
  /// ``save(mergePolicy:)``, which passes them to this context as unsaved changes and as one step of its ``undo``. To
  /// discard them, release the child. The model's rules and hooks apply in the child, and again when this context is
  /// saved. Unique keys are searched for in the store and in this context.
  ///
  /// An object that this context has changed since the child read it is a conflict. It is settled property by property
  /// as between any two contexts; see ``mergePolicy``. Transient properties are not passed in either direction. A child
  /// may have children.
  ///
  /// - Returns: a context in the isolation domain of this one, which it retains.
  public func newChildContext() -> ManagedObjectContext {
    ManagedObjectContext(core: core, parent: self)
  }
}
