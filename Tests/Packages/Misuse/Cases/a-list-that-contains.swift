// expect: write isIn after the attribute: $0.number.isIn([1, 2])
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.text.isIn(["a", "b"]) })
  #else
    _ = try context.fetch(Note.where { ["a", "b"].contains($0.text) })
  #endif
}
