// expect: value of type 'Note.Columns' has no member 'txet'
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  _ = try context.fetch(Note.where { $0.txet == "a" })
}
