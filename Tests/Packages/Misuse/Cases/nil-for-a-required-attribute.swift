// expect: this attribute is not optional, so it is never nil
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  _ = try context.fetch(Note.where { $0.text == nil })
}
