import Testing
import Trellis

@Suite("Undo after a new object has become one that is stored") struct UndoUpsertTests {
  private func makeContext() throws -> (PersistentContainer, ManagedObjectContext, Person) {
    let container = try PersistentContainer(model: .rivals, store: .memory) { _ in }
    let context = container.newContext()
    let stored = Person(in: context, name: "stored", nick: "n")
    stored.friends = [Person(in: context, name: "friend")]
    try context.save()
    context.undo.enable()
    return (container, context, stored)
  }

  private func stored(_ container: PersistentContainer, _ context: ManagedObjectContext) throws -> [String] {
    try context.save()
    let reader = container.newContext()
    let findings = try container.check()
    return try reader.fetch(Person.all.sorted { $0.name }).map { person in
      let friends = person.friends.map(\.name).sorted().joined(separator: ",")
      return "\(person.name)(\(person.nick ?? "-")) \(friends) \(person.pride?.name ?? "-")"
    } + findings.map(\.description)
  }

  @Test("takes back what the stored one was given, and redo gives it again")
  func undo() throws {
    let (container, context, survivor) = try makeContext()
    let before = try stored(container, context)
    context.undo.group("Import") {
      let new = Person(in: context, name: "new", nick: "n")
      new.friends = [Person(in: context, name: "other")]
      new.pride = Medal(in: context, name: "medal")
    }
    try context.save(mergePolicy: .objectTrump)
    let after = try stored(container, context)
    #expect(after == ["friend(-) new -", "new(n) friend,other medal", "other(-) new -"])
    #expect(context.undo.undoName == "Import")
    for _ in 0..<2 {
      #expect(try context.undo.undo())
      #expect(survivor.name == "stored" && survivor.friends.map(\.name) == ["friend"] && survivor.pride == nil)
      #expect(try stored(container, context) == before)
      #expect(!context.undo.canUndo && context.undo.redoName == "Import")
      #expect(try context.undo.redo())
      #expect(try stored(container, context) == after)
    }
  }

  @Test("what referred to the new one refers to nobody again")
  func references() throws {
    let (container, context, survivor) = try makeContext()
    let friend = try #require(try context.first(Person.where { $0.name == "friend" }))
    let before = try stored(container, context)
    let new = Person(in: context, name: "new", nick: "n")
    friend.spouse = new
    friend.children = [new]
    try context.save(mergePolicy: .objectTrump)
    #expect(friend.spouse === survivor && friend.children.map(\.self) == [survivor])
    #expect(try context.undo.undo())
    #expect(friend.spouse == nil && friend.children.isEmpty && survivor.spouse == nil && survivor.parent == nil)
    #expect(try stored(container, context) == before)
    #expect(try context.undo.redo())
    #expect(friend.spouse === survivor && friend.children.map(\.self) == [survivor])
    #expect(try container.check() == [])
  }

  @Test("is not offered where nothing was given to the stored one", arguments: [MergePolicy.rollback, .storeTrump])
  func nothing(_ policy: MergePolicy) throws {
    let (_, context, survivor) = try makeContext()
    let new = Person(in: context, name: "new", nick: "n")
    try context.save(mergePolicy: policy)
    #expect(new.replacedBy == survivor.objectID)
    #expect(!context.undo.canUndo)
    #expect(try !context.undo.undo())
    survivor.name = "later"
    #expect(try context.undo.undo() && survivor.name == "stored" && !context.undo.canUndo)
  }

  @Test("steps before the one that made the object stay steps of their own, those since are one")
  func steps() throws {
    let (container, context, survivor) = try makeContext()
    let before = try stored(container, context)
    context.undo.group("First") { _ = Person(in: context, name: "first") }
    let new = Person(in: context, nick: "n")
    context.undo.endStep("Second")
    context.undo.group("Third") { new.name = "third" }
    try context.save(mergePolicy: .objectTrump)
    #expect(survivor.name == "third" && context.undo.undoName == "Third")
    #expect(try context.undo.undo() && survivor.name == "stored" && context.undo.undoName == "First")
    #expect(try context.undo.undo() && !context.undo.canUndo)
    #expect(try stored(container, context) == before)
  }
}
