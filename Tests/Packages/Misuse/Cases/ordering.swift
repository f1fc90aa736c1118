// expect: write sorted { … }
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.all.sorted { $0.stars })
  #else
    _ = try context.fetch(Note.all.order { $0.stars })
  #endif
}
