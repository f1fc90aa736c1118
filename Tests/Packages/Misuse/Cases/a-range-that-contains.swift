// expect: write isIn after the attribute: $0.number.isIn(1...3)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.stars.isIn(1...3) })
  #else
    _ = try context.fetch(Note.where { (1...3).contains($0.stars) })
  #endif
}
