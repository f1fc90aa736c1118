// expect: write isIn(low...high)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.stars.isIn(1...3) })
  #else
    _ = try context.fetch(Note.where { $0.stars.between(1, 3) })
  #endif
}
