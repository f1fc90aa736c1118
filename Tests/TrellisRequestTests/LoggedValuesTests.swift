import Testing
import Trellis
import TrellisModel

@Suite("Values in the query log") struct LoggedValuesTests {
  private final class Entries: Sendable {
    private let found = Locked<[QueryLogEntry]>([])
    func log(values: Bool) -> QueryLog {
      QueryLog(includesValues: values) { entry in self.found.withLock { $0.append(entry) } }
    }
    func take() -> [QueryLogEntry] {
      found.withLock { entries in
        defer { entries = [] }
        return entries
      }
    }
  }

  @Test(
    "every store tells the values of requests and the keys of loads, when they are wanted", arguments: AnyStore.allCases
  )
  func wanted(_ store: AnyStore) throws {
    let entries = Entries()
    let world = try World(store, log: entries.log(values: true))
    let items = try world.items(3)
    let box = Box(in: world.context)
    box.items = [items[1]]
    try world.context.save()
    _ = entries.take()
    let context = world.container.newContext()
    _ = try context.fetch(Item.where { $0.name == "a" || $0.count > 5 }.limit(7).offset(1))
    _ = try context.object(with: items[2].objectID)
    _ = try context.first(Box.all)?.items.count
    try context.updateAll(Item.where { $0.name == "zz" }) { $0.count.increase(by: 3) }
    let found = entries.take()
    #expect(found[0].values == [.text("a"), .integer(5), .integer(7), .integer(1)])
    #expect(found[1].kind == .rows && found[1].values == [.integer(items[2].objectID.key)])
    #expect(found.first { $0.kind == .memberKeys }?.values == [.integer(box.objectID.key)])
    #expect(found.last?.kind == .updateAll && found.last?.values == [.text("zz"), .integer(3)])
    #expect(found.allSatisfy { $0.values.isEmpty || $0.description.contains("← ") })
    let first = found[1].description.split(separator: "\n")[0]
    #expect(first.contains(" ← ") && first.contains("\(items[2].objectID.key)"))
  }

  @Test("no store tells any when they are not", arguments: AnyStore.allCases)
  func unwanted(_ store: AnyStore) throws {
    let entries = Entries()
    let world = try World(store, log: entries.log(values: false))
    try world.items(1)
    _ = try world.context.fetch(Item.where { $0.name == "secret" })
    try world.context.updateAll(Item.all) { $0.name.set("secret") }
    let found = entries.take()
    #expect(found.count >= 3 && found.allSatisfy { $0.values.isEmpty && !$0.description.contains("secret") })
  }

  @Test("SQLite changes and deletes any number of rows in one statement")
  func statements() throws {
    let entries = Entries()
    let world = try World(.sqlite, log: entries.log(values: false))
    try world.items(50)
    for _ in 0..<5 { _ = Mark(in: world.context) }
    _ = Banner(in: world.context)
    try world.context.save()
    _ = entries.take()
    try world.context.updateAll(Item.where { $0.count > 3 }) { $0.count.set(1) }
    try world.context.deleteAll(Pole.all)
    let texts = entries.take().flatMap(\.statements).map(\.text).filter { !["BEGIN IMMEDIATE", "COMMIT"].contains($0) }
    #expect(texts.count == 2)
    #expect(texts.first?.hasPrefix("UPDATE \"Item\" AS t0 SET \"count\" = ?") == true)
    #expect(texts.last?.hasPrefix("DELETE FROM \"Pole\" AS t0") == true)
    // With members and pairs the number does not depend on that of the rows.
    try world.context.deleteAll(Item.where { $0.name < "f" })
    let few = entries.take().flatMap(\.statements).count
    try world.context.deleteAll(Item.all)
    #expect(few == entries.take().flatMap(\.statements).count && few < 25)
  }
}
