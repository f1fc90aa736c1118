import Testing
import Trellis
import TrellisTestSupport

@Suite("Child contexts, whatever is done in them") struct RandomChildTests {
  @Test(
    "what a child shows its parent shows after its save, and the store after the parent's; undone, all is as it was",
    arguments: 1...60)
  func handingUp(seed: UInt64) throws {
    var changes = RandomChanges(seed: seed)
    // Every fourth run is on SQLite.
    let file = seed % 4 == 0 ? TemporaryFile() : nil
    let container = try PersistentContainer(
      model: .shapes, store: file.map { .sqlite(at: $0.url, durability: .relaxed) } ?? .memory)
    var context = container.newContext()
    for number in 0..<6 { _ = Node(in: context, name: "\(number)") }
    for size in [1, 2, 9] { _ = Team(in: context, size: Int16(size)) }
    for _ in 0..<8 { try changes.change(context) }
    try context.saveValidChanges()
    if changes.chance(2) {
      context = container.newContext()
    } else if changes.chance(2) {
      for _ in 0..<4 { try changes.change(context) }
    }
    context.undo.enable()
    for round in 0..<4 {
      for _ in 0..<changes.upTo(3) { try changes.change(context) }
      try check(context, container, &changes, "seed \(seed), round \(round)")
    }
  }

  private func check(
    _ context: ManagedObjectContext, _ container: PersistentContainer, _ changes: inout RandomChanges, _ what: String
  ) throws {
    let before = try GraphPicture(context)
    let levels = changes.chance(3) ? 2 : 1
    let child = context.newChildContext()
    let deepest = levels == 2 ? child.newChildContext() : child
    compare(try GraphPicture(deepest).differences(from: before), "\(what), seen")
    for _ in 0...changes.upTo(5) { try changes.change(deepest) }
    compare(try GraphPicture(context).differences(from: before), "\(what), not saved")
    let wanted = try GraphPicture(deepest)
    guard (try? deepest.save()) != nil else {
      compare(try GraphPicture(context).differences(from: before), "\(what), refused")
      return
    }
    if levels == 2 { try child.save() }
    compare(try GraphPicture(deepest).differences(from: wanted), "\(what), kept")
    compare(try GraphPicture(context).differences(from: wanted), "\(what), handed up")
    if changes.chance(2), wanted != before {
      try context.undo.undo()
      compare(try GraphPicture(context).differences(from: before), "\(what), undone")
      try context.undo.redo()
      compare(try GraphPicture(context).differences(from: wanted), "\(what), done again")
    }
    guard changes.chance(2), (try? context.save()) != nil else { return }
    compare(try GraphPicture(container.newContext()).differences(from: wanted), "\(what), stored")
  }

  private func compare(_ differences: [String], _ what: String) { #expect(differences == [], "\(what)") }
}
