// expect: a to-many is never nil; write isEmpty
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.pages.isEmpty })
  #else
    _ = try context.fetch(Note.where { $0.pages == nil })
  #endif
}
