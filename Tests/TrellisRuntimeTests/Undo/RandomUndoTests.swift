import Testing
import Trellis
import TrellisTestSupport

@Suite("Undo of whatever was done") struct RandomUndoTests {
  @Test(
    "each step undone is the graph as it was, done again the graph as it became, whatever was saved between",
    arguments: 1...60)
  func undoing(seed: UInt64) throws {
    var run = try UndoRun(seed: seed)
    try run.makeSteps(12)
    try run.walkBack(saving: false)
    try run.walkForward()
    try run.walkBack(saving: true)
  }

  @Test("undoing what was never saved leaves nothing to save", arguments: 1...30)
  func nothingLeft(seed: UInt64) throws {
    var run = try UndoRun(seed: seed, saves: false)
    try run.context.save()
    run.context.undo.clear()
    try run.makeSteps(6)
    while try run.context.undo.undo() {}
    #expect(run.context.insertedObjects.isEmpty && run.context.deletedObjects.isEmpty)
    let changed = run.context.updatedObjects.map { "\($0): \($0.changedProperties)" }
    #expect(changed == [])
  }
}

/// Makes steps by chance and remembers what the graph was before and after each.
private struct UndoRun {
  let container: PersistentContainer
  var context: ManagedObjectContext
  private var changes: RandomChanges
  private var pictures: [GraphPicture] = []
  private let saves: Bool
  private let file: TemporaryFile?

  init(seed: UInt64, saves: Bool = true) throws {
    changes = RandomChanges(seed: seed)
    self.saves = saves
    // Every fourth run is on SQLite.
    file = seed % 4 == 0 ? TemporaryFile() : nil
    container = try PersistentContainer(
      model: .shapes, store: file.map { .sqlite(at: $0.url, durability: .relaxed) } ?? .memory)
    context = container.newContext()
    for number in 0..<6 { _ = Node(in: context, name: "\(number)") }
    for size in [1, 2, 9] { _ = Team(in: context, size: Int16(size)) }
    for _ in 0..<12 { try change() }
    try context.saveValidChanges()
    // Half of the runs begin with nothing in memory, others with unsaved changes.
    if saves && chance(2) {
      context = container.newContext()
    } else if saves && chance(2) {
      for _ in 0..<4 { try change() }
    }
    context.undo.enable()
    pictures = [try GraphPicture(container.newContext())]
    if context.hasChanges { pictures = [try GraphPicture(context)] }
  }

  mutating func makeSteps(_ count: Int) throws {
    for step in 0..<count {
      context.undo.beginGroup()
      // So that each step is one, whatever else comes of it.
      try context.first(Team.where { $0.size == 9 })?.name = "step \(step)"
      for _ in 0..<Int.random(in: 1...3, using: &changes.generator) { try change() }
      context.undo.endGroup()
      if chance(3) { context.dropUnusedObjects() }
      if saves && chance(3) { try? context.save() }
      pictures.append(try GraphPicture(context))
    }
  }

  mutating func walkBack(saving: Bool) throws {
    var place = pictures.count - 1
    while try context.undo.undo() {
      place -= 1
      compare(pictures[max(0, place)], "undone to \(place)")
      if saving && chance(2) { try saveAndCompare() }
    }
    #expect(place == 0)
  }

  mutating func walkForward() throws {
    while try context.undo.redo() {
      if saves && chance(3) { try saveAndCompare() }
    }
    compare(pictures[pictures.count - 1], "done again")
  }

  private func compare(_ wanted: GraphPicture, _ what: String) {
    guard let picture = try? GraphPicture(context) else {
      Issue.record("the graph cannot be read")
      return
    }
    let differences = picture.differences(from: wanted)
    #expect(differences == [], "\(what)")
  }

  private func saveAndCompare() throws {
    guard (try? context.save()) != nil else { return }
    let reader = container.newContext()
    let differences = try GraphPicture(reader).differences(from: GraphPicture(context))
    #expect(differences == [], "in the store")
  }

  private mutating func chance(_ one: Int) -> Bool { changes.chance(one) }
  private mutating func change() throws { try changes.change(context) }
}
