/// What was done in a context, step by step, to be undone and done again.
///
/// It is off until it is enabled. A step is what is done between ``beginGroup(_:)`` and ``endGroup()``, or, outside of groups,
/// what is done until the next group, the next save, or ``endStep(_:)``.
///
/// ```swift
/// context.undo.enable()
/// try context.undo.group("Rename") { diary.content = "산책" }
/// try context.save()
/// try context.undo.undo()        // the old content is back, as an unsaved change
/// try context.save()
/// try context.undo.redo()
/// ```
/// Attributes, transient ones too, relationships with their order, inserts, and deletes with what they took along can all be
/// undone, also after they were saved: what comes back has its old identity. A new object that a save has made one with a stored
/// one does not come back: undoing takes back what the stored one was given. What other contexts save is no step. A rollback or
/// reset of the context clears the history.
///
/// The history keeps the objects of its steps in memory, and deletes load what they would lose.
public final class UndoHistory {
  private let link: ContextLink
  private var done: [UndoStep] = []
  private var undone: [UndoStep] = []
  /// What belongs to the step that is under way.
  private var open = UndoStep()
  private var depth = 0
  private var limit = 0

  init(_ link: ContextLink) { self.link = link }

  // MARK: Switching on and off

  /// Whether changes are recorded.
  public private(set) var isEnabled = false

  /// Begins to record changes. Those made before cannot be undone.
  ///
  /// - Parameter limit: How many steps are kept at most; older ones are forgotten. Less than 1 counts as 1.
  /// - Complexity: linear in the number of unsaved changes.
  public func enable(limit: Int = 100) {
    self.limit = max(1, limit)
    trim()
    guard !isEnabled, let context = link.context else { return }
    isEnabled = true
    context.record(with: ChangeRecorder(context))
  }

  /// Stops recording and forgets every step.
  public func disable() {
    guard isEnabled else { return }
    clear()
    isEnabled = false
    link.context?.record(with: nil)
  }

  /// Forgets every step. The changes stay.
  public func clear() {
    done = []
    undone = []
    open = UndoStep()
    depth = 0
    if isEnabled, let context = link.context { context.record(with: ChangeRecorder(context)) }
  }

  // MARK: Steps

  /// Begins a step that lasts until ``endGroup()``. A group within a group belongs to the outer one's step.
  ///
  /// - Parameter name: What a person calls the step. An inner group's name counts where the outer one has none.
  public func beginGroup(_ name: String? = nil) {
    guard isEnabled else { return }
    if depth == 0 { endStep() }
    depth += 1
    if open.name == nil { open.name = name }
  }

  /// Ends what ``beginGroup(_:)`` began. One call too many does nothing.
  public func endGroup() {
    guard depth > 0 else { return }
    depth -= 1
    if depth == 0 { close() }
  }

  /// Makes what is done in a closure one step.
  ///
  /// - Parameters:
  ///   - name: What a person calls the step.
  ///   - body: The work. When it throws, what it did until then is the step.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws.
  @discardableResult public func group<Result>(_ name: String? = nil, _ body: () throws -> Result) rethrows -> Result {
    beginGroup(name)
    defer { endGroup() }
    return try body()
  }

  /// Makes what was done since the last step one of its own. Within a group nothing happens.
  ///
  /// - Parameter name: What a person calls the step.
  public func endStep(_ name: String? = nil) {
    guard isEnabled, depth == 0 else { return }
    open.name = name
    close()
  }

  private func close() {
    collect()
    if !open.isEmpty {
      done.append(open)
      undone = []
      trim()
    }
    open = UndoStep()
  }

  /// Takes over what was recorded since the last time.
  private func collect() {
    guard let context = link.context, let recorder = context.recorder else { return }
    open.append(recorder.take(context))
  }

  private func trim() {
    if done.count > limit { done.removeFirst(done.count - limit) }
  }

  // MARK: Undoing

  /// Whether there is anything to undo.
  public var canUndo: Bool {
    guard isEnabled, depth == 0 else { return false }
    collect()
    return !open.isEmpty || !done.isEmpty
  }

  /// Whether there is anything to do again.
  public var canRedo: Bool {
    guard isEnabled, depth == 0 else { return false }
    collect()
    return open.isEmpty && !undone.isEmpty
  }

  /// The name of the step that ``undo()`` would undo; nil where it has none.
  public var undoName: String? {
    guard canUndo else { return nil }
    return open.isEmpty ? done.last?.name : open.name
  }

  /// The name of the step that ``redo()`` would do again; nil where it has none.
  public var redoName: String? { canRedo ? undone.last?.name : nil }

  /// Undoes the last step. What comes of it are changes like others: they are saved by the next save.
  ///
  /// - Returns: whether there was one.
  /// - Throws: ``ContextError`` within a group or a hook; ``StoreError`` when something has to be loaded and the store fails.
  ///   Then nothing is undone.
  /// - Complexity: linear in the size of the step.
  @discardableResult public func undo() throws -> Bool {
    try checkAllowed("undo")
    endStep()
    guard link.context != nil, let step = done.popLast() else { return false }
    undone.append(try turn(step) { done.append(step) })
    return true
  }

  /// Does again what was undone last, unless something else was done meanwhile.
  ///
  /// - Returns: whether there was anything.
  /// - Throws: as ``undo()``.
  /// - Complexity: linear in the size of the step.
  @discardableResult public func redo() throws -> Bool {
    try checkAllowed("redo")
    endStep()
    guard link.context != nil, let step = undone.popLast() else { return false }
    done.append(try turn(step) { undone.append(step) })
    return true
  }

  private func checkAllowed(_ operation: String) throws {
    try link.context?.checkAllowed(operation)
    if depth > 0 { throw ContextError(.openGroup, "\(operation) was called before the group was ended.") }
  }

  /// Takes a step back.
  ///
  /// - Returns: the step that takes that back.
  private func turn(_ step: UndoStep, onFailure restore: () -> Void) throws -> UndoStep {
    guard let context = link.context, let recorder = context.recorder else { return step }
    var opposite = UndoStep(name: step.name)
    do {
      for changes in step.parts.reversed() {
        defer { opposite.append(recorder.take(context)) }
        try context.takeBack(changes)
      }
    } catch {
      for changes in opposite.parts.reversed() { try? context.takeBack(changes) }
      _ = recorder.take(context)
      restore()
      throw error
    }
    context.settleBacklog()
    return opposite
  }

  // MARK: What the context calls

  /// A save ends a step, unless a group is open.
  func didSave() { endStep() }

  /// Whether a save records what it takes over of what others wrote, to take it back if it fails: none of that is a step.
  var isMergeRecorded = false

  /// Sets apart what was done until now, before hooks run or others' rows are merged.
  func suspend() {
    if isEnabled && !isMergeRecorded { collect() }
  }

  /// What hooks did in a save belongs to the step that was saved.
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
  /// What a save did to make objects one with others belongs to the step that made these objects. As they are of no context
  /// any more, the steps since then are one; a step that has done nothing else does not count.
  func unite(_ changes: [ChangeSet], _ replaced: [Int64: ManagedObject]) {
    guard isEnabled else { return }
    var united = UndoStep()
    if let first = done.firstIndex(where: { $0.touches(replaced) }) {
      for step in done[first...] { united.append(step) }
      done.removeSubrange(first...)
    } else if !open.touches(replaced) {
      return
    }
    // In a group, or when nothing was done before, the step is still under way.
    let isOpen = depth > 0 || !open.isEmpty
    if isOpen { united.append(open) }
    for set in changes { united.append(set) }
    united = united.without(replaced)
    if isOpen { open = united } else if !united.isEmpty { done.append(united) }
  }
}

/// What is undone at once.
struct UndoStep {
  var name: String?
  private(set) var parts: [ChangeSet] = []

  var isEmpty: Bool { parts.isEmpty }

  mutating func append(_ changes: ChangeSet) {
    if !changes.isEmpty { parts.append(changes) }
  }

  /// Adds what another step did after this one, whose name counts if it has one.
  mutating func append(_ step: UndoStep) {
    parts += step.parts
    name = step.name ?? name
  }

  func touches(_ objects: [Int64: ManagedObject]) -> Bool {
    parts.contains { part in part.touched.contains { objects[$0._key] != nil } }
  }

  /// The same without what was done to objects for which others stand.
  func without(_ replaced: [Int64: ManagedObject]) -> UndoStep {
    var left = UndoStep(name: name)
    for part in parts { left.append(part.without(replaced)) }
    return left
  }
}
