// expect: for text that comes at run time write PredicateFormat(verbatim: text)
import MisuseModel
import Trellis

func misuse(_ context: ManagedObjectContext, _ text: String) throws {
  _ = try context.fetch(Note.all.where(text, 3))
}
