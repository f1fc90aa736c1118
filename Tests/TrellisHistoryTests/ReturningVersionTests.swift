import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@testable import Trellis
@testable import TrellisRuntime
@testable import TrellisTimeTravel

/// A row that comes back after its delete was saved has a version that no former row with its key had, so a save that was
/// made on top of a former one is a conflict.
@Suite("Versions of rows that come back") struct ReturningVersionTests {
  /// A note that was saved twice, and has version 2.
  private func note(in context: ManagedObjectContext) throws -> Note {
    let note = Note(in: context, text: "a")
    try context.save()
    note.text = "b"
    try context.save()
    #expect(note.version == 2)
    return note
  }

  private func version(of note: ObjectID<Note>, _ container: PersistentContainer) throws -> Int64? {
    try container.newContext().object(with: note)?.version
  }

  @Test("an undo of a saved delete continues the versions of the row", arguments: StoreKind.allCases)
  func undo(_ kind: StoreKind) throws {
    let notebook = try Notebook(.notebook, kind)
    let container = notebook.container
    defer { withExtendedLifetime(notebook) {} }
    let context = container.newContext()
    context.undo.enable()
    let note = try note(in: context)
    let id = note.objectID
    context.undo.endStep()
    try context.delete(note)
    try context.save()
    try context.undo.undo()
    // Taken back and made again before the save.
    try context.undo.redo()
    try context.undo.undo()
    try context.save()
    #expect(try note.version == 3 && version(of: id, container) == 3)
    note.text = "c"
    try context.save()
    #expect(try note.version == 4 && version(of: id, container) == 4)
    try context.delete(note)
    try context.save()
    try context.undo.undo()
    try context.save()
    #expect(try version(of: id, container) == 5)
    #expect(try container.check().isEmpty)
  }

  @Test("an undo in a child context after the parent has saved continues the versions", arguments: StoreKind.allCases)
  func child(_ kind: StoreKind) throws {
    let notebook = try Notebook(.notebook, kind)
    let container = notebook.container
    defer { withExtendedLifetime(notebook) {} }
    let parent = container.newContext()
    let id = try note(in: parent).objectID
    let child = parent.newChildContext()
    child.undo.enable()
    try child.delete(try #require(try child.object(with: id)))
    try child.save()
    try parent.save()
    #expect(try version(of: id, container) == nil)
    try child.undo.undo()
    try child.save()
    try parent.save()
    #expect(try version(of: id, container) == 3)
  }

  @Test("what is restored from the history continues the versions", arguments: StoreKind.withHistory)
  func restore(_ kind: StoreKind) throws {
    let notebook = try Notebook(.notebook, kind)
    let container = notebook.container
    let context = container.newContext()
    let note = Note(in: context, text: "a")
    let id = note.objectID
    try context.save()
    try container.settle()
    let then = try container.historyToken()
    note.text = "b"
    try context.save()
    try context.delete(note)
    try context.save()
    try container.settle()
    try notebook.save { try container.restore(id, asOf: then, in: $0) }
    #expect(try version(of: id, container) == 3)
    try notebook.save { context in try context.delete(try #require(try context.object(with: id))) }
    let save = try #require(try container.history().last)
    try notebook.save { try container.undo([save], in: $0) }
    #expect(try version(of: id, container) == 4)
    #expect(try container.check().isEmpty)
  }
}
