import Testing
import Trellis

@Suite("Required one-way references") struct OneWayTests {
  private func makeEvent(_ context: ManagedObjectContext, needing data: Data) -> Event {
    Event(
      in: context, switch: "", context: "", path: "", copy: 0, newValue: "", type: "", in: "", checksum: "",
      inherited: "",
      properties: "", old: "", needed: data)
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
    guard case .no(let refusal) = try context.canDelete(victim) else {
      Issue.record("an event needs it")
      return
    }
    #expect(refusal.failures.map(\.key) == [event.objectID.key] && refusal.failures.map(\.property) == ["needed"])
    try context.delete(victim)
    #expect(throws: refusal) { try context.save() }
    let other = Data(in: context)
    other.passport = Set(in: context)
    try context.first(Event.all)?.needed = other
    try context.save()
    #expect(try container.newContext().first(Event.all)?.snapshot.needed == other.objectID)
  }
}
