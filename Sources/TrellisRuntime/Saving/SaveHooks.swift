import TrellisModel

extension ObjectGraph {
  /// Calls the hooks of the objects that a save has written.
  func runDidSave(_ plan: SavePlan) {
    guard runtime.hooks.contains(.didSave) else { return }
    for object in plan.checked where object.isAlive && info(of: object).hooks.contains(.didSave) {
      run(.didSave, of: object) { object._didSave() }
    }
  }

  /// Calls the hooks of the objects to save, and then saves. If either fails, the hooks' changes are reverted.
  func withWillSave(_ save: () throws -> SavePlan) throws -> SavePlan {
    guard runtime.hooks.contains(.willSave) else { return try save() }
    undo.collectUntilNow()
    let (recorder, endRecording) = beginRecording()
    var hooks = SaveHooks(self, recorder)
    do {
      defer { endRecording() }
      try hooks.run()
      let plan = try save()
      undo.add(hooks.changes)
      return plan
    } catch {
      for changes in hooks.changes.reversed() { try? revert(changes) }
      _ = recorder.take(self)
      throw error
    }
  }
}

/// Calls the hooks of new and changed objects, and calls them again for objects that another object's hook has changed
/// meanwhile.
private struct SaveHooks {
  /// The changes of the hooks, call by call.
  private(set) var changes: [ChangeSet] = []
  private let graph: ObjectGraph
  private let recorder: ChangeRecorder
  private var queue: [ManagedObject] = []
  private var waiting: Set<ObjectIdentifier> = []
  private var calls: [ObjectIdentifier: Int] = [:]
  /// The generation of each object that a hook created: the number of hooks that created each other's objects before
  /// it.
  private var generations: [ObjectIdentifier: Int] = [:]

  /// The maximum number of calls of one object's hook in one save, and of generations of objects that hooks create.
  private static let mostCalls = 10

  init(_ graph: ObjectGraph, _ recorder: ChangeRecorder) {
    self.graph = graph
    self.recorder = recorder
  }

  mutating func run() throws {
    for object in graph.inserted + graph.changed { enqueue(object) }
    var next = 0
    while next < queue.count {
      let object = queue[next]
      next += 1
      waiting.remove(ObjectIdentifier(object))
      if isConcerned(object) { try call(object) }
    }
  }

  private func isConcerned(_ object: ManagedObject) -> Bool { object.isInserted || object.isUpdated }

  private mutating func enqueue(_ object: ManagedObject) {
    guard graph.info(of: object).hooks.contains(.willSave), isConcerned(object) else { return }
    if waiting.insert(ObjectIdentifier(object)).inserted { queue.append(object) }
  }

  private mutating func call(_ object: ManagedObject) throws {
    let count = calls[ObjectIdentifier(object), default: 0]
    guard count < Self.mostCalls else { throw endless(object) }
    guard generations[ObjectIdentifier(object), default: 0] <= Self.mostCalls else { throw endlessInserts(object) }
    calls[ObjectIdentifier(object)] = count + 1
    defer { keepChanges(of: object) }
    try graph.run(.willSave, of: object) { try object._willSave() }
  }

  /// Enqueues the objects that another object's hook has changed. An object's own changes do not call its hook again.
  private mutating func keepChanges(of object: ManagedObject) {
    let made = recorder.take(graph)
    if made.isEmpty { return }
    changes.append(made)
    let generation = generations[ObjectIdentifier(object), default: 0] + 1
    for other in made.inserted { generations[ObjectIdentifier(other)] = generation }
    for other in made.touched where other !== object { enqueue(other) }
  }

  private func endlessInserts(_ object: ManagedObject) -> ContextError {
    ContextError(
      .endlessHooks,
      "The hook \(graph.info(of: object).name).willSave was not called, since hooks have made \(Self.mostCalls) generations "
        + "of objects in one save. Let a hook insert only what is missing.")
  }

  private func endless(_ object: ManagedObject) -> ContextError {
    ContextError(
      .endlessHooks,
      "The hook \(graph.info(of: object).name).willSave was called \(Self.mostCalls) times in one save, since hooks keep "
        + "changing each other's objects. Let a hook set only what differs.")
  }
}
