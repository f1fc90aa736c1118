// expect: has no dynamic member 'txet'
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  _ = try context.fetch(Page.where { $0.note.txet == "a" })
}
