// expect: save its context: try context.save()
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ note: Note) throws {
  #if REPAIRED
    try context.save()
  #else
    note.save()
  #endif
}
