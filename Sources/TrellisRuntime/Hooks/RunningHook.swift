import TrellisSchema

/// A hook of an entity, for messages.
struct RunningHook: CustomStringConvertible {
  let entity: EntityInfo
  let hook: LifecycleHook

  var description: String { "\(entity.name).\(hook.rawValue)" }
}

extension ManagedObjectContext {
  /// Runs a hook of an object. Until it returns, what hooks may not do is refused.
  func run<Result>(_ hook: LifecycleHook, of object: ManagedObject, _ body: () throws -> Result) rethrows -> Result {
    let outer = runningHook
    runningHook = RunningHook(entity: info(of: object), hook: hook)
    defer { runningHook = outer }
    return try body()
  }

  /// Whether something may be done now. Inside a hook some things may not: they are left undone, which is reported.
  func isAllowed(_ operation: String) -> Bool {
    guard let runningHook else { return true }
    report(GraphProblem(.insideHook, "A call of \(operation) was ignored inside the hook \(runningHook)."))
    return false
  }

  /// Throws inside a hook.
  func checkAllowed(_ operation: String) throws {
    guard let runningHook else { return }
    throw GraphProblem(.insideHook, "A call of \(operation) is refused inside the hook \(runningHook).")
  }
}
