// expect: write deleteAll(request), which deletes in the store at once
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    try context.deleteAll(Note.where { $0.stars > 3 })
  #else
    try context.delete(Note.where { $0.stars > 3 })
  #endif
}
