// expect: delete it in its context: try context.delete(object)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ note: Note) throws {
  #if REPAIRED
    try context.delete(note)
  #else
    note.delete()
  #endif
}
