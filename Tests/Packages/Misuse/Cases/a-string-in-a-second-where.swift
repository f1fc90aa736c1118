// expect: for text that comes at run time write PredicateFormat(verbatim: text)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ text: String) throws {
  #if REPAIRED
    _ = try context.fetch(Note.all.where(PredicateFormat(verbatim: text), 3))
  #else
    _ = try context.fetch(Note.all.where(text, 3))
  #endif
}
