// expect: write contains(text, .caseInsensitive)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.memo.contains("a", .caseInsensitive) })
  #else
    _ = try context.fetch(Note.where { $0.memo.localizedCaseInsensitiveContains("a") })
  #endif
}
