// expect: cannot be applied to operands of type 'AttributePath<Int64>' and 'String'
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  _ = try context.fetch(Note.where { $0.stars == "a" })
}
