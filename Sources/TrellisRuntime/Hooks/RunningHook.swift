import TrellisSchema

/// A hook of an object, while it runs.
struct RunningHook: CustomStringConvertible {
  let object: ManagedObject
  let entity: EntityInfo
  let hook: LifecycleHook

  /// The entity and the hook, for messages.
  var description: String { "\(entity.name).\(hook.rawValue)" }
}

extension ManagedObjectContext {
  /// So many hooks may run inside each other: far more than programs need, and few enough for a small thread's stack.
  static let mostNestedHooks = 64

  /// The innermost hook that is running; nil outside of hooks.
  var runningHook: RunningHook? { runningHooks.last }

  /// Runs a hook of an object. Until it returns, what hooks may not do is refused.
  func run<Result>(_ hook: LifecycleHook, of object: ManagedObject, _ body: () throws -> Result) rethrows -> Result {
    runningHooks.append(RunningHook(object: object, entity: info(of: object), hook: hook))
    defer { runningHooks.removeLast() }
    return try body()
  }

  /// Whether a hook of this very object is running.
  func isRunning(_ hook: LifecycleHook, of object: ManagedObject) -> Bool {
    runningHooks.contains { $0.object === object && $0.hook == hook }
  }

  /// What is wrong when one more hook would be too many inside each other; nil when it may run.
  func nesting(_ hook: LifecycleHook, of object: ManagedObject) -> ContextError? {
    guard runningHooks.count >= Self.mostNestedHooks else { return nil }
    return ContextError(
      .endlessHooks,
      "The hook \(info(of: object).name).\(hook.rawValue) was not called, since \(Self.mostNestedHooks) hooks run inside each "
        + "other already. Let a hook neither read, make nor delete what calls it again.")
  }

  /// Whether something may be done now. Inside a hook some things may not: they are left undone, which is reported.
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
