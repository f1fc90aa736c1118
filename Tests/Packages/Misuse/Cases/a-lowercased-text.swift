// expect: cannot call value of non-function type 'ComputedValue<String>'
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.text.lowercased == "a" })
  #else
    _ = try context.fetch(Note.where { $0.text.lowercased() == "a" })
  #endif
}
