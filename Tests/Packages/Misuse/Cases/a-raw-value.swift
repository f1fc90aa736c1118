// expect: compare with a case: $0.emotion == .happy
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.kind == .draft })
  #else
    _ = try context.fetch(Note.where { $0.kind == "draft" })
  #endif
}
