import Foundation
import Testing
import Trellis

@Suite("Live results lead to rows that are gone") struct GoneRowTests {
  @Test("the object of a row that another context deleted belongs to no context and ignores writes") func gone() throws
  {
    let container = try PersistentContainer(model: .library, store: .memory(named: UUID().uuidString), log: nil) { _ in
    }
    let context = container.newContext()
    _ = Book(in: context, title: "a")
    try context.save()
    let results = try context.live(Book.all)
    #expect(context.dropUnusedObjects() == 1)
    let other = container.newContext()
    let found = try other.first(Book.all)
    try other.delete(try #require(found))
    try other.save()

    let book = results[0]
    #expect(book.isDeleted)
    #expect(book.managedObjectContext == nil)
    book.title = "b"
    #expect(book.title != "b")
    #expect(!context.hasChanges)
    context.mergeChanges()
    #expect(results.isEmpty)
  }
}
