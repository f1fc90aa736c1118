// expect: write all { … }
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.pages.all { $0.size > 3 } })
  #else
    _ = try context.fetch(Note.where { $0.pages.allSatisfy { $0.size > 3 } })
  #endif
}
