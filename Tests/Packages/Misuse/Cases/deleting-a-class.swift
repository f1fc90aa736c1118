// expect: deleteAll takes a request
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    try context.deleteAll(Note.all)
  #else
    try context.deleteAll(Note.self)
  #endif
}
