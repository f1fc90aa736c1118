import TrellisDiagram
import TrellisDynamic
@_spi(Generated) import TrellisRuntime

/// A change of a store's objects, which is validated in any case and written only on request.
///
/// The change is made in a child context, whose save applies every rule of the model. Only a save of its parent writes.
struct StoreChange {
  /// What a change does, and whether it may.
  let report: ChangeReport
  /// The rules that the change breaks, as sentences. Then nothing was written.
  let brokenRules: [String]
  /// The inserted and changed objects with their new versions. Empty if nothing was written.
  let versions: [(name: ObjectName, version: Int64)]

  /// Makes a change.
  ///
  /// - Parameters:
  ///   - isWritten: Whether the change is saved.
  ///   - keepsKeys: Whether new objects have keys that they had before.
  ///   - author: Who makes it, in the history of the store.
  ///   - body: Makes the change in the first context, and returns the objects that it is about. The second one has the objects as
  ///     they are stored.
  /// - Throws: ``SaveConflict`` if another program has changed the objects; ``StoreError``; errors of `body`.
  init(
    in container: PersistentContainer, isWritten: Bool, keepsKeys: Bool = false, author: String? = nil,
    _ body: (_ draft: ManagedObjectContext, _ base: ManagedObjectContext) throws -> [DynamicObject]
  ) throws {
    let base = container.newContext()
    base.author = author
    let draft = base.newChildContext()
    let subjects = try body(draft, base)
    report = try ChangeReport(draft, since: base, subjects: subjects, namesInserted: isWritten || keepsKeys)
    var broken: [String] = []
    let newNames = keepsKeys ? [:] : Self.newNames(in: draft)
    var written: [DynamicObject] = []
    if !report.isEmpty {
      do {
        try draft.save()
        if isWritten {
          written = (base.insertedObjects + base.updatedObjects).compactMap { $0 as? DynamicObject }
          try base.save()
        }
      } catch let error as ValidationError {
        broken = error.failures.map { Self.text(of: $0, newNames) }
        written = []
      }
    }
    brokenRules = broken
    versions = written.map { ($0.name, $0.storedVersion) }.sorted { $0.name.key < $1.name.key }
  }

  // MARK: Broken rules

  /// What new objects are called that may not come to be, by their keys, which a later object will have.
  private static func newNames(in draft: ManagedObjectContext) -> [Int64: String] {
    let objects = draft.insertedObjects.compactMap { $0 as? DynamicObject }
    return Dictionary(
      objects.map { object in
        (object.key, "an object of \(object.entityName)" + (object.label().map { " \"\($0)\"" } ?? ""))
      }
    ) { first, _ in first }
  }

  private static func text(of failure: ValidationFailure, _ newNames: [Int64: String]) -> String {
    guard let name = newNames[failure.key] else { return "\(failure)" }
    let text = "\(failure)".dropFirst("\(failure.object)".count)
    return text.hasPrefix(".")
      ? "\(failure.property) of \(name)\(text.dropFirst(failure.property.count + 1))" : name + text
  }

  // MARK: Commands

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
    try run(path, isWritten: isWritten, keepsKeys: false) { _, context in try body(context) }
  }

  /// Makes a change for which the history of the store may be read, as the other function does.
  ///
  /// - Parameter keepsKeys: Whether new objects have keys that they had before.
  static func run(
    _ path: String, isWritten: Bool, keepsKeys: Bool,
    _ body: (PersistentContainer, ManagedObjectContext) throws -> [DynamicObject]
  ) throws(ToolFailure) -> ExitStatus {
    let container = try StoreOperand(path).container(readOnly: !isWritten)
    defer { container.close() }
    return try ToolFailure.catching(path) {
      let change = try StoreChange(in: container, isWritten: isWritten, keepsKeys: keepsKeys) { draft, _ in
        try body(container, draft)
      }
      guard change.brokenRules.isEmpty else { throw BrokenRules(rules: change.brokenRules) }
      if change.report.isEmpty {
        Console.print("nothing changes\n")
        return .success
      }
      Console.print(change.report.text)
      if isWritten { return .success }
      Console.complain("Nothing was written. The same with --write changes the store.\n")
      return .asks
    }
  }
}

/// The error of a change that breaks rules.
struct BrokenRules: Error {
  /// The rules, as sentences.
  let rules: [String]
}
