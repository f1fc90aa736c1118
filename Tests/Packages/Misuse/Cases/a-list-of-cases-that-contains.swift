// expect: write isIn after the attribute: $0.number.isIn([1, 2])
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.kind.isIn([.draft, .sent]) && $0.stars > 3 })
  #else
    _ = try context.fetch(Note.where { [Kind.draft, .sent].contains($0.kind) && $0.stars > 3 })
  #endif
}
