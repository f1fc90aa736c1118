// expect: ask the context: try context.fetch(request)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.stars > 3 })
  #else
    _ = try Note.where { $0.stars > 3 }.fetchAll(context)
  #endif
}
