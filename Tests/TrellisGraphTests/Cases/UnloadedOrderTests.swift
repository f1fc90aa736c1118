import Testing
import Trellis
import TrellisTestSupport

@Suite("The order of members that is changed, and then not loaded") struct UnloadedOrderTests {
  @Test("a member whose delete is undone stands where it was, after another context has saved the object")
  func undoneDelete() throws {
    let container = try PersistentContainer(model: .rules, store: .memory, log: nil)
    let context = container.newContext()
    let (holder, stored, added) = (Holder(in: context), Target(in: context), Target(in: context))
    holder.listNullify.append(stored)
    try context.save()
    context.undo.enable()
    holder.listNullify.insert(added, at: 0)
    context.undo.endStep()
    let elsewhere = container.newContext()
    let twin = try #require(try elsewhere.object(with: holder.objectID))
    twin.listNullify.append(Target(in: elsewhere))
    try elsewhere.save()
    _ = try context.fetch(Holder.all)
    try context.delete(added)
    context.undo.endStep()
    try context.undo.undo()
    #expect(Array(holder.listNullify.prefix(2)) == [added, stored] && holder.listNullify.count == 3)
  }
}
