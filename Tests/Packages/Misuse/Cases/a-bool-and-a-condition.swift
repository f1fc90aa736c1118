// expect: cannot convert value of type 'AttributePath<Bool>' to expected argument type 'QueryCondition'
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.isSent == true && $0.stars > 3 })
  #else
    _ = try context.fetch(Note.where { $0.isSent && $0.stars > 3 })
  #endif
}
