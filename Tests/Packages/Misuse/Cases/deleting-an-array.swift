// expect: write for object in objects { try context.delete(object) }
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ notes: [Note]) throws {
  #if REPAIRED
    for note in notes { try context.delete(note) }
  #else
    try context.delete(notes)
  #endif
}
