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
