// expect: positions are written in a format: where("pages[FIRST].size > %d", 3)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where("pages[FIRST].size > %d", 3))
  #else
    _ = try context.fetch(Note.where { $0.pages.first.size > 3 })
  #endif
}
