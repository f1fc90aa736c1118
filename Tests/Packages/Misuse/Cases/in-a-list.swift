// expect: write isIn([a, b])
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.text.isIn(["a"]) })
  #else
    _ = try context.fetch(Note.where { $0.text.in(["a"]) })
  #endif
}
