// expect: write where { … }
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.stars > 3 })
  #else
    _ = try context.fetch(Note.filter { $0.stars > 3 })
  #endif
}
