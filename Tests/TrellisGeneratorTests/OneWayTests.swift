import Testing
import Trellis

@Suite("Required one-way references") struct OneWayTests {
  private func makeEvent(_ context: ManagedObjectContext, needing data: Data) -> Event {
    Event(
      in: context, switch: "", context: "", path: "", copy: 0, newValue: "", type: "", in: "", checksum: "",
      inherited: "",
      properties: "", old: "", needed: data)
  }

  @Test("those to a deleted object come back with it, also after the delete was saved", arguments: [false, true])
  func undoing(loaded: Bool) throws {
    let container = try PersistentContainer(model: .default, store: .memory) { _ in }
    var context = container.newContext()
    let (needed, data) = (Data(in: context), Data(in: context))
    for one in [needed, data] { one.passport = Set(in: context) }
    let event = makeEvent(context, needing: needed)
    event.oneWay = data
    event.oneWays = [needed, data]
    try context.save()
    if !loaded { context = container.newContext() }
    context.undo.enable()
    try context.delete(#require(try context.object(with: data.objectID)))
    try context.save()
    let reader = container.newContext()
    let stored = try #require(try reader.first(Event.all))
    #expect(stored.oneWay == nil && stored.oneWays.count == 1)
    try context.undo.undo()
    try context.save()
    reader.refreshAll()
    #expect(stored.oneWay?.objectID == data.objectID && stored.oneWays.count == 2)
  }

  @Test("they block a delete, also from objects that are not in memory", arguments: [false, true])
  func blocking(loaded: Bool) throws {
    let container = try PersistentContainer(model: .default, store: .memory) { _ in }
    var context = container.newContext()
    let data = Data(in: context)
    data.passport = Set(in: context)
    let event = makeEvent(context, needing: data)
    try context.save()
    if !loaded { context = container.newContext() }
    let victim = try #require(try context.first(Data.all))
    let refusal = try #require(throws: ValidationError.self) { try context.validateForDelete(victim) }
    #expect(refusal.failures.map(\.key) == [data.objectID.key] && refusal.failures.map(\.property) == ["Event.needed"])
    #expect(refusal.failures.first?.rule == .deniedDelete)
    #expect(refusal.failures.first?.blockers.map(\.key) == [event.objectID.key])
    try context.delete(victim)
    #expect(throws: refusal) { try context.save() }
    let other = Data(in: context)
    other.passport = Set(in: context)
    try context.first(Event.all)?.needed = other
    try context.save()
    #expect(try container.newContext().first(Event.all)?.snapshot.needed == other.objectID)
  }
}
