// expect: compare with the empty text: $0.content == ""
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.text == "" })
  #else
    _ = try context.fetch(Note.where { $0.text.isEmpty })
  #endif
}
