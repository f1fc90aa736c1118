import Foundation
import TrellisStorage

extension ManagedObjectContext {
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
    try checkAllowed("saving")
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
}
