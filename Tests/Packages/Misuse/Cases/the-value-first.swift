// expect: write the attribute first: $0.number > 3
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.stars > 3 })
  #else
    _ = try context.fetch(Note.where { 3 < $0.stars })
  #endif
}
