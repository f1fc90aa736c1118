import TrellisModel

/// A hook of an object, while it runs.
struct RunningHook: CustomStringConvertible {
  let object: ManagedObject
  let entity: EntityInfo
  let hook: LifecycleHook

  /// The entity and the hook, for messages.
  var description: String { "\(entity.name).\(hook.rawValue)" }
}

extension ObjectGraph {
  /// The maximum number of nested hooks: far more than programs need, and few enough for the stack of a small thread.
  static let mostNestedHooks = 64

  /// The innermost hook that is running; nil outside of hooks.
  var runningHook: RunningHook? { runningHooks.last }

  /// Runs a hook of an object. Until it returns, operations that are not allowed in hooks are refused.
  func run<Result>(_ hook: LifecycleHook, of object: ManagedObject, _ body: () throws -> Result) rethrows -> Result {
    runningHooks.append(RunningHook(object: object, entity: info(of: object), hook: hook))
    defer { runningHooks.removeLast() }
    return try body()
  }

  /// Whether this hook of this object is running.
  func isRunning(_ hook: LifecycleHook, of object: ManagedObject) -> Bool {
    runningHooks.contains { $0.object === object && $0.hook == hook }
  }

  /// The problem if one more hook would exceed the nesting limit; nil if it may run.
  func nesting(_ hook: LifecycleHook, of object: ManagedObject) -> ContextError? {
    guard runningHooks.count >= Self.mostNestedHooks else { return nil }
    return ContextError(
      .endlessHooks,
      "The hook \(info(of: object).name).\(hook.rawValue) was not called, since \(Self.mostNestedHooks) hooks run inside each "
        + "other already. Let a hook neither read, make nor delete what calls it again.")
  }

  /// Whether an operation is allowed now. Inside a hook it is not: the call is ignored and reported.
  func isAllowed(_ operation: String) -> Bool {
    guard let runningHook else { return true }
    report(ContextError(.insideHook, "A call of \(operation) was ignored inside the hook \(runningHook)."))
    return false
  }

  /// Throws inside a hook.
  func checkAllowed(_ operation: String) throws {
    guard let runningHook else { return }
    throw ContextError(.insideHook, "A call of \(operation) is refused inside the hook \(runningHook).")
  }
}

extension LifecycleHook {
  /// Whether errors of the hook are passed on.
  var mayThrow: Bool { self == .willSave || isValidation }

  var isValidation: Bool {
    switch self {
    case .validateInsert, .validateUpdate, .validateDelete: true
    case .didInsert, .didFetch, .willSave, .didSave, .willDelete: false
    }
  }
}

extension ManagedObject {
  /// Called by generated initializers as their last step.
  @_spi(Generated) public final func _finishInsert() {
    guard let graph = link.graph else { return }
    if let problem = graph.nesting(.didInsert, of: self) { return graph.reportToThrow(problem) }
    graph.run(.didInsert, of: self) { _didInsert() }
  }

  /// Called after the row was read. The hook runs before the first access after the fetch.
  @_spi(Generated) public final func _noteFetch() { state.setAwaitsDidFetch(true) }

  /// Calls the hook. Transient values that it sets are initial values of the object, not changes. If the hook itself
  /// makes the object load again, it is not called again.
  final func runDidFetch() {
    guard let graph = link.graph, isAlive, !graph.isRunning(.didFetch, of: self) else {
      state.setAwaitsDidFetch(false)
      return
    }
    // The next access tries again.
    if let problem = graph.nesting(.didFetch, of: self) { return graph.reportToThrow(problem) }
    state.setAwaitsDidFetch(false)
    let wasClean = changedBits == 0
    graph.run(.didFetch, of: self) { _didFetch() }
    state.setAwaitsDidFetch(false)
    guard wasClean, phase == .persistent, !hasChanges else { return }
    state.replaceChanged(by: 0)
    committedRow = nil
    if isInChangedList && graph.pending.removeLastChanged(self) { state.setInChangedList(false) }
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
}

// MARK: - Hook failures

/// The errors of one object's validation hooks, from the root class down.
@_spi(Generated) public struct HookFailures {
  private(set) var errors: [any Error] = []

  init() {}

  /// Calls a hook and keeps its error, so that the hooks of other classes run as well.
  public mutating func collect(_ hook: () throws -> Void) {
    do { try hook() } catch { errors.append(error) }
  }
}
