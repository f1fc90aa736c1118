import TrellisModel

extension ManagedObject {
  /// Called by generated initializers as their last step.
  @_spi(Generated) public final func _finishInsert() {
    guard let graph = link.graph else { return }
    if let problem = graph.nesting(.didInsert, of: self) { return graph.reportToThrow(problem) }
    graph.run(.didInsert, of: self) { _didInsert() }
  }
}

extension ObjectGraph {
  /// Calls the hooks of objects that are about to be deleted, and removes from the list those that a hook has deleted.
  ///
  /// - Throws: ``ContextError`` if too many hooks are nested. Since a hook cannot propagate the error, the next fetch
  ///   or save throws it as well.
  func runWillDelete(_ objects: inout [ManagedObject]) throws(ContextError) {
    for object in objects where object.isAlive && info(of: object).hooks.contains(.willDelete) {
      object._willRead(-1)
      if let problem = nesting(.willDelete, of: object) {
        reportToThrow(problem)
        throw problem
      }
      run(.willDelete, of: object) { object._willDelete() }
    }
    objects.removeAll { !$0.isAlive }
  }

  /// Calls the hooks of the objects that a save has written.
  func runDidSave(_ plan: SavePlan) {
    guard runtime.hooks.contains(.didSave) else { return }
    for object in plan.checked where object.isAlive && info(of: object).hooks.contains(.didSave) {
      run(.didSave, of: object) { object._didSave() }
    }
  }
}

// MARK: - Validation hooks

extension ObjectRules {
  /// Checks a new or changed object against its model and by its hook.
  mutating func checkAll(_ object: ManagedObject, _ hook: LifecycleHook) throws {
    try check(object)
    callValidationHook(hook, of: object)
  }

  /// Runs a validation hook and adds its failures.
  mutating func callValidationHook(_ hook: LifecycleHook, of object: ManagedObject) {
    guard graph.runtime.hooks.contains(hook), graph.info(of: object).hooks.contains(hook) else { return }
    var found = HookFailures()
    graph.run(hook, of: object) {
      switch hook {
      case .validateInsert: object._validateInsert(&found)
      case .validateUpdate: object._validateUpdate(&found)
      case .validateDelete: object._validateDelete(&found)
      default: break
      }
    }
    for error in found.errors { addFailures(error, object) }
  }

  private mutating func addFailures(_ error: any Error, _ object: ManagedObject) {
    switch error {
    case let failure as ValidationFailure: add(failure)
    case let error as ValidationError: for failure in error.failures { add(failure) }
    default: fail(object, "", .custom, "\(error)")
    }
  }
}

extension ValidationFailure {
  /// Creates the error for a hook to throw if an object breaks a custom rule.
  ///
  /// ```swift
  /// extension Entry {
  ///   static func validateUpdate(_ entry: Entry) throws {
  ///     guard entry.category?.kind != entry.kind else { return }
  ///     throw ValidationFailure(entry, \.category, "must belong to the entry's kind")
  ///   }
  /// }
  /// ```
  /// To report several failures, throw a ``ValidationError`` that contains all of them.
  ///
  /// - Parameters:
  ///   - object: The object that breaks the rule.
  ///   - property: The property that the rule concerns.
  ///   - message: The rule in words that can follow the property's name.
  public init<Object: ManagedObject, Value>(
    _ object: Object, _ property: KeyPath<Object, Value>, _ message: String
  ) {
    let info = object.link.graph?.info(of: object)
    let number = object.numbers(of: property).first
    let properties = info?.entity.properties ?? []
    let name = number.flatMap { properties.indices.contains($0) ? properties[$0].name : nil } ?? ""
    self.init(AnyObjectID(object), property: name, rule: .custom, message: message)
  }

  /// Creates the error for a hook to throw if an object as a whole breaks a custom rule.
  public init(_ object: ManagedObject, _ message: String) {
    self.init(AnyObjectID(object), property: "", rule: .custom, message: message)
  }
}

// MARK: - Save hooks

extension ObjectGraph {
  /// Calls the hooks of the objects to save, and then saves. If either fails, the hooks' changes are reverted.
  func withWillSave(_ save: () throws -> SavePlan) throws -> SavePlan {
    guard runtime.hooks.contains(.willSave) else { return try save() }
    undo.suspend()
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
