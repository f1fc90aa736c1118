// expect: for text that comes at run time write PredicateFormat(verbatim: text)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ text: String) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where(PredicateFormat(verbatim: text)))
  #else
    _ = try context.fetch(Note.where(text))
  #endif
}
