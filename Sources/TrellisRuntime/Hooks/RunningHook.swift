extension ManagedObjectContext {
  /// Whether something may be done now. Inside a hook some things may not: they are left undone, which is reported.
  func isAllowed(_ operation: String) -> Bool {
    guard let runningHook else { return true }
    report(GraphProblem(.insideHook, "A call of \(operation) was ignored inside the hook \(runningHook)."))
    return false
  }

  /// Throws inside a hook.
  func checkAllowed(_ operation: String) throws {
    guard let runningHook else { return }
    throw GraphProblem(.insideHook, "\(operation) may not be called inside the hook \(runningHook).")
  }
}
