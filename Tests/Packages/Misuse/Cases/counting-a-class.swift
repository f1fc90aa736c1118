// expect: count takes a request
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    print(try context.count(Note.all))
  #else
    print(try context.count(Note.self))
  #endif
}
