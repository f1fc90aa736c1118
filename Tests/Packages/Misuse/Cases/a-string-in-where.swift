// expect: cannot convert value of type 'String' to expected argument type '(Note.Columns) -> QueryCondition'
import MisuseModel
import Trellis

func misuse(_ context: ManagedObjectContext, _ text: String) throws {
  _ = try context.fetch(Note.where(text))
}
