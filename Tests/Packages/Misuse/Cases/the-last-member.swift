// expect: positions are written in a format: where("pages[LAST].size > %d", 3)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where("pages[LAST].size > %d", 3))
  #else
    _ = try context.fetch(Note.where { $0.pages.last.size > 3 })
  #endif
}
