// expect: write contains(text, [.caseInsensitive, .diacriticInsensitive])
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.text.contains("a", [.caseInsensitive, .diacriticInsensitive]) })
  #else
    _ = try context.fetch(Note.where { $0.text.localizedStandardContains("a") })
  #endif
}
