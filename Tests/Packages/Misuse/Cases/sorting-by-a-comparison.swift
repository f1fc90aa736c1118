// expect: expects 1 argument, but 2 were used in closure body
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.all.sorted { $0.stars })
  #else
    _ = try context.fetch(Note.all.sorted { $0.stars < $1.stars })
  #endif
}
