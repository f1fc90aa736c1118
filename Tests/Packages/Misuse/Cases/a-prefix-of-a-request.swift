// expect: write limit(count)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.all.limit(3))
  #else
    _ = try context.fetch(Note.all.prefix(3))
  #endif
}
