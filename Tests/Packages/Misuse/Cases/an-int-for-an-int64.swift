// expect: cannot be applied to operands of type 'AttributePath<Int64>' and 'Int'
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext, _ number: Int) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.stars > Int64(number) })
  #else
    _ = try context.fetch(Note.where { $0.stars > number })
  #endif
}
