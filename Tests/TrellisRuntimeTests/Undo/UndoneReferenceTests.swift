import Testing
import Trellis

/// A reference to a deleted object whose delete rule denies the delete stays in the row until it is replaced.
@Suite("Undo restores a reference to an object whose delete is undone") struct UndoneReferenceTests {
  @Test(
    "though the reference was replaced, and perhaps saved, in between",
    arguments: [(true, true), (true, false), (false, true), (false, false)])
  func replaced(isSavedBefore: Bool, isSavedBetween: Bool) throws {
    let container = try PersistentContainer(model: .shapes, store: .memory)
    let context = container.newContext()
    let node = Node(in: context, name: "a")
    let (team, other) = (Team(in: context, size: 1), Team(in: context, size: 2))
    try context.save()
    node.guarded = team
    if isSavedBefore { try context.save() }
    context.undo.enable()
    context.undo.beginGroup()
    try context.delete(team)
    context.undo.endGroup()
    context.undo.beginGroup()
    node.guarded = other
    context.undo.endGroup()
    if isSavedBetween { try context.save() }
    #expect(try context.undo.undo())
    #expect(node.guarded == nil)
    #expect(try context.undo.undo())
    #expect(node.guarded === team && Array(team.guards) == [node])
  }
}
