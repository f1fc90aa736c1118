import Testing
import Trellis

@Suite("Inverses are kept at the moment of setting") struct InverseTests {
  let context: ManagedObjectContext
  let a: Node
  let b: Node
  let c: Node
  let d: Node

  init() throws {
    context = try makeContext()
    a = Node(in: context, name: "a")
    b = Node(in: context, name: "b")
    c = Node(in: context, name: "c")
    d = Node(in: context, name: "d")
  }

  @Test("a one-to-one steals its partner, and both old partners let go", arguments: [false, true])
  func oneToOne(saved: Bool) throws {
    a.next = b
    c.next = d
    if saved { try context.save() }
    a.next = d
    #expect(a.next === d && d.previous === a)
    #expect(b.previous == nil && c.next == nil)
    d.previous = nil
    #expect(a.next == nil)
  }

  @Test("a symmetric one-to-one is the same from both sides", arguments: [false, true])
  func symmetricOneToOne(saved: Bool) throws {
    a.twin = b
    #expect(b.twin === a)
    if saved { try context.save() }
    c.twin = a
    #expect(a.twin === c && c.twin === a && b.twin == nil)
    a.twin = nil
    #expect(c.twin == nil)
  }

  @Test("an object may be its own partner")
  func selfReference() {
    a.twin = a
    #expect(a.twin === a)
    a.parent = a
    #expect(a.parent === a && a.children.objects == [a])
    a.friends.append(a)
    #expect(a.friends.objects == [a])
    a.parent = nil
    #expect(a.children.isEmpty)
  }

  @Test("a child leaves its old parent for the new one", arguments: [false, true])
  func oneToMany(saved: Bool) throws {
    a.children = [b, c]
    if saved { try context.save() }
    d.children.append(b)
    #expect(b.parent === d && a.children.objects == [c] && d.children.objects == [b])
    c.parent = d
    #expect(d.children.objects == [b, c] && a.children.isEmpty)
    d.children.remove(b)
    #expect(b.parent == nil && d.children.objects == [c])
  }

  @Test("a many-to-many is kept on both sides", arguments: [false, true])
  func manyToMany(saved: Bool) throws {
    a.likes = [b, c]
    #expect(b.likedBy.objects == [a] && c.likedBy.objects == [a])
    if saved { try context.save() }
    b.likedBy.remove(a)
    #expect(a.likes.objects == [c])
    d.likedBy.append(a)
    #expect(a.likes.objects == [c, d])
    a.likes.removeAll()
    #expect(c.likedBy.isEmpty && d.likedBy.isEmpty)
  }

  @Test("a symmetric many-to-many is the same from both sides", arguments: [false, true])
  func symmetricManyToMany(saved: Bool) throws {
    a.friends = [b, c]
    #expect(b.friends.objects == [a])
    if saved { try context.save() }
    c.friends.remove(a)
    #expect(a.friends.objects == [b])
  }

  @Test("an ordered to-many has no duplicates: appending a member moves it last")
  func noDuplicates() {
    a.children = [b, c, d]
    a.children.append(b)
    #expect(a.children.objects == [c, d, b])
    a.children.insert(b, at: 1)
    #expect(a.children.objects == [c, b, d])
    a.children.move(from: 2, to: 0)
    #expect(a.children.objects == [d, c, b])
    a.children.insert(c, at: 99)
    #expect(a.children.objects == [d, b, c])
    #expect(a.children.remove(at: 7) == nil && a.children.remove(at: 0) === d)
    a.children = [c, b, c]
    #expect(a.children.objects == [c, b])
  }

  @Test("a loop walks the members that were there when it began")
  func stableIteration() {
    a.children = [b, c, d]
    var walked: [Node] = []
    for child in a.children {
      walked.append(child)
      child.parent = nil
    }
    #expect(walked == [b, c, d] && a.children.isEmpty)
  }

  @Test("order survives saving, reordering and reading again")
  func orderIsStored() throws {
    let container = try makeContainer()
    let context = container.newContext()
    let parent = Node(in: context, name: "parent")
    for number in 0..<10 { parent.children.append(Node(in: context, name: "\(number)")) }
    try context.save()
    parent.children.move(from: 9, to: 0)
    parent.children.move(from: 5, to: 2)
    let expected = parent.children.map(\.name)
    try context.save()
    let other = container.newContext()
    #expect(try other.object(with: parent.objectID)?.children.map(\.name) == expected)
    // Appending without loading the members puts the new one last.
    let third = container.newContext()
    Node(in: third, name: "last").parent = try third.object(with: parent.objectID)
    try third.save()
    let fourth = container.newContext()
    #expect(try fourth.object(with: parent.objectID)?.children.map(\.name) == expected + ["last"])
  }

  @Test("the order of a many-to-many survives saving, reordering and reading again")
  func joinOrderIsStored() throws {
    let container = try makeContainer()
    let context = container.newContext()
    let fan = Node(in: context, name: "fan")
    for number in 0..<5 { fan.likes.append(Node(in: context, name: "\(number)")) }
    try context.save()
    fan.likes.move(from: 4, to: 1)
    try context.save()
    let other = container.newContext()
    let stored = try #require(try other.object(with: fan.objectID))
    #expect(stored.likes.map(\.name) == ["0", "4", "1", "2", "3"])
    let third = container.newContext()
    try third.object(with: fan.objectID)?.likes.append(Node(in: third, name: "new"))
    try third.save()
    let fourth = container.newContext()
    #expect(try fourth.object(with: fan.objectID)?.likes.map(\.name) == ["0", "4", "1", "2", "3", "new"])
  }
}
