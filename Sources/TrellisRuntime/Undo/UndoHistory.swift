/// The undo and redo history of a context.
///
/// The history is off until it is enabled. A step consists of the changes between ``beginGroup(_:)`` and ``endGroup()``
/// or, outside of groups, of the changes until the next group, the next save, or ``endStep(_:)``.
///
/// ```swift
/// context.undo.enable()
/// try context.undo.group("Rename") { diary.content = "산책" }
/// try context.save()
/// try context.undo.undo()        // the old content is back, as an unsaved change
/// try context.save()
/// try context.undo.redo()
/// ```
/// Changes of attributes, including transient ones, of relationships with their order, inserts, and deletes with their
/// cascades can all be undone, even after they were saved: restored objects keep their identity. A new object that a
/// save has merged into a stored one is not restored: undoing reverts the changes that the stored one got. Saves of
/// other contexts are no steps. A rollback or reset of the context clears the history.
///
/// The history keeps the objects of its steps in memory, and deletes load the links that they would lose.
public final class UndoHistory {
  private let link: ContextLink
  private var done: [UndoStep] = []
  private var undone: [UndoStep] = []
  /// The changes of the unfinished step.
  private var open = UndoStep()
  private var depth = 0
  private var limit = 0
  /// Whether a step is being undone or redone.
  private var isTurning = false
  /// References that an undo could not restore because their target no longer exists, by the key of the target. They
  /// are restored if an undo restores the target.
  private var lostReferences: [Int64: [LostReference]] = [:]

  init(_ link: ContextLink) { self.link = link }

  // MARK: Switching on and off

  /// Whether changes are recorded.
  public private(set) var isEnabled = false

  /// Starts recording changes. Earlier changes cannot be undone. A call inside a hook is ignored and reported.
  ///
  /// - Parameter limit: The maximum number of steps; older ones are dropped. A value less than 1 counts as 1.
  /// - Complexity: linear in the number of unsaved changes.
  public func enable(limit: Int = 100) {
    guard isFree("undo.enable") else { return }
    self.limit = max(1, limit)
    trim()
    guard !isEnabled, let graph = link.graph else { return }
    isEnabled = true
    graph.record(with: ChangeRecorder(graph))
  }

  /// Stops recording and drops all steps. A call inside a hook is ignored and reported.
  public func disable() {
    guard isEnabled, isFree("undo.disable") else { return }
    clear()
    isEnabled = false
    link.graph?.record(with: nil)
  }

  /// Drops all steps. The changes stay. A call inside a hook is ignored and reported.
  public func clear() {
    guard isFree("undo.clear") else { return }
    done = []
    undone = []
    open = UndoStep()
    depth = 0
    lostReferences = [:]
    if isEnabled, let graph = link.graph { graph.record(with: ChangeRecorder(graph)) }
  }

  // MARK: Steps

  /// Begins a step that lasts until ``endGroup()``. A group within a group belongs to the step of the outer one.
  ///
  /// - Parameter name: The name of the step for the user. The name of an inner group is used if the outer one has none.
  public func beginGroup(_ name: String? = nil) {
    guard isEnabled else { return }
    if depth == 0 { endStep() }
    depth += 1
    if open.name == nil { open.name = name }
  }

  /// Ends the group that ``beginGroup(_:)`` began. Does nothing if no group is open.
  public func endGroup() {
    guard depth > 0 else { return }
    depth -= 1
    if depth == 0 { close() }
  }

  /// Makes the changes of a closure one step.
  ///
  /// - Parameters:
  ///   - name: The name of the step for the user.
  ///   - body: The changes. If it throws, the changes until then are the step.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws.
  @discardableResult public func group<Result>(_ name: String? = nil, _ body: () throws -> Result) rethrows -> Result {
    beginGroup(name)
    defer { endGroup() }
    return try body()
  }

  /// Makes the changes since the last step a step of their own. Does nothing within a group.
  ///
  /// - Parameter name: The name of the step for the user.
  public func endStep(_ name: String? = nil) {
    guard isEnabled, depth == 0 else { return }
    open.name = name ?? open.name
    close()
  }

  private func close() {
    if isBusy { return }
    collect()
    if !open.isEmpty {
      done.append(open)
      undone = []
      trim()
    }
    open = UndoStep()
  }

  /// Adds the changes since the last call to the unfinished step.
  private func collect() {
    guard let graph = link.graph, let recorder = graph.recorder else { return }
    open.append(recorder.take(graph))
  }

  private func trim() {
    if done.count > limit { done.removeFirst(done.count - limit) }
  }

  /// Whether what is recorded now belongs to a hook, a merge or an undo that has not ended, which takes it itself.
  private var isBusy: Bool { isSaveRecorded || isTurning || link.graph?.runningHook != nil }

  /// Whether the history may be emptied: not in a hook, where the call is ignored and reported, since the changes of the hook
  /// are reverted if its save fails.
  private func isFree(_ operation: String) -> Bool { link.graph?.isAllowed(operation) != false }

  // MARK: Undoing

  /// Whether there is a step to undo.
  public var canUndo: Bool {
    guard isEnabled, depth == 0 else { return false }
    if !isBusy { collect() }
    return !open.isEmpty || !done.isEmpty
  }

  /// Whether there is a step to redo.
  public var canRedo: Bool {
    guard isEnabled, depth == 0 else { return false }
    if !isBusy { collect() }
    return open.isEmpty && !undone.isEmpty
  }

  /// The name of the step that ``undo()`` would undo; nil if it has none.
  public var undoName: String? {
    guard canUndo else { return nil }
    return open.isEmpty ? done.last?.name : open.name
  }

  /// The name of the step that ``redo()`` would redo; nil if it has none.
  public var redoName: String? { canRedo ? undone.last?.name : nil }

  /// Undoes the last step. The resulting changes are ordinary unsaved changes.
  ///
  /// - Returns: whether there was a step to undo.
  /// - Throws: ``ContextError`` within a group or a hook; ``StoreError`` if objects have to be loaded and the store
  ///   fails. Then nothing is undone.
  /// - Complexity: linear in the size of the step.
  @discardableResult public func undo() throws -> Bool {
    try checkAllowed("undo")
    endStep()
    guard link.graph != nil, let step = done.popLast() else { return false }
    undone.append(try turn(step) { done.append(step) })
    return true
  }

  /// Redoes the step that was undone last, unless other changes were made since.
  ///
  /// - Returns: whether there was a step to redo.
  /// - Throws: the same errors as ``undo()``.
  /// - Complexity: linear in the size of the step.
  @discardableResult public func redo() throws -> Bool {
    try checkAllowed("redo")
    endStep()
    guard link.graph != nil, let step = undone.popLast() else { return false }
    done.append(try turn(step) { undone.append(step) })
    return true
  }

  private func checkAllowed(_ operation: String) throws {
    try link.graph?.checkAllowed(operation)
    if isTurning {
      throw ContextError(.insideHook, "A call of \(operation) is refused while a step is undone or redone.")
    }
    if depth > 0 { throw ContextError(.openGroup, "\(operation) was called before the group was ended.") }
  }

  /// Reverts a step.
  ///
  /// - Returns: the step that reverts this.
  private func turn(_ step: UndoStep, onFailure restore: () -> Void) throws -> UndoStep {
    guard let graph = link.graph, let recorder = graph.recorder else { return step }
    let watch = LinkWatch(graph, "an undo", changing: step.parts.lazy.flatMap { $0.touched })
    defer { watch.end() }
    var opposite = UndoStep(name: step.name)
    isTurning = true
    defer { isTurning = false }
    do {
      for changes in step.parts.reversed() {
        defer { opposite.append(recorder.take(graph)) }
        try graph.revert(changes)
      }
    } catch {
      for changes in opposite.parts.reversed() { try? graph.revert(changes) }
      _ = recorder.take(graph)
      restore()
      throw error
    }
    graph.settleBacklog()
    return opposite
  }

  // MARK: Lost references

  /// Notes a reference that could not be restored because its target no longer exists.
  func noteLost(_ reference: LostReference, to key: Int64) {
    guard isEnabled else { return }
    let known = lostReferences[key, default: []]
    if known.contains(where: { $0.object === reference.object && $0.relationship.isSame(as: reference.relationship) }) {
      return
    }
    lostReferences[key] = known + [reference]
  }

  /// The references that were noted for a target, and are noted no more.
  func takeLostReferences(to key: Int64) -> [LostReference] { lostReferences.removeValue(forKey: key) ?? [] }

  // MARK: Calls of the context

  /// Ends the step after a save, unless a group is open.
  func didSave() { endStep() }

  /// Whether a save, of this context or of a child, records what it changes here, to revert it if it fails. These changes
  /// belong to no step.
  var isSaveRecorded = false

  /// Collects the changes until now, before hooks run or rows of other contexts are merged.
  func collectUntilNow() {
    if isEnabled && !isSaveRecorded { collect() }
  }

  /// Adds the changes that hooks made in a save to the step that was saved.
  func add(_ changes: [ChangeSet]) {
    guard isEnabled else { return }
    if depth > 0 || !open.isEmpty || done.isEmpty {
      for set in changes { open.append(set) }
    } else {
      for set in changes { done[done.count - 1].append(set) }
    }
  }
}

extension UndoHistory {
  /// Adds the changes with which a save merged new objects into stored ones to the step that inserted the new objects.
  /// Since these belong to no context any more, that step and all later ones become one; a step without other changes
  /// is dropped.
  func unite(_ changes: [ChangeSet], _ replaced: [Int64: ManagedObject]) {
    guard isEnabled else { return }
    var united = UndoStep()
    if let first = done.firstIndex(where: { $0.touches(replaced) }) {
      for step in done[first...] { united.append(step) }
      done.removeSubrange(first...)
    } else if !open.touches(replaced) {
      return
    }
    // Within a group, or if the open step has changes, the united step stays open.
    let isOpen = depth > 0 || !open.isEmpty
    if isOpen { united.append(open) }
    for set in changes { united.append(set) }
    united = united.without(replaced)
    if isOpen { open = united } else if !united.isEmpty { done.append(united) }
  }
}

/// The changes that are undone together.
struct UndoStep {
  var name: String?
  private(set) var parts: [ChangeSet] = []

  var isEmpty: Bool { parts.isEmpty }

  mutating func append(_ changes: ChangeSet) {
    if !changes.isEmpty { parts.append(changes) }
  }

  /// Appends the changes of a later step, and takes over its name if it has one.
  mutating func append(_ step: UndoStep) {
    parts += step.parts
    name = step.name ?? name
  }

  func touches(_ objects: [Int64: ManagedObject]) -> Bool {
    parts.contains { part in part.touched.contains { objects[$0._key] != nil } }
  }

  /// The step without the changes of objects that were replaced by other objects.
  func without(_ replaced: [Int64: ManagedObject]) -> UndoStep {
    var left = UndoStep(name: name)
    for part in parts { left.append(part.without(replaced)) }
    return left
  }
}

// MARK: - Description

extension UndoHistory: CustomStringConvertible {
  /// The numbers of steps, or that the history is off.
  public var description: String {
    isEnabled ? "undo history: \(done.count) to undo, \(undone.count) to redo" : "undo history: off"
  }
}
