// expect: write length: $0.content.length > 3
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.text.length > 3 })
  #else
    _ = try context.fetch(Note.where { $0.text.count > 3 })
  #endif
}
