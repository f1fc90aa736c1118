import TrellisModel
import TrellisStorage

extension ManagedObject {
  /// Checks the object as a save would, without saving, so that a form can show what is missing while it is filled in.
  ///
  /// ```swift
  /// do {
  ///   try receipt.validate()
  /// } catch let error as ValidationError {
  ///   for failure in error.failures { mark(failure.property, failure.message) }
  /// }
  /// ```
  /// A deleted object is checked for reasons that prevent the delete.
  ///
  /// - Throws: ``ValidationError`` with every rule that the object breaks; ``StoreError`` if the store fails.
  public final func validate() throws {
    guard let graph = attachedGraph else { return }
    _willRead(-1)
    try graph.throwPendingFailure()
    var rules = ObjectRules(graph)
    rules.countsUnchanged = true
    switch phase {
    case .deleted: try rules.checkDeleted([self])
    case .inserted: try rules.checkAll(self, .validateInsert)
    default: try rules.checkAll(self, .validateUpdate)
    }
    if !rules.failures.isEmpty { throw ValidationError(failures: rules.failures) }
  }
}
