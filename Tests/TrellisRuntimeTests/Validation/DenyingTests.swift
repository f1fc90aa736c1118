import Testing
import Trellis

/// A ledger with its owner, two entries of one category and a receipt; saved.
struct LedgerWorld {
  let container: PersistentContainer
  let context: ManagedObjectContext
  let ledger: Ledger
  let entries: [Entry]
  let receipt: Receipt
  let category: Category
  let owner: Owner

  init() throws {
    container = try PersistentContainer(model: .rules, store: .memory) { _ in }
    context = container.newContext()
    owner = Owner(in: context, name: "owner")
    ledger = Ledger(in: context, name: "first")
    ledger.owners = [owner]
    category = Category(in: context, name: "food")
    let (ledger, category, context) = (ledger, category, context)
    entries = ["a", "b"].map { Entry(in: context, memo: $0, ledger: ledger, category: category) }
    receipt = Receipt(in: context, path: "1.png", entry: entries[0])
    try context.save()
  }

  func stored<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Int {
    try container.newContext().count(request)
  }
}

@Suite("What stands in the way of a delete") struct DenyingTests {
  @Test("a refused save names each blocking object and its relationship, and changes nothing")
  func refusal() throws {
    let world = try LedgerWorld()
    try world.context.delete(world.category)
    let error = #expect(throws: ValidationError.self) { try world.context.save() }
    let failure = try #require(error?.failures.first)
    #expect(failure.rule == .deniedDelete && failure.property == "entries" && failure.entity == "Category")
    #expect(failure.blockers.map(\.key) == world.entries.map(\.objectID.key))
    #expect(failure.blockers.map(\.entity) == ["Entry", "Entry"])
    #expect(world.category.isDeleted && world.context.deletedObjects == [world.category])
    #expect(try world.stored(Category.all) == 1)
  }

  @Test("it can be asked beforehand, and nothing is deleted by asking")
  func askingBefore() throws {
    let world = try LedgerWorld()
    let refusal = try #require(throws: ValidationError.self) { try world.context.validateForDelete(world.category) }
    #expect(!world.context.hasChanges && !world.category.isDeleted)
    try world.context.delete(world.category)
    let error = #expect(throws: ValidationError.self) { try world.context.save() }
    #expect(error == refusal)
  }

  @Test("objects deleted in the same save do not block, whichever goes first", arguments: [false, true])
  func deletedTogether(entriesFirst: Bool) throws {
    let world = try LedgerWorld()
    if entriesFirst { for entry in world.entries { try world.context.delete(entry) } }
    if entriesFirst {
      try world.context.validateForDelete(world.category)
    } else {
      #expect(throws: ValidationError.self) { try world.context.validateForDelete(world.category) }
    }
    try world.context.delete(world.category)
    if !entriesFirst { for entry in world.entries { try world.context.delete(entry) } }
    try world.context.save()
    #expect(try world.stored(Category.all) == 0)
  }

  @Test("a partner that goes elsewhere blocks no more")
  func movedAway() throws {
    let world = try LedgerWorld()
    let other = Category(in: world.context, name: "other")
    try world.context.delete(world.category)
    world.entries[0].category = other
    world.entries[1].category = nil
    #expect(other.entries.objects == [world.entries[0]])
    try world.context.save()
    #expect(try world.stored(Category.all) == 1 && world.stored(Entry.where { $0.category == nil }) == 1)
  }

  @Test("who would be left without a partner that it must have is named")
  func neededByOthers() throws {
    let world = try LedgerWorld()
    let refusal = try #require(throws: ValidationError.self) { try world.context.validateForDelete(world.owner) }
    #expect(refusal.failures.map { "\($0.object).\($0.property)" } == ["Ledger#\(world.ledger.objectID.key).owners"])
    try world.context.validateForDelete(world.ledger)
    try world.context.delete(world.owner)
    #expect(throws: refusal) { try world.context.save() }
    world.ledger.owners.append(Owner(in: world.context))
    try world.context.save()
  }

  // MARK: Taking it back

  @Test(
    "undelete brings back what the delete took along, with its relationships in their order, and other changes stay")
  func undeleting() throws {
    let world = try LedgerWorld()
    let added = Entry(in: world.context, memo: "c", ledger: world.ledger)
    world.owner.name = "renamed"
    try world.context.delete(world.ledger)
    #expect(world.entries.allSatisfy(\.isDeleted) && world.receipt.isDeleted && added.managedObjectContext == nil)
    world.context.undelete(world.entries[0])
    #expect(world.context.deletedObjects.isEmpty)
    #expect(world.ledger.entries.map(\.memo) == ["a", "b", "c"] && world.ledger.owners.objects == [world.owner])
    #expect(world.category.entries.count == 2 && world.entries[0].receipt === world.receipt)
    #expect(world.owner.name == "renamed" && world.owner.ledgers.objects == [world.ledger])
    #expect(added.isInserted && added.ledger === world.ledger)
    #expect(world.ledger.changedProperties == ["entries"])
    try world.context.save()
    #expect(try world.stored(Entry.all) == 3 && world.stored(Receipt.where { $0.entry != nil }) == 1)
  }

  @Test("after undelete of a refused object the rest can be saved")
  func savingTheRest() throws {
    let world = try LedgerWorld()
    world.ledger.name = "new"
    try world.context.delete(world.category)
    #expect(throws: ValidationError.self) { try world.context.save() }
    world.context.undelete(world.category)
    try world.context.save()
    #expect(try world.stored(Ledger.where { $0.name == "new" }) == 1 && world.stored(Category.all) == 1)
  }

  @Test("a partner that has found another meanwhile keeps that one")
  func takenMeanwhile() throws {
    let world = try LedgerWorld()
    try world.context.delete(world.receipt)
    let other = Receipt(in: world.context, path: "2.png", entry: world.entries[0])
    world.context.undelete(world.receipt)
    #expect(world.entries[0].receipt === other && world.receipt.entry == nil && other.entry === world.entries[0])
    try world.context.save()
    #expect(try world.stored(Receipt.where { $0.entry == nil }) == 1)
  }

  @Test("each delete is taken back by itself, and an object that is not deleted is left alone")
  func severalDeletes() throws {
    let world = try LedgerWorld()
    try world.context.delete(world.entries[0])
    try world.context.delete(world.entries[1])
    world.context.undelete(world.entries[1])
    world.context.undelete(world.owner)
    #expect(world.ledger.entries.objects == [world.entries[1]])
    world.context.undelete(world.entries[0])
    #expect(world.ledger.entries.objects == world.entries && !world.context.hasChanges)
  }

  @Test(
    "of many blocking objects the first twenty are named, with their number, and none is loaded",
    arguments: [false, true])
  func many(isLoaded: Bool) throws {
    let world = try LedgerWorld()
    for number in 0..<98 {
      _ = Entry(in: world.context, memo: "\(number)", ledger: world.ledger, category: world.category)
    }
    try world.context.save()
    let context = world.container.newContext()
    let category = try #require(try context.object(with: world.category.objectID))
    if isLoaded { #expect(category.entries.count == 100) }
    let refusal = try #require(throws: ValidationError.self) { try context.validateForDelete(category) }
    let failure = try #require(refusal.failures.first)
    #expect(failure.blockerCount == 100 && failure.blockers.count == 20 && refusal.failures.count == 1)
    #expect(failure.blockers.map(\.key) == failure.blockers.map(\.key).sorted())
    #expect(context.registeredCount <= (isLoaded ? 21 : 1))
    try context.delete(category)
    let error = #expect(throws: ValidationError.self) { try context.save() }
    #expect(error == refusal)
    #expect("\(refusal)".contains("and 95 more"))
  }

  @Test("what the context has changed counts, whether members are loaded or not", arguments: [false, true])
  func unsaved(isLoaded: Bool) throws {
    for edit in 0..<6 {
      let world = try LedgerWorld()
      let context = world.container.newContext()
      let category = try #require(try context.object(with: world.category.objectID))
      if isLoaded { #expect(category.entries.count == 2) }
      let entries = try world.entries.map { try #require(try context.object(with: $0.objectID)) }
      let ledger = try #require(try context.object(with: world.ledger.objectID))
      let other = Category(in: context, name: "other")
      let expected: Int
      switch edit {
      case 0:
        entries[0].category = other
        expected = 1
      case 1:
        try context.delete(entries[0])
        expected = 1
      case 2:
        for entry in entries { entry.category = other }
        expected = 0
      case 3:
        _ = Entry(in: context, memo: "new", ledger: ledger, category: category)
        expected = 3
      case 4:
        entries[1].memo = "changed"
        expected = 2
      default:
        try world.context.delete(world.entries[0])
        try world.context.save()
        // A list that is loaded shows the delete when the context merges it.
        expected = isLoaded ? 2 : 1
      }
      var found = 0
      do { try context.validateForDelete(category) } catch let error as ValidationError {
        found = error.failures.first?.blockerCount ?? 0
        #expect(error.failures.first?.blockers.count == found)
      }
      #expect(found == expected, "edit \(edit)")
    }
  }
}
