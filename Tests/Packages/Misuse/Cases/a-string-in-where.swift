// expect: no exact matches in call to static method 'where'
import MisuseModel
import Trellis

func misuse(_ context: ManagedObjectContext, _ text: String) throws {
  _ = try context.fetch(Note.where(text))
}
