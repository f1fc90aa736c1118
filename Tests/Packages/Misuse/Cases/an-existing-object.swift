// expect: write object(with: id), which is nil if there is none
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ id: ObjectID<Note>) throws {
  #if REPAIRED
    _ = try context.object(with: id)
  #else
    _ = try context.existingObject(with: id)
  #endif
}
