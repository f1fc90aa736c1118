// expect: count takes a request
import MisuseModel
import Trellis

func misuse(_ context: ManagedObjectContext) throws {
  print(try context.count(Note.self))
}
