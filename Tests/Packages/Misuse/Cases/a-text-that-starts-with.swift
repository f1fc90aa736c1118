// expect: write hasPrefix(text)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.text.hasPrefix("a") })
  #else
    _ = try context.fetch(Note.where { $0.text.starts(with: "a") })
  #endif
}
