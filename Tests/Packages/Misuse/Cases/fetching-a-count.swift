// expect: write count(request)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.count(Note.all)
  #else
    _ = try context.fetchCount(Note.all)
  #endif
}
