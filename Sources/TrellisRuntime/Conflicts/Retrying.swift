import Foundation
import TrellisStorage

extension ManagedObjectContext {
  /// Runs some changes and saves them; when somebody else has written the same objects meanwhile, runs them again on what is
  /// in the store then.
  ///
  /// ```swift
  /// try context.saveRetrying {
  ///   try context.object(with: id)?.count += 1
  /// }
  /// ```
  /// Before it is run again everything that the body did in the context is rolled back, and what is in memory is read again
  /// when it is used. So the body must find its way from there: it asks for objects that it needs, and does nothing outside
  /// of the context that may not happen twice. Objects that were unsaved before the call would be lost, so there may be none.
  ///
  /// It is run again after a ``SaveConflict`` under the policy `error`, and after a ``ValidationError`` that only tells of
  /// unique keys and of partners that others have deleted, and when a save gave up because of others. Between later attempts the thread sleeps some milliseconds, so that
  /// crowds thin out.
  ///
  /// - Parameters:
  ///   - retries: How often it is run again at most; 0 or less for never.
  ///   - mergePolicy: How conflicts are settled that need no second run; ``mergePolicy`` unless given.
  ///   - body: The changes.
  /// - Returns: what the body returned the last time.
  /// - Throws: what the body throws; what ``save(mergePolicy:)`` throws the last time, with everything rolled back;
  ///   ``ContextError`` with the code `unsaved-changes` when there are any before.
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

  /// Whether an error may be gone on what others have written.
  private static func comesOfOthers(_ error: any Error) -> Bool {
    if error is SaveConflict || (error as? StoreError)?.code == .contended { return true }
    guard let failures = (error as? ValidationError)?.failures, !failures.isEmpty else { return false }
    return failures.allSatisfy { $0.rule == .unique || $0.rule == .deletedPartner }
  }
}
