import TrellisDiagram
import TrellisDynamic
import TrellisRuntime

/// A change of a store's objects, which is validated in any case and written only on request.
///
/// The change is made in a child context, whose save applies every rule of the model. Only a save of its parent writes.
enum StoreChange {
  /// Makes a change and prints what it does.
  ///
  /// - Parameters:
  ///   - isWritten: Whether the change is saved. Otherwise the file is opened read-only.
  ///   - body: Makes the change in a context, and returns the objects that it is about.
  /// - Returns: `.asks` for a change that was not written.
  /// - Throws: ``ToolFailure`` with every broken rule.
  static func run(
    _ path: String, isWritten: Bool, _ body: (ManagedObjectContext) throws -> [DynamicObject]
  ) throws(ToolFailure) -> ExitStatus {
    let container = try StoreOperand(path).container(readOnly: !isWritten)
    defer { container.close() }
    return try ToolFailure.catching(path) {
      let base = container.newContext()
      let draft = base.newChildContext()
      let subjects = try body(draft)
      let report = try ChangeReport(draft, since: base, subjects: subjects, isWritten: isWritten)
      if report.text.isEmpty {
        Console.print("nothing changes\n")
        return .success
      }
      try draft.save()
      if isWritten { try base.save() }
      Console.print(report.text)
      if isWritten { return .success }
      Console.complain("Nothing was written. The same with --write changes the store.\n")
      return .asks
    }
  }
}
