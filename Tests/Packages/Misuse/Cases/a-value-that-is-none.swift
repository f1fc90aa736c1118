// expect: conform to 'ValueToken'
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  _ = try context.values(of: Note.all) { ($0.text, $0.pages) }
}
