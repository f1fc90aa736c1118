import TrellisDiagram
import TrellisDynamic
import TrellisModel
import TrellisRuntime

/// A change of a store's objects, which is validated in any case and written only on request.
///
/// The change is made in a child context, whose save applies every rule of the model. Only a save of its parent writes.
struct StoreChange {
  private let base: ManagedObjectContext
  private let draft: ManagedObjectContext
  private let isWritten: Bool

  /// Makes a change and prints what it does.
  ///
  /// - Parameters:
  ///   - isWritten: Whether the change is saved. Otherwise the file is opened read-only.
  ///   - body: Makes the change in a context.
  /// - Returns: `.asks` for a change that was not written.
  /// - Throws: ``ToolFailure`` with every broken rule.
  static func run(
    _ path: String, isWritten: Bool, _ body: (ManagedObjectContext) throws -> Void
  ) throws(ToolFailure) -> ExitStatus {
    let container = try StoreFile(path).container(readOnly: !isWritten)
    defer { container.close() }
    return try ToolFailure.catching(path) {
      let base = container.newContext()
      let change = StoreChange(base: base, draft: base.newChildContext(), isWritten: isWritten)
      try body(change.draft)
      return try change.finish()
    }
  }

  private func finish() throws -> ExitStatus {
    let report = try describe()
    if report.isEmpty {
      Console.print("nothing changes\n")
      return .success
    }
    try draft.save()
    if isWritten { try base.save() }
    Console.print(report)
    if isWritten { return .success }
    Console.complain("Nothing was written. The same with --write changes the store.\n")
    return .asks
  }

  // MARK: Describing

  private func describe() throws -> String {
    var text = ""
    for object in draft.insertedObjects { text += try describe(inserted: object) }
    for object in draft.updatedObjects.sorted(by: isBefore) { text += try describe(updated: object) }
    for object in draft.deletedObjects.sorted(by: isBefore) {
      guard let object = object as? DynamicObject else { continue }
      text += "deletes \(ObjectText.name(object))\n"
    }
    return text
  }

  private func isBefore(_ left: ManagedObject, _ right: ManagedObject) -> Bool {
    AnyObjectID(left).key < AnyObjectID(right).key
  }

  /// The key of a new object is final only when it is written.
  private func describe(inserted object: ManagedObject) throws -> String {
    guard let object = object as? DynamicObject, let entity = object.entity else { return "" }
    var lines: [(name: String, text: String)] = []
    for property in entity.properties where !property.isTransient {
      let line = try line(property, of: object)
      if line != "nil" && line != "0 members" { lines.append((property.name, line)) }
    }
    return "inserts \(isWritten ? "\(object)" : "an object of \(object.entityName)")\n" + Self.aligned(lines)
  }

  private func describe(updated object: ManagedObject) throws -> String {
    guard let object = object as? DynamicObject, let entity = object.entity else { return "" }
    let former = try base.object(object.name)
    var lines: [(name: String, text: String)] = []
    for name in object.changedProperties {
      guard let property = entity.property(named: name) else { continue }
      if let relationship = property.relationship, relationship.isToMany {
        lines.append((name, try members(of: relationship, former, object)))
      } else {
        lines.append((name, "\(try line(property, of: former)) → \(try line(property, of: object))"))
      }
    }
    return "changes \(ObjectText.name(former))\n" + Self.aligned(lines)
  }

  private func line(_ property: Property, of object: DynamicObject) throws -> String {
    try ObjectText.line(property, of: object, length: 60, names: 10)
  }

  /// The members that come and go; all of them if their order changes.
  private func members(
    of relationship: Relationship, _ former: DynamicObject, _ object: DynamicObject
  ) throws -> String {
    let (old, new) = (try former.members(relationship.name), try object.members(relationship.name))
    let (oldKeys, newKeys) = (Set(old.map(\.key)), Set(new.map(\.key)))
    let coming = new.filter { !oldKeys.contains($0.key) }.map { "+ \(ObjectText.name($0))" }
    let going = old.filter { !newKeys.contains($0.key) }.map { "- \(ObjectText.name($0))" }
    if coming.isEmpty && going.isEmpty {
      return "in the order \(new.map { "\($0)" }.joined(separator: ", "))"
    }
    return (going + coming).joined(separator: ", ")
  }

  private static func aligned(_ lines: [(name: String, text: String)]) -> String {
    let width = lines.map { CellWidth.of($0.name) }.max() ?? 0
    return lines.map { line in
      let space = String(repeating: " ", count: width - CellWidth.of(line.name) + 2)
      return "  \(line.name)\(line.text.isEmpty ? "" : space + line.text)\n"
    }.joined()
  }
}
