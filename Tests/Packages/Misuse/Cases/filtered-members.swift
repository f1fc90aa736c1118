// expect: write any { … }, or count { … }
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.pages.count { $0.size > 3 } > 1 })
  #else
    _ = try context.fetch(Note.where { $0.pages.filter { $0.size > 3 }.count > 1 })
  #endif
}
