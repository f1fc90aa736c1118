import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("The samples of the guides") struct GuideTests {
  @Test("delete rules")
  func deleteRules() throws {
    let world = try LedgerWorld()
    let (context, ledger, category) = (world.context, world.ledger, world.category)

    do {
      try context.validateForDelete(category)
      try context.delete(category)
    } catch let refusal as ValidationError {
      #expect(refusal.failures.first?.blockers.count == 2)
    }
    #expect(!category.isDeleted)

    try context.delete(category)
    ledger.name = "new"
    do {
      try context.save()
    } catch let refusal as ValidationError {
      #expect(refusal.failures.map(\.rule) == [.deniedDelete])
      context.undelete(category)
      try context.save()
    }
    #expect(!category.isDeleted && !ledger.hasChanges)

    for entry in category.entries { try context.delete(entry) }
    try context.delete(category)
    try context.save()
    #expect(try context.count(Category.all) == 0)
  }

  @Test("validation")
  func validation() throws {
    let container = try PersistentContainer(model: .hooks, store: .memory)
    let context = container.newContext()

    let food = Purpose(in: context, kind: .expense)
    let payment = Payment(in: context, kind: .income, purpose: food)
    do {
      try payment.validate()
    } catch let error as ValidationError {
      let lines = error.failures.map { "\($0.property) \($0.message)" }
      #expect(lines == ["purpose must belong to the kind of the payment"])
    }

    let good = Payment(in: context, kind: .expense, purpose: food)
    let discarded = try context.saveValidChanges()
    #expect(discarded.map(\.kind) == [.insert])
    #expect(!good.isInserted && payment.managedObjectContext == nil)

    good.kind = .income
    try good.rollback(\.kind)
    #expect(good.kind == .expense && !context.hasChanges)
  }

  @Test("undo")
  func undo() throws {
    let container = try PersistentContainer(model: .shapes, store: .memory)
    let context = container.newContext()
    let node = Node(in: context, name: "a")
    try context.save()

    context.undo.enable(limit: 50)
    context.undo.group("Rename") {
      node.name = "b"
      node.children.append(Node(in: context, name: "child"))
    }
    try context.save()

    #expect(context.undo.undoName == "Rename")
    try context.undo.undo()
    #expect(node.name == "a" && node.children.isEmpty)
    try context.save()

    try context.undo.redo()
    #expect(node.name == "b" && node.children.map(\.name) == ["child"])
  }

  @Test("each sample stands in these tests", arguments: ["DeleteRules", "Validation", "Undo"])
  func samples(page: String) throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let hooks = tests.appending(path: "Saving/HookTests.swift")
    let story = tests.deletingLastPathComponent().appending(path: "TrellisStoryTests/Guides/\(page)GuideTests.swift")
    let missing = try GuideText("\(page).md").samples(missingFrom: #filePath, hooks.path, story.path)
    #expect(missing == [])
  }
}
