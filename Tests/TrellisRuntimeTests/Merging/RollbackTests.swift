import Testing
import Trellis

@Suite("Rolling back one object or one property") struct RollbackTests {
  @Test("one property goes back, the others stay")
  func oneAttribute() throws {
    let context = try makeContext()
    let node = Node(in: context, name: "a", rank: 1)
    try context.save()
    node.name = "b"
    node.rank = 2
    #expect(node.hasChanges(\.name) && node.hasChanges(\.rank) && !node.hasChanges(\.parent))
    try node.rollback(\.name)
    #expect(node.name == "a" && node.rank == 2 && node.changedProperties == ["rank"])
    try node.rollback(\.rank)
    #expect(!node.hasChanges && !context.hasChanges && context.updatedObjects.isEmpty)
  }

  @Test("a relationship goes back on both ends, whatever its shape")
  func relationships() throws {
    let context = try makeContext()
    let nodes = (0..<4).map { Node(in: context, name: "\($0)") }
    let node = nodes[0]
    node.children = [nodes[1], nodes[2]]
    node.twin = nodes[1]
    node.next = nodes[1]
    node.friends = [nodes[1]]
    node.likes = [nodes[1], nodes[2]]
    node.parent = nodes[3]
    try context.save()
    node.children = [nodes[2], nodes[3]]
    node.twin = nodes[2]
    node.next = nodes[2]
    nodes[3].previous = nil
    node.friends = [nodes[3]]
    node.likes = [nodes[2], nodes[1], nodes[3]]
    node.parent = nil
    #expect(try node.committedMembers(of: \.children) == [nodes[1], nodes[2]])
    #expect(node.committed?.parent == nodes[3].objectID)
    try node.rollback(\.children)
    try node.rollback(\.parent)
    #expect(node.children.objects == [nodes[1], nodes[2]] && nodes[1].parent === node && node.parent === nodes[3])
    #expect(nodes[3].children.objects == [node])
    try node.rollback(\.twin)
    try node.rollback(\.next)
    #expect(node.twin === nodes[1] && nodes[1].twin === node && nodes[2].twin == nil)
    #expect(node.next === nodes[1] && nodes[1].previous === node && nodes[2].previous == nil)
    try node.rollback(\.friends)
    try node.rollback(\.likes)
    #expect(node.friends.objects == [nodes[1]] && nodes[3].friends.isEmpty)
    #expect(node.likes.objects == [nodes[1], nodes[2]] && nodes[3].likedBy.isEmpty)
    #expect(!node.hasChanges)
  }

  @Test("the other end of a one-to-one goes back too")
  func otherEnd() throws {
    let context = try makeContext()
    let (a, b, c) = (Node(in: context, name: "a"), Node(in: context, name: "b"), Node(in: context, name: "c"))
    a.next = b
    try context.save()
    c.next = b
    try b.rollback(\.previous)
    #expect(b.previous === a && a.next === b && c.next == nil && !context.hasChanges)
  }

  @Test("a whole object goes back, and others keep their changes")
  func wholeObject() throws {
    let context = try makeContext()
    let (a, b, c) = (Node(in: context, name: "a"), Node(in: context, name: "b"), Node(in: context, name: "c"))
    a.children = [b]
    try context.save()
    a.name = "x"
    a.note = "y"
    a.children = [c]
    b.name = "kept"
    try a.rollback()
    #expect(a.name == "a" && a.note == "" && a.children.objects == [b] && b.parent === a && c.parent == nil)
    #expect(b.name == "kept" && context.updatedObjects == [b])
  }

  @Test("rolling back a delete brings back what it took along; rolling back a new object withdraws it")
  func deletedAndNew() throws {
    let context = try makeContext()
    let (a, b) = (Node(in: context, name: "a"), Node(in: context, name: "b"))
    a.children = [b]
    try context.save()
    try context.delete(a)
    try a.rollback()
    #expect(!a.isDeleted && !b.isDeleted && a.children.objects == [b] && !context.hasChanges)
    let new = Node(in: context, name: "new")
    new.children = [b]
    try new.rollback()
    #expect(new.managedObjectContext == nil && b.parent === a && a.children.objects == [b])
    #expect(!context.hasChanges)
  }

  @Test("transient values go back with the context and with the object, and are no changes to save")
  func transientValues() throws {
    let context = try makeContext()
    let node = Node(in: context, name: "a", note: "new")
    try context.save()
    node.note = "changed"
    #expect(!node.hasChanges && !context.hasChanges)
    context.rollback()
    #expect(node.note == "new")
    node.note = "again"
    try node.rollback(\.note)
    #expect(node.note == "new")
  }

  @Test("a property computed from others goes back with them")
  func computed() throws {
    let context = try makeContext()
    let node = Node(in: context, name: "a", rank: 1)
    try context.save()
    node.title = "b:2"
    #expect(node.name == "b" && node.rank == 2 && node.hasChanges(\.title))
    try node.rollback(\.title)
    #expect(node.title == "a:1")
  }
}

extension Node {
  fileprivate var title: String {
    get { "\(name):\(rank)" }
    set {
      let parts = newValue.split(separator: ":")
      name = parts.first.map(String.init) ?? ""
      rank = parts.last.flatMap { Int64($0) } ?? 0
    }
  }
}
