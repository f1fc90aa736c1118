import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("What errors and objects say of themselves") struct DescriptionTests {
  @Test("an object prints as its entity and key, and loads nothing for it")
  func objects() throws {
    let container = try makeContainer()
    let context = container.newContext()
    let node = Node(in: context, name: "secret")
    let key = node.objectID.key
    #expect("\(node)" == "Node#\(key)" && "\(node.objectID)" == "Node#\(key)")
    try context.save()
    context.refreshAll()
    #expect("\(node)" == "Node#\(key)" && node.isFault)
  }

  @Test("a to-many prints as an array of its members")
  func toMany() throws {
    let context = try makeContext()
    let parent = Node(in: context)
    let children = [Node(in: context), Node(in: context)]
    parent.children = OrderedToMany(children)
    parent.friends = [children[0]]
    #expect("\(parent.children)" == "[Node#\(children[0].objectID.key), Node#\(children[1].objectID.key)]")
    #expect("\(parent.friends)" == "[Node#\(children[0].objectID.key)]")
  }

  @Test("values print as a line of words, without the types and fields behind them")
  @MainActor func lines() throws {
    let container = try PersistentContainer(model: .shapes, store: .memory)
    let context = container.newContext()
    let (node, other) = (Node(in: context, name: "secret"), Node(in: context, name: "secret"))
    let (first, second) = (node.objectID, other.objectID)
    context.undo.enable()
    #expect("\(context)" == "context of \(container.model.description.name): 2 objects, 2 inserted")
    try context.save()
    node.rank = 5
    try context.delete(other)
    #expect("\(context)" == "context of \(container.model.description.name): 2 objects, 1 updated, 1 deleted")
    context.undo.endStep()
    let lines: [(Any, String)] = [
      (container, "container of \(container.model.description.name) in memory"),
      (try container.newContext().live(Node.all), "live results: 2 Node"),
      (try container.newContext().live(Node.all, sectionedBy: { $0.name }), "live results: 2 Node, in sections"),
      (LiveStep<Node>.insert(first, at: 3), "insert \(first) at 3"),
      (LiveStep<Node>.delete(first, at: 3), "delete \(first) at 3"),
      (LiveStep<Node>.update(first, at: 3), "update \(first) at 3"),
      (LiveStep<Node>.move(second, from: 3, to: 1), "move \(second) from 3 to 1"),
      (LiveSectionStep.insert(at: 1), "insert section at 1"), (LiveSectionStep.delete(at: 1), "delete section at 1"),
      (context.undo, "undo history: 1 to undo, 0 to redo"), (container.newContext().undo, "undo history: off"),
      ("rank > \(5)" as PredicateFormat, "rank > %@"),
      (SaveConflict.Row(entity: 0, key: 12, entityName: "Book"), "Book#12"),
    ]
    for (value, expected) in lines { #expect("\(value)" == expected) }
    let section = try #require(try container.newContext().live(Node.all, sectionedBy: { $0.rank }).sections.first)
    #expect("\(section)".hasSuffix(": 2 Node"))
  }

  @Test("each public struct and class of the program's modules has a description, or is listed as a part of a request")
  func everyValue() throws {
    // What requests are made of, builders, and what only stores and generated code see.
    let parts: Set = [
      "Aggregate", "AggregateTuple", "AggregateTupleBuilder", "AttributePath", "ChangeBuilder", "ComputedValue",
      "ConditionBuilder", "CountPath", "DataMigration", "GroupCondition", "GroupConditionBuilder", "GroupSortBuilder",
      "GroupSortTerm", "LiveChanges", "MigrationStep", "MigrationStepBuilder", "ObjectModel",
      "PredicateFormat.StringInterpolation", "PropertyChange", "QueryCondition", "SortBuilder", "SortTerm",
      "CompositeField", "CompositePath", "InitialValue", "LocalizedText", "OptionalCompositePath", "PeriodValue",
      "ToManyPath",
      "ToOnePath", "ValueTuple", "ValueTupleBuilder", "CoreDataKeys", "CoreDataModelImport.File",
      "LiveChanges.Iterator",
    ]
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../api.txt")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
      let words = line.split(separator: " ", maxSplits: 2).map(String.init)
      return (module: words[0], name: String(words[1].dropLast()), text: words[2])
    }
    let described = Set(lines.map(\.name).filter { $0.hasSuffix(".description") }.map { $0.dropLast(12) })
    let missing = lines.filter { line in
      let last = line.name.split(separator: ".").last ?? ""
      let isType = ["struct \(last)", "class \(last)"].contains { line.text.contains($0) }
      return isType && ["TrellisRuntime", "TrellisJSON", "TrellisCoreData"].contains(line.module) && last != "Code"
        && !described.contains(line.name[...]) && !parts.contains(line.name)
    }
    #expect(missing.map(\.name) == [])
  }

  @Test("localizedDescription says what description says")
  func localized() throws {
    let context = try makeContext()
    _ = Team(in: context, size: -1)
    let broken = try #require(throws: ValidationError.self) { try context.save() }
    #expect(broken.localizedDescription == broken.description)
    let conflict: any Error = SaveConflict(rows: [.init(entity: 0, key: 12, entityName: "Book")])
    #expect(conflict.localizedDescription == "\(conflict)")
    let failure: any Error = StoreError(.full, "The disk is full.", remedy: "Make room.")
    #expect(failure.localizedDescription == "The disk is full. Make room. [disk-full]")
  }

  @Test("a conflict names its objects and the way out, which works")
  func conflict() throws {
    let container = try makeContainer()
    let context = container.newContext()
    let node = Node(in: context, name: "a")
    try context.save()
    let other = container.newContext()
    let theirs = try #require(try other.object(with: node.objectID))
    theirs.name = "theirs"
    (node.name, node.rank) = ("mine", 1)
    try context.save()
    let conflict = try #require(throws: SaveConflict.self) { try other.save() }
    #expect(
      conflict.description == "Node#\(node.objectID.key) was changed or deleted by another writer since it was read, "
        + "so nothing was saved; refresh it and save again, or roll back. [save-conflict]")
    try other.refresh(theirs)
    try other.save()
    #expect(theirs.name == "theirs" && theirs.rank == 1)
  }

  @Test("an object of another context is named with the relationship that it was kept out of")
  func foreignObjects() throws {
    let problems = ReportedErrors()
    let container = try PersistentContainer(model: .shapes, store: .memory) { problems.add($0) }
    let (context, other) = (container.newContext(), container.newContext())
    let (node, foreign) = (Node(in: context), Node(in: other))
    node.children.append(foreign)
    node.next = foreign
    let refused = try #require(throws: ContextError.self) { try context.delete(foreign) }
    let name = "Node#\(foreign.objectID.key)"
    #expect(
      problems.messages == [
        "Node.children was left as it is, since the new member, \(name), belongs to another context.",
        "Node.next was left as it is, since the partner, \(name), belongs to another context.",
      ])
    #expect(refused.message == "\(name) was not deleted, since it belongs to another context.")
  }
}
