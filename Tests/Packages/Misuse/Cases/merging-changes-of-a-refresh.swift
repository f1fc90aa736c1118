// expect: write refresh(object), or refresh(object, discardingChanges: true)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ note: Note) throws {
  #if REPAIRED
    try context.refresh(note, discardingChanges: true)
  #else
    context.refresh(note, mergeChanges: false)
  #endif
}
