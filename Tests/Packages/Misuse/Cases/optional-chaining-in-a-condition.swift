// expect: cannot use optional chaining on non-optional value of type 'ToOnePath<Note.Columns>'
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Page.where { $0.note.text == "a" })
  #else
    _ = try context.fetch(Page.where { $0.note?.text == "a" })
  #endif
}
