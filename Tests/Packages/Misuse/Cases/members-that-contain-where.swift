// expect: write any { … }, as in $0.tags.any
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.pages.any { $0.size > 3 } })
  #else
    _ = try context.fetch(Note.where { $0.pages.contains(where: { $0.size > 3 }) })
  #endif
}
