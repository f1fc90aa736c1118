// expect: candidate expects value of type 'PredicateFormat' for parameter #1 (got 'String')
import MisuseModel
import Trellis

func misuse(_ context: ManagedObjectContext, _ text: String) throws {
  _ = try context.fetch(Note.where(text))
}
