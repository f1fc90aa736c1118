// expect: write remainder(dividingBy:)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.stars.remainder(dividingBy: 2) == 0 })
  #else
    _ = try context.fetch(Note.where { $0.stars % 2 == 0 })
  #endif
}
