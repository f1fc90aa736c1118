import Foundation
import TrellisStorage

/// A set of objects in memory. A context has one object for each identity, tracks the changes and saves them.
///
/// A context is not Sendable: the context and its objects stay in the isolation domain that it was created in. A
/// container creates contexts:
///
/// ```swift
/// let context = container.newContext()
/// let diary = EmotionDiary(in: context, emotion: .happy, content: "산책하고 커피")
/// try context.save()
/// ```
/// Fetches, saves and lazy loads are synchronous. For work outside of the main actor use
/// ``PersistentContainer/perform(timeout:deadline:fromReplica:_:)``.
public final class ManagedObjectContext {
  /// The objects and what was changed about them. The context has no other state but the history of ``undo``.
  package let graph: ObjectGraph
  /// The history of changes that can be undone, step by step. Disabled by default.
  public let undo: UndoHistory
  /// The parent of a child context. Nil for a context that saves to the store.
  public let parent: ManagedObjectContext?

  init(core: ContainerCore, parent: ManagedObjectContext? = nil) {
    let link = ContextLink()
    undo = UndoHistory(link)
    graph = ObjectGraph(
      core: core, parent: parent?.graph, link: link, undo: undo,
      source: parent.map { ParentConnection($0.graph, for: link) })
    self.parent = parent
    graph.owner = self
  }

  /// Creates a context that reads over a connection of its own.
  init(core: ContainerCore, reading connection: any StoreConnection) {
    let link = ContextLink()
    undo = UndoHistory(link)
    graph = ObjectGraph(core: core, parent: nil, link: link, undo: undo, source: connection)
    parent = nil
    graph.owner = self
  }

  /// Creates a context that shows the store as it was.
  ///
  /// - Parameter past: the connection that reads it.
  convenience init(core: ContainerCore, showing past: any StoreConnection) {
    self.init(core: core, reading: past)
    graph.showPast()
  }

  deinit { graph.owner = nil }

  /// The rule for the use of relationships that were not loaded with their object. By default they are loaded without a
  /// report. A request may have a stricter rule for its own results.
  public var lazyLoading: LazyLoading {
    get { graph.lazyLoading }
    set { graph.lazyLoading = newValue }
  }

  /// The policy for conflicts with other contexts that have written the same objects. By default a save throws.
  public var mergePolicy: MergePolicy {
    get { graph.mergePolicy }
    set { graph.mergePolicy = newValue }
  }

  /// The name of the context in the notices that other contexts receive of its saves.
  public var author: String? {
    get { graph.author }
    set { graph.author = newValue }
  }
}

@available(*, unavailable, message: "a context stays where it was made; use container.perform or a context of your own")
extension ManagedObjectContext: @unchecked Sendable {}

extension ManagedObject {
  /// The object's context; nil if the context was deinitialized or the object is detached from it.
  public final var managedObjectContext: ManagedObjectContext? {
    phase == .detached ? nil : link.graph?.owner
  }
}

// MARK: - Objects

extension ManagedObjectContext {
  /// Whether there are unsaved changes.
  ///
  /// - Complexity: linear in the number of objects that were written to.
  public var hasChanges: Bool { graph.hasChanges }

  /// The objects that the next save will insert, in the order in which they were created.
  public var insertedObjects: [ManagedObject] { Array(graph.insertedObjects) }

  /// The saved objects with unsaved changes.
  public var updatedObjects: [ManagedObject] { graph.updatedObjects }

  /// The objects that the next save will delete.
  public var deletedObjects: [ManagedObject] { graph.deletedObjects }

  /// The number of objects in memory.
  public var registeredCount: Int { graph.map.count }

  /// Returns the object with an identifier if it is in memory. The store is not accessed, so an object that another
  /// context has deleted is returned until this context merges that save.
  public func registeredObject<Object: ManagedObject>(with id: ObjectID<Object>) -> Object? {
    graph.map[id.key].flatMap { $0.phase == .deleted ? nil : $0 as? Object }
  }
}

// MARK: - Deleting

extension ManagedObjectContext {
  /// Deletes an object in this context immediately, and in the store at the next save.
  ///
  /// Delete rules are applied immediately as well: cascades delete, and nullify unlinks the partners. A deny rule is
  /// checked at the next save. The object's values stay readable until it is released.
  ///
  /// Inside the hook `willDelete`, this does nothing for an object that is already being deleted.
  ///
  /// - Throws: ``StoreError`` if partners have to be loaded and the store fails; then nothing is deleted.
  ///   ``ContextError`` with the code `foreign-object` if the object belongs to another context, and with
  ///   `endless-hooks` if hooks have called each other too often.
  /// - Complexity: linear in the number of objects that are deleted or unlinked.
  public func delete(_ object: ManagedObject) throws { try graph.delete(object) }

  /// Reverts a delete that is not saved yet: the object is restored together with everything that its delete cascaded
  /// to and with the relationships that it had. Other changes stay.
  ///
  /// ```swift
  /// try context.delete(team)
  /// do {
  ///   try context.save()
  /// } catch let refusal as ValidationError {
  ///   context.undelete(team)      // the rest can be saved now
  ///   try context.save()
  /// }
  /// ```
  /// A partner that was linked to another object meanwhile keeps that object. Two partners that are both deleted are
  /// linked again as soon as both are restored, in any order.
  ///
  /// - Parameter object: An object that this context has deleted since the last save. For any other object nothing
  ///   happens, and an object of another context is reported. It need not be the one that `delete` was called with.
  /// - Complexity: linear in the number of unsaved deletes and of restored objects.
  public func undelete(_ object: ManagedObject) { graph.undelete(object) }
}

// MARK: - Saving

extension ManagedObjectContext {
  /// Writes all changes since the last save in one transaction, or none of them.
  ///
  /// A save plans the writes, checks the objects, and writes them in one transaction. Only then do the objects count as
  /// saved. If any step fails, the store and the context are unchanged.
  ///
  /// If another context has written the same objects meanwhile, edits of different properties are merged and checked
  /// again. The policy settles changes of the same property; see ``MergePolicy``.
  ///
  /// - Parameter mergePolicy: The policy for conflicts in this save; ``mergePolicy`` by default.
  /// - Throws: ``ValidationError`` with every broken rule, whether the violation is in memory or was written by another
  ///   context since; ``SaveConflict`` if another context changed or deleted a row meanwhile and the policy does not
  ///   settle the conflict; ``StoreError`` if the store fails, with the code `contended` if other contexts kept writing
  ///   the same objects during many attempts; ``ContextError`` if a lazy load failed before, if this is called
  ///   inside a hook, and if hooks keep changing each other's objects; the errors of `willSave` hooks.
  /// - Complexity: linear in the number of changed objects, independent of the other objects in memory.
  public func save(mergePolicy: MergePolicy? = nil) throws { try graph.save(mergePolicy: mergePolicy) }

  /// Runs changes and saves them. If another context has written the same objects meanwhile, the changes are run again
  /// on the present state of the store.
  ///
  /// ```swift
  /// try context.saveRetrying {
  ///   try context.object(with: id)?.count += 1
  /// }
  /// ```
  /// Before each further run, all changes of the body in the context are rolled back, and objects in memory are read
  /// again when they are next used. Therefore the body must fetch the objects that it needs, and must have no side
  /// effects outside of the context that may not happen twice. Unsaved changes from before the call would be lost, so
  /// there may be none.
  ///
  /// The body is run again after a ``SaveConflict`` under the policy `error`, after a ``ValidationError`` whose
  /// failures concern only unique keys and partners that other contexts have deleted, and after a save that gave up
  /// because of other writers. Between later attempts the thread sleeps for some milliseconds to reduce contention.
  ///
  /// - Parameters:
  ///   - retries: The maximum number of further runs; 0 or less for none.
  ///   - mergePolicy: The policy for conflicts that need no second run; ``mergePolicy`` by default.
  ///   - body: The changes.
  /// - Returns: the result of the last run of the body.
  /// - Throws: the errors of the body; the errors of the last ``save(mergePolicy:)``, after everything was rolled back;
  ///   ``ContextError`` with the code `unsaved-changes` if the context has unsaved changes before the call.
  public func saveRetrying<Result>(
    atMost retries: Int = 10, mergePolicy: MergePolicy? = nil, _ body: () throws -> Result
  ) throws -> Result {
    try graph.checkAllowed("saving")
    guard !hasChanges else {
      throw ContextError(
        .unsavedChanges, "Changes from before would be lost when the body is run again. Save or roll back first.")
    }
    var left = max(0, retries)
    var rounds = 0
    while true {
      do {
        let result = try body()
        try save(mergePolicy: mergePolicy)
        return result
      } catch {
        rollback()
        guard left > 0, Self.comesOfOthers(error) else { throw error }
        refreshAll()
      }
      left -= 1
      rounds += 1
      if rounds > 2 { Thread.sleep(forTimeInterval: .random(in: 0...0.0005 * Double(min(rounds, 20)))) }
    }
  }

  /// Whether an error may be resolved by running the changes again on what other contexts have written.
  private static func comesOfOthers(_ error: any Error) -> Bool {
    if error is SaveConflict || (error as? StoreError)?.code == .contended { return true }
    guard let failures = (error as? ValidationError)?.failures, !failures.isEmpty else { return false }
    return failures.allSatisfy { $0.rule == .unique || $0.rule == .deletedPartner }
  }

  /// Saves the changes that are valid, and discards those of objects that break rules, so that one invalid object does
  /// not block every save of the context.
  ///
  /// ```swift
  /// for change in try context.saveValidChanges() { log(change.object, change.failures) }
  /// ```
  /// If the save is refused because of broken rules, the changes of the objects that break them are discarded, and the
  /// save is tried again: new objects are withdrawn, changed objects get their last fetched or saved values, and deletes
  /// are reverted. The changes of an object that breaks a rule only as a consequence are discarded as well. The rules
  /// include those that only the store can check, such as unique keys and partners that other contexts changed
  /// meanwhile.
  ///
  /// A ``SaveConflict`` is not a broken rule: it is thrown as by ``save(mergePolicy:)``.
  ///
  /// - Parameter mergePolicy: The policy for conflicts in this save; ``mergePolicy`` by default.
  /// - Returns: the discarded changes with the reasons, in the order in which they were discarded; empty if no rule was
  ///   broken.
  /// - Throws: the errors of ``save(mergePolicy:)`` except ``ValidationError``. Nothing is saved then, and changes that
  ///   were discarded before the error stay discarded; undo restores them.
  /// - Complexity: that of a save, for each round in which a change is discarded.
  @discardableResult public func saveValidChanges(mergePolicy: MergePolicy? = nil) throws -> [DiscardedChange] {
    try graph.saveValidChanges(mergePolicy: mergePolicy)
  }

  /// Checks whether a save would refuse the delete of an object. Nothing is deleted.
  ///
  /// ```swift
  /// do {
  ///   try context.validateForDelete(team)
  ///   try context.delete(team)
  /// } catch let refusal as ValidationError {
  ///   show(refusal.failures)
  /// }
  /// ```
  /// This checks everything that the delete would cascade to: the partners that deny it, and the objects that would be
  /// left without a required partner. Objects that the context has already deleted do not prevent the delete.
  ///
  /// - Parameter object: An object of this context.
  /// - Throws: ``ValidationError`` with every rule that a save would refuse the delete for; ``StoreError`` if partners
  ///   have to be loaded and the store fails; ``ContextError`` with the code `foreign-object` if the object belongs to
  ///   another context.
  /// - Complexity: linear in the number of objects that would be deleted or unlinked.
  public func validateForDelete(_ object: ManagedObject) throws { try graph.validateForDelete(object) }
}

// MARK: - Discarding and refreshing

extension ManagedObjectContext {
  /// Discards all changes since the last save: new objects belong to no context any more, deleted objects are restored,
  /// and values and relationships are as they were last fetched or saved.
  ///
  /// - Complexity: linear in the number of changes.
  public func rollback() { graph.rollback() }

  /// Discards all changes and all objects. Objects that are still referenced keep their values and become read-only.
  public func reset() { graph.reset() }

  /// Reads an object from the store again. An object without a row in the store is deleted.
  ///
  /// - Parameters:
  ///   - object: An object of this context. New objects are unchanged.
  ///   - discardingChanges: Whether edits are discarded as well; otherwise they are applied to the new values. The
  ///     other ends of the object's relationships follow. Unsaved references in the rows of other objects stay.
  /// - Throws: ``StoreError`` if the store fails; ``ContextError`` with the code `foreign-object` if the object belongs
  ///   to another context.
  public func refresh(_ object: ManagedObject, discardingChanges: Bool = false) throws {
    try graph.refresh(object, discardingChanges: discardingChanges)
  }

  /// Makes all unchanged objects read from the store again when they are next used. Changed objects keep their edits.
  public func refreshAll() { graph.refreshAll() }

  /// Removes the unchanged objects from memory that only the context references.
  ///
  /// The context does so automatically whenever the number of its objects has doubled, but then spares objects that
  /// were loaded since the time before.
  ///
  /// - Returns: the number of removed objects.
  /// - Complexity: linear in the number of objects in memory.
  @discardableResult public func dropUnusedObjects() -> Int {
    graph.sweep(sparingRecent: false)
  }
}

// MARK: - Merging

extension ManagedObjectContext {
  /// Merges the changes that other contexts of the container have saved, and those that other processes have written to
  /// the same file.
  ///
  /// The merge is three-way, between the last read state, the changes of this context, and the saved changes:
  /// - Objects without changes are read again when they are next used; if they were deleted elsewhere, they are deleted
  ///   here.
  /// - Of an object with changes, the properties that are unchanged in this context get the saved values. A property
  ///   that was changed on both sides keeps the value of this context, and the next save detects the conflict. The same
  ///   holds for an object that was deleted elsewhere.
  /// - A to-many shows the members in the store, without those that were removed in this context and with those that
  ///   were added in it.
  ///
  /// A context does this automatically at each fetch and save. The main context also does it whenever another context
  /// saves; other contexts do with ``mergeChangesContinuously()``. Observers of the changed objects are notified.
  ///
  /// - Complexity: linear in the number of saved changes and of unsaved changes of this context.
  public func mergeChanges() { graph.mergeInbox() }

  /// Merges the changes of other contexts as soon as they are saved, until the task is cancelled.
  ///
  /// ```swift
  /// actor Ledger {
  ///   let context: ManagedObjectContext
  ///   func follow() async { await context.mergeChangesContinuously() }
  /// }
  /// ```
  /// This runs in the caller's isolation, between other work there, so objects never change in the middle of work that
  /// does not await. Saves in quick succession are merged together. The context stays alive while this runs.
  ///
  /// - Complexity: linear in the number of changed objects that the context has in memory.
  public nonisolated(nonsending) func mergeChangesContinuously() async {
    graph.mergeInbox()
    let externalChanges = graph.core.externalChanges.watch()
    for await _ in graph.inbox.listen() { graph.mergeInbox() }
    _ = externalChanges
  }
}

// MARK: - Child contexts

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
  public func newChildContext() -> ManagedObjectContext { ManagedObjectContext(core: graph.core, parent: self) }
}

// MARK: - Pinning

extension ManagedObjectContext {
  /// Reads one moment of the store: everything that is loaded inside `body` shows the store as it is at the start,
  /// whatever other contexts save meanwhile.
  ///
  /// ```swift
  /// try container.newContext().pinned { context in
  ///   let total = try context.count(Book.all)
  ///   try context.stream(Book.all) { write($0) }   // exactly as many
  /// }
  /// ```
  /// Objects that were loaded before and are not faults keep their values, so use a new context for a report. Other
  /// contexts may read and write meanwhile; the log of a SQLite file grows until the end. Changes that were saved
  /// meanwhile are merged after the end. A nested call shows the same moment.
  ///
  /// - Throws: ``StoreError`` if the store fails or does not support this; the errors of `body`. A save inside throws
  ///   ``StoreError`` with the code `readOnly`.
  public func pinned<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
    try graph.pinned { try body(self) }
  }
}

// MARK: - Observing

extension ManagedObjectContext {
  /// Whether this context's objects support Swift's Observation. The default is false, because each read of an observed
  /// object takes a few times longer. Contexts that do not observe have no such cost.
  ///
  /// ```swift
  /// let context = container.mainContext
  /// context.isObserving = true
  /// withObservationTracking { show(receipt.amount) } onChange: { … }
  /// ```
  /// Observers are notified before a change: of a value or relationship when it is set, at both ends; of all properties
  /// when an object is rolled back, undone or deleted, or merges what another context saved.
  public var isObserving: Bool {
    get { graph.isObserving }
    set { graph.isObserving = newValue }
  }
}

// MARK: - Description

extension ManagedObjectContext: CustomStringConvertible {
  /// The numbers of objects in memory and of unsaved changes: `context of Diary: 12 objects, 2 inserted, 1 deleted`.
  ///
  /// - Complexity: linear in the number of objects that were written to.
  public var description: String {
    let changes = [
      (insertedObjects.count, "inserted"), (updatedObjects.count, "updated"), (deletedObjects.count, "deleted"),
    ]
    let parts = [(registeredCount, "objects")] + changes.filter { $0.0 > 0 }
    return "context of \(graph.runtime.model.description.name): "
      + parts.map { "\($0) \($1)" }.joined(separator: ", ")
  }
}
