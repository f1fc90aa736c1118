// expect: write isIn after the relationship: $0.author.isIn(authors)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ notes: [Note]) throws {
  #if REPAIRED
    _ = try context.fetch(Page.where { $0.note.isIn(notes) })
  #else
    _ = try context.fetch(Page.where { notes.contains($0.note) })
  #endif
}
