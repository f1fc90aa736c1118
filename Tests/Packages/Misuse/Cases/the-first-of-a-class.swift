// expect: first takes a request
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.first(Note.all)
  #else
    _ = try context.first(Note.self)
  #endif
}
