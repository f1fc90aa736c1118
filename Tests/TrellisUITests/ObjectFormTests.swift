import Foundation
import Testing
import Trellis
import TrellisDiaryModel
import TrellisReceiptMindModel
import TrellisTestSupport
import TrellisUI

@MainActor @Suite("A form edits one object apart from the others") struct ObjectFormTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try PersistentContainer(previewing: .diary) { context in
      _ = EmotionDiary(in: context, emotion: .happy, content: "산책")
      _ = Tag(in: context, name: "sea")
    }
    context = container.mainContext
    context.isObserving = true
  }

  private func entry() throws -> EmotionDiary { try #require(try context.first(EmotionDiary.all)) }

  /// What the store has.
  private func stored() throws -> [String] {
    try container.newContext().fetch(EmotionDiary.all.sorted { $0.content }).map(\.content)
  }

  @Test("an edit shows in the form alone until it is saved, and is in the store then") func save() throws {
    let entry = try entry()
    let form = try ObjectForm(editing: entry)
    #expect(!form.isNew && !form.hasChanges && form.object !== entry)
    form.object.content = "비"
    #expect(form.hasChanges && entry.content == "산책")
    #expect(form.save())
    #expect(entry.content == "비" && !context.hasChanges && !form.hasChanges)
    #expect(try stored() == ["비"])
  }

  @Test("each edit evaluates a reader of the failures and the state once, and nothing else does") func evaluations()
    throws
  {
    let form = try ObjectForm(editing: try entry())
    var message: String?
    var hasChanges = false
    let view = Evaluations {
      let failures = form.failures
      message = failures.message(for: \.content)
      hasChanges = form.hasChanges
      _ = form.error
    }
    #expect(view.settled() == 0 && message == nil && !hasChanges)
    form.object.content = ""
    #expect(view.settled() == 1 && message != nil && hasChanges && !form.isValid)
    form.object.content = "a"
    #expect(view.settled() == 1 && message == nil && form.isValid)
    form.object.images.append(DiaryImage(in: form.context, imagePath: "1.png"))
    #expect(view.settled() == 1 && hasChanges)
    #expect(form.save())
    #expect(view.settled() == 1 && !hasChanges)
    try entry().mood = "elsewhere"
    #expect(view.settled() == 0)
  }

  @Test("a broken rule is told at its property, and refuses the save without a loss") func failures() throws {
    let form = ObjectForm(in: context) { EmotionDiary(in: $0, emotion: .sad, content: "") }
    #expect(form.isNew && form.hasChanges && !form.isValid)
    #expect(form.failures.of(\.content).map(\.rule) == [.minimumLength] && form.failures.of(\.mood).isEmpty)
    #expect(!form.save() && form.error == nil)
    #expect(form.failures.all.count == 1 && form.failures.others.isEmpty && !context.hasChanges)
    form.object.content = "a"
    #expect(form.save() && form.isValid)
    #expect(try stored() == ["a", "산책"])
  }

  @Test("a rule across properties and a field of a composite are told at their properties") func composites() throws {
    let container = try PersistentContainer(previewing: .receiptMind) { _ = Ledger.open("Home", in: $0) }
    let ledger = try #require(try container.mainContext.first(Ledger.all))
    let form = try ObjectForm(in: container.mainContext) { context in
      let ledger = try context.object(with: ledger.objectID)
      let receipt = Receipt(in: context, kind: .income, price: Money(amount: 0))
      receipt.ledger = ledger
      receipt.category = ledger?.categories(for: .expense).first
      return receipt
    }
    #expect(form.failures.message(for: \.price.amount) == "must be at least 0.01")
    #expect(form.failures.message(for: \.category) == "must belong to the kind of the receipt")
    form.object.kind = .expense
    form.object.price.amount = 12
    #expect(form.isValid && form.save())
  }

  @Test("what only the store can refuse is told at its property until the object is edited") func unique() throws {
    let form = ObjectForm(in: context) { Tag(in: $0, name: "sea") }
    var message: String?
    let view = Evaluations { message = form.failures.message(for: \.name) }
    #expect(form.isValid, "only the store knows")
    #expect(!form.save() && view.settled() == 1 && message != nil)
    form.object.name = "lake"
    #expect(view.settled() == 1 && message == nil)
    #expect(form.save())
    #expect(try container.newContext().count(Tag.all) == 2)
  }

  @Test("a conflict with another writer is an error of the form, which can be saved again") func conflict() throws {
    let entry = try entry()
    let form = try ObjectForm(editing: entry)
    form.object.content = "mine"
    entry.content = "theirs"
    try context.save()
    #expect(!form.save() && form.error is SaveConflict && form.object.content == "mine")
    form.context.mergePolicy = .objectTrump
    #expect(form.save() && form.error == nil)
    #expect(try stored() == ["mine"])
  }

  @Test("what is cancelled leaves nothing behind") func cancel() throws {
    let form = try ObjectForm(editing: try entry())
    form.object.content = "a"
    form.cancel()
    #expect(form.object.content == "산책" && !form.hasChanges && !context.hasChanges)
    let new = ObjectForm(in: context) { EmotionDiary(in: $0, emotion: .sad, content: "b") }
    new.cancel()
    #expect(new.object.managedObjectContext == nil && !context.hasChanges)
    #expect(try stored() == ["산책"])
  }

  /// Saves of the parent that fail although that of the form was right.
  @Test(
    "if the parent cannot be saved, the form can be saved later, or cancelled with what it has passed on",
    arguments: [false, true])
  func parentFails(isCancelled: Bool) throws {
    let entry = try entry()
    let broken = EmotionDiary(in: context, emotion: .sad, content: "")
    let form = try ObjectForm(editing: entry)
    form.object.content = "a"
    #expect(!form.save() && form.hasChanges && form.failures.others.count == 1)
    #expect(try stored() == ["산책"])
    if isCancelled {
      form.cancel()
      #expect(entry.content == "산책" && !entry.hasChanges && !form.hasChanges)
      #expect(broken.hasChanges, "what the form has not passed on stays")
    } else {
      broken.content = "b"
      #expect(form.save() && !form.hasChanges)
      #expect(try stored() == ["a", "b"])
    }
  }

  @Test("a form within a form passes its edits to the outer one") func nested() throws {
    let outer = try ObjectForm(editing: try entry())
    let inner = ObjectForm(in: outer.context) { DiaryImage(in: $0, imagePath: "1.png") }
    inner.object.diary = try inner.context.object(with: outer.object.objectID)
    #expect(inner.save() && outer.object.images.count == 1 && outer.hasChanges)
    #expect(try entry().images.isEmpty)
    #expect(outer.save())
    #expect(try container.newContext().count(DiaryImage.all) == 1)
  }

  @Test("an object that is deleted, or belongs to no context, has no form") func deleted() throws {
    let entry = try entry()
    try context.delete(entry)
    #expect { try ObjectForm(editing: entry) } throws: { ($0 as? ScreenError)?.code == .noObject }
    context.reset()
    #expect { try ObjectForm(editing: entry) } throws: { ($0 as? ScreenError)?.code == .noContext }
  }

  @Test("the object of a form that others have deleted reads as before, and the save fails") func deletedMeanwhile()
    throws
  {
    let form = try ObjectForm(editing: try entry())
    form.object.content = "a"
    let other = container.newContext()
    try other.delete(try #require(try other.first(EmotionDiary.all)))
    try other.save()
    context.mergeChanges()
    #expect(form.object.content == "a")
    #expect(!form.save() && (form.error != nil || !form.failures.isEmpty))
  }

  // MARK: One object

  @Test(
    "an object on screen is gone once it is deleted, here or elsewhere, saved or not, after one evaluation",
    arguments: ["here", "elsewhere", "by another program"])
  func liveObject(place: String) throws {
    let file = TemporaryFile()
    let ours = try PersistentContainer(model: .diary, store: .sqlite(at: file.url))
    let theirs = try PersistentContainer(model: .diary, store: .sqlite(at: file.url))
    let made = theirs.newContext()
    let id = EmotionDiary(in: made, emotion: .happy, content: "a").objectID
    try made.save()
    let context = ours.mainContext
    context.isObserving = true
    var text: String?
    let view = Evaluations { text = (try? context.liveObject(with: id))?.content }
    #expect(text == "a")
    let presence = Evaluations { _ = try? context.liveObject(with: id) }
    try #require(try context.object(with: id)).content = "b"
    #expect(view.settled() == 1 && text == "b" && presence.settled() == 0)
    try context.save()
    #expect(view.settled() == 0 && presence.settled() == 0)
    switch place {
    case "here": try context.delete(try #require(try context.object(with: id)))
    default:
      let other = (place == "elsewhere" ? ours : theirs).newContext()
      try other.delete(try #require(try other.object(with: id)))
      try other.save()
      context.mergeChanges()
    }
    #expect(view.settled() == 1 && text == nil && presence.settled() == 1)
  }

  // MARK: Previews

  @Test("a container for previews has what was made, and refuses what breaks a rule") func previews() throws {
    #expect(try stored() == ["산책"])
    #expect(throws: ValidationError.self) {
      try PersistentContainer(previewing: .diary) { _ = EmotionDiary(in: $0, emotion: .sad, content: "") }
    }
  }
}
