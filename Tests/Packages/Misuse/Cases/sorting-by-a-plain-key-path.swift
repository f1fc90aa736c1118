// expect: write sorted { $0.createdAt }, or sorted { $0.createdAt.descending }
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.all.sorted { $0.stars })
  #else
    _ = try context.fetch(Note.all.sorted(\.stars))
  #endif
}
