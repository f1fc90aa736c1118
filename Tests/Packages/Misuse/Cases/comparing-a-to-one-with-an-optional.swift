// expect: ask with is(_:), as in $0.author.is(author)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ note: Note?) throws {
  #if REPAIRED
    _ = try context.fetch(Page.where { $0.note.is(note) })
  #else
    _ = try context.fetch(Page.where { $0.note == note })
  #endif
}
