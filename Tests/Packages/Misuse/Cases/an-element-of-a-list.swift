// expect: conditions on a list are written as a format: where("words CONTAINS %@", word)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where("words CONTAINS %@", "a"))
  #else
    _ = try context.fetch(Note.where { $0.words.contains("a") })
  #endif
}
