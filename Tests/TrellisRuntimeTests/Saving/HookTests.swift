import Testing
import Trellis
import TrellisTestSupport

/// What the hooks below are to do, and what they did, for the test that is running.
private enum Script {
  @TaskLocal static var current = Sheet()

  final class Sheet: @unchecked Sendable {  // used by one test at a time
    var log: [String] = []
    var onWillSave: (Letter) throws -> Void = { _ in }
    var onDidSave: (Document) -> Void = { _ in }
  }

  static func note(_ text: String) { current.log.append(text) }
}

extension Document {
  static func didInsert(_ document: Document) { Script.note("document made: \(document.title)") }
  static func willSave(_ document: Document) throws { document.edits += 1 }
  static func didSave(_ document: Document) { Script.current.onDidSave(document) }

  static func validateInsert(_ document: Document) throws {
    if document.title == "forbidden" { throw ValidationFailure(document, \.title, "is forbidden") }
  }

  static func validateUpdate(_ document: Document) throws { try validateInsert(document) }
}

extension Letter {
  static func didInsert(_ letter: Letter) { Script.note("letter made: \(letter.title) \(letter.pages.count)") }
  static func didFetch(_ letter: Letter) { letter.words = Int64(letter.text.split(separator: " ").count) }
  static func willSave(_ letter: Letter) throws { try Script.current.onWillSave(letter) }

  static func validateInsert(_ letter: Letter) throws {
    if letter.text == "no" {
      throw ValidationError(failures: [
        ValidationFailure(letter, \.text, "must not be no"), ValidationFailure(letter, "is of no use"),
      ])
    }
  }
}

extension Page {
  static func willDelete(_ page: Page) {
    Script.note("page \(page.number) of \(page.letter?.title ?? "none")")
  }

  static func validateDelete(_ page: Page) throws {
    if page.number == 13 { throw ValidationFailure(page, \.number, "is bad luck to throw away") }
  }
}

extension Payment {
  static func validateInsert(_ payment: Payment) throws {
    guard let purpose = payment.purpose, purpose.kind != payment.kind else { return }
    throw ValidationFailure(payment, \.purpose, "must belong to the kind of the payment")
  }
}

extension Payment {
  static func validateUpdate(_ payment: Payment) throws { try validateInsert(payment) }
}

@Suite("Hooks") struct HookTests {
  private let problems = ReportedErrors()

  private func makeContainer() throws -> PersistentContainer {
    let problems = problems
    return try PersistentContainer(model: .hooks, store: .memory) { problems.add($0) }
  }

  private func script(_ body: (Script.Sheet) throws -> Void) rethrows {
    let sheet = Script.Sheet()
    try Script.$current.withValue(sheet) { try body(sheet) }
  }

  @Test("an object's hooks are called for its class and for those above, the topmost first, once")
  func inheritance() throws {
    try script { sheet in
      let context = try makeContainer().newContext()
      let letter = Letter(in: context, title: "a")
      #expect(sheet.log == ["document made: a", "letter made: a 0"])
      letter.title = "forbidden"
      letter.text = "no"
      let error = #expect(throws: ValidationError.self) { try context.save() }
      #expect(error?.failures.map(\.message) == ["is forbidden", "must not be no", "is of no use"])
      #expect(error?.failures.map(\.property) == ["title", "text", ""])
      #expect(error?.failures.allSatisfy { $0.rule == .custom && $0.key == letter.objectID.key } == true)
      let again = #expect(throws: ValidationError.self) { try letter.validate() }
      #expect(again == error)
    }
  }

  @Test("a rule across properties is checked at inserts and at updates, and names the property")
  func acrossProperties() throws {
    let context = try makeContainer().newContext()
    let food = Purpose(in: context, kind: .expense)
    let payment = Payment(in: context, kind: .expense, purpose: food)
    try context.save()
    payment.kind = .income
    let error = #expect(throws: ValidationError.self) { try context.save() }
    #expect(error?.failures.map(\.property) == ["purpose"])
    #expect(error?.failures.first?.description.contains("purpose must belong to the kind of the payment") == true)
    #expect(try context.saveValidChanges().map(\.kind) == [.update] && payment.kind == .expense)
  }

  @Test("willSave may change values, which are saved; its own changes do not call it again")
  func willSave() throws {
    let container = try makeContainer()
    let context = container.newContext()
    let letter = Letter(in: context, title: "a")
    try context.save()
    #expect(letter.edits == 1 && !context.hasChanges)
    letter.title = "b"
    try context.save()
    try context.save()
    #expect(letter.edits == 2)
    #expect(try container.newContext().first(Letter.all)?.snapshot.edits == 2)
  }

  @Test("what willSave made or changed elsewhere gets its own call")
  func chain() throws {
    try script { sheet in
      let container = try makeContainer()
      let context = container.newContext()
      let (a, b) = (Letter(in: context, title: "a"), Letter(in: context, title: "b"))
      try context.save()
      sheet.onWillSave = { letter in
        if letter.title == "a2" && letter.pages.isEmpty {
          b.text = "by a"
          _ = Letter(in: context, title: "made")
        }
      }
      a.title = "a2"
      try context.save()
      #expect(b.edits == 2 && !context.hasChanges)
      #expect(try container.newContext().fetch(Letter.all).map(\.edits).sorted() == [1, 2, 2])
    }
  }

  @Test("hooks that keep changing each other's objects end in an error that names them, and leave no change behind")
  func endless() throws {
    try script { sheet in
      let context = try makeContainer().newContext()
      let (a, b) = (Letter(in: context, title: "a"), Letter(in: context, title: "b"))
      a.echo = b
      try context.save()
      sheet.onWillSave = { $0.echo?.text += "!" }
      a.title = "x"
      let error = #expect(throws: ContextError.self) { try context.save() }
      #expect(error?.code == .endlessHooks && error?.message.contains("Letter.willSave") == true)
      #expect(a.text == "" && b.text == "" && a.edits == 1 && a.changedProperties == ["title"] && !b.hasChanges)
    }
  }

  @Test("an object that willSave repairs before each save is not discarded")
  func rescued() throws {
    try script { sheet in
      let context = try makeContainer().newContext()
      sheet.onWillSave = { if $0.title == "forbidden" { $0.title = "allowed" } }
      let good = Letter(in: context, title: "forbidden")
      let bad = Letter(in: context, title: "bad", text: "no")
      let discarded = try context.saveValidChanges()
      #expect(discarded.map(\.object.key) == [bad.objectID.key])
      #expect(good.title == "allowed" && !context.hasChanges)
    }
  }

  @Test("what hooks changed goes when the save fails, with and without undo", arguments: [false, true])
  func failing(undo: Bool) throws {
    try script { sheet in
      let container = try makeContainer()
      let context = container.newContext()
      if undo { context.undo.enable() }
      let letter = Letter(in: context, title: "a")
      letter.pages = [Page(in: context, number: 1), Page(in: context, number: 2)]
      try context.save()
      sheet.onWillSave = { letter in
        letter.text = "changed"
        letter.pages.move(from: 1, to: 0)
        _ = Page(in: context, number: 3)
      }
      letter.title = "forbidden"
      #expect(throws: ValidationError.self) { try context.save() }
      #expect(letter.text == "" && letter.edits == 1 && letter.pages.map(\.number) == [1, 2])
      #expect(context.insertedObjects.isEmpty && letter.changedProperties == ["title"])
      letter.title = "allowed"
      try context.save()
      #expect(letter.text == "changed" && letter.edits == 2 && letter.pages.map(\.number) == [2, 1])
      #expect(try container.newContext().count(Page.all) == 3)
      guard undo else { return }
      sheet.onWillSave = { _ in }
      try context.undo.undo()
      #expect(letter.title == "a" && letter.text == "" && letter.edits == 1 && letter.pages.map(\.number) == [1, 2])
      #expect(try context.count(Page.all) == 2)
    }
  }

  @Test("what hooks changed goes when the save fails, whatever they ask or tell the history of undo")
  func historyInside() throws {
    try script { sheet in
      let context = try makeContainer().newContext()
      context.undo.enable()
      let letter = Letter(in: context, title: "a")
      try context.save()
      sheet.onWillSave = { letter in
        letter.text = "changed"
        #expect(context.undo.canUndo && !context.undo.canRedo && context.undo.undoName == "rename")
        context.undo.endStep("hook")
        context.undo.group { letter.text += " twice" }
        context.undo.clear()
        context.undo.disable()
        context.undo.enable()
      }
      letter.title = "forbidden"
      context.undo.endStep("rename")
      #expect(throws: ValidationError.self) { try context.save() }
      #expect(letter.text == "" && letter.changedProperties == ["title"])
      #expect(problems.codes == [.insideHook, .insideHook, .insideHook] && context.undo.undoName == "rename")
      try context.undo.undo()
      #expect(letter.title == "a")
    }
  }

  @Test("an error of willSave is the save's, and nothing is saved")
  func throwing() throws {
    struct Refused: Error {}
    try script { sheet in
      let container = try makeContainer()
      let context = container.newContext()
      _ = Letter(in: context, title: "a")
      sheet.onWillSave = { _ in throw Refused() }
      #expect(throws: Refused.self) { try context.save() }
      #expect(try container.newContext().count(Letter.all) == 0 && context.hasChanges)
    }
  }

  @Test("saving and undoing throw inside a hook; rollback and reset are reported and do nothing")
  func refusedInside() throws {
    try script { sheet in
      let context = try makeContainer().newContext()
      context.undo.enable()
      let letter = Letter(in: context, title: "a")
      var codes: [ContextError.Code?] = []
      sheet.onWillSave = { _ in
        do { try context.save() } catch { codes.append((error as? ContextError)?.code) }
        do { try context.undo.undo() } catch { codes.append((error as? ContextError)?.code) }
        context.rollback()
        context.reset()
      }
      try context.save()
      #expect(codes == [.insideHook, .insideHook] && problems.codes == [.insideHook, .insideHook])
      #expect(letter.managedObjectContext === context && !letter.isInserted)
    }
  }

  @Test("didSave is called after the save, and what it changes is for the next one")
  func didSave() throws {
    try script { sheet in
      let context = try makeContainer().newContext()
      sheet.onDidSave = { document in
        if document.title == "a" { document.title = "after" }
      }
      let letter = Letter(in: context, title: "a")
      try context.save()
      #expect(!letter.isInserted && letter.changedProperties == ["title"])
      try context.save()
      #expect(!letter.hasChanges)
    }
  }

  @Test("didFetch is called before values are first used, again after the row was read again, and leaves no change")
  func didFetch() throws {
    let container = try makeContainer()
    let context = container.newContext()
    let written = Letter(in: context, title: "a", text: "one two")
    try context.save()
    let other = container.newContext()
    let letter = try #require(try other.first(Letter.all))
    #expect(letter.words == 2 && !other.hasChanges && !letter.hasChanges)
    written.text = "one two three"
    try context.save()
    other.mergeChanges()
    #expect(letter.words == 3)
    letter.words = 7
    other.rollback()
    #expect(letter.words == 3)
  }

  @Test(
    "willDelete is called for what a cascade takes along, loaded or not, while it is whole", arguments: [false, true])
  func willDelete(loaded: Bool) throws {
    try script { sheet in
      let container = try makeContainer()
      var context = container.newContext()
      let letter = Letter(in: context, title: "a")
      letter.pages = OrderedToMany((1...3).map { Page(in: context, number: $0) })
      try context.save()
      if !loaded { context = container.newContext() }
      sheet.log = []
      try context.delete(#require(try context.first(Letter.all)))
      #expect(sheet.log == ["page 1 of a", "page 2 of a", "page 3 of a"])
      try context.save()
      #expect(try container.newContext().count(Letter.all) == 0)
    }
  }

  @Test("validateDelete can refuse, and validateForDelete knows it beforehand without calling willDelete")
  func validateDelete() throws {
    try script { sheet in
      let context = try makeContainer().newContext()
      let page = Page(in: context, number: 13)
      try context.save()
      let refusal = try #require(throws: ValidationError.self) { try context.validateForDelete(page) }
      #expect(sheet.log.isEmpty && refusal.failures.map(\.property) == ["number"])
      try context.delete(page)
      #expect(throws: refusal) { try context.save() }
      context.undelete(page)
      try context.save()
    }
  }
}
