// expect: write $0.isPaid == false
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.isSent == false })
  #else
    _ = try context.fetch(Note.where { !$0.isSent })
  #endif
}
