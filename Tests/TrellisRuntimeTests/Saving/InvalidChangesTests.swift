import Foundation
import Testing
import Trellis

@Suite("Broken rules") struct InvalidChangesTests {
  @Test("each failure says which object, which property, which rule, and what is wrong in words for a person")
  func everyFailure() throws {
    let world = try LedgerWorld()
    let ledger = Ledger(in: world.context, name: "")
    ledger.owners = [world.owner]
    world.ledger.name = "LONGNAME"
    world.entries[0].amount = -1
    world.entries[0].day = Date(timeIntervalSince1970: 0)
    world.entries[1].ledger = nil
    let error = #expect(throws: ValidationError.self) { try world.context.save() }
    let told = Set(error?.failures.map { "\($0.entity).\($0.property) \($0.message)" } ?? [])
    #expect(
      told == [
        "Ledger.name must not be empty", "Ledger.name must have at most 5 characters",
        "Ledger.name must have the form that is asked for", "Entry.amount must be at least 0",
        "Entry.day must not be before 2020-01-01T00:00:00Z", "Entry.ledger must be set",
      ])
    for failure in error?.failures ?? [] {
      #expect(try world.context.object(with: failure.object)?.isDeleted == false)
      #expect(failure.description.contains("[\(failure.rule.rawValue)]"))
    }
  }

  @Test("one object can be checked on demand, deleted ones for what stands in the way")
  func onDemand() throws {
    let world = try LedgerWorld()
    try world.ledger.validate()
    world.entries[1].amount = -1
    world.ledger.name = ""
    world.ledger.owners = []
    let error = #expect(throws: ValidationError.self) { try world.ledger.validate() }
    #expect(error?.failures.map(\.property) == ["name", "owners"])
    #expect(error?.failures.allSatisfy { $0.key == world.ledger.objectID.key } == true)
    try world.context.delete(world.category)
    let denied = #expect(throws: ValidationError.self) { try world.category.validate() }
    #expect(denied?.failures.map(\.rule) == [.deniedDelete])
  }

  @Test("changes that break rules are discarded, and the rest is saved")
  func discarding() throws {
    let world = try LedgerWorld()
    let context = world.context
    let good = Ledger(in: context, name: "good")
    good.owners = [world.owner]
    let bad = Ledger(in: context, name: "")
    bad.owners = [world.owner]
    _ = Entry(in: context, memo: "of bad", ledger: bad)
    world.entries[0].ledger = bad
    world.entries[1].amount = -1
    world.entries[1].memo = "lost"
    world.receipt.path = "kept.png"
    try context.delete(world.category)
    let discarded = try context.saveValidChanges()
    #expect(
      discarded.map { "\($0.kind) \($0.object.entity)" } == [
        "delete Category", "insert Ledger", "insert Entry", "update Entry",
      ])
    #expect(discarded.allSatisfy { !$0.failures.isEmpty })
    #expect(world.entries[0].ledger === world.ledger && world.ledger.entries.objects == world.entries)
    #expect(world.entries[1].amount == 1 && world.entries[1].memo == "b" && !world.category.isDeleted)
    #expect(bad.managedObjectContext == nil && !context.hasChanges)
    #expect(try world.stored(Ledger.all) == 2 && world.stored(Receipt.where { $0.path == "kept.png" }) == 1)
    #expect(try world.stored(Entry.all) == 2 && world.stored(Category.all) == 1)
  }

  @Test("a delete that removes a required partner is reverted, and the changes of the object that it left are kept")
  func discardingDelete() throws {
    let world = try LedgerWorld()
    world.ledger.name = "kept"
    try world.context.delete(world.owner)
    let discarded = try world.context.saveValidChanges()
    #expect(discarded.map(\.kind) == [.delete] && discarded.map(\.object.entity) == ["Owner"])
    #expect(discarded.first?.failures.map(\.property) == ["owners"])
    #expect(world.ledger.name == "kept" && world.ledger.owners.objects == [world.owner])
    #expect(try world.stored(Ledger.where { $0.name == "kept" }) == 1)
  }

  @Test("without a broken rule everything is saved")
  func nothingToDiscard() throws {
    let world = try LedgerWorld()
    world.ledger.name = "new"
    #expect(try world.context.saveValidChanges() == [] && world.stored(Ledger.where { $0.name == "new" }) == 1)
  }
}
