// expect: write limit(count).offset(number)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.all.limit(3).offset(2))
  #else
    _ = try context.fetch(Note.all.limit(3, offset: 2))
  #endif
}
