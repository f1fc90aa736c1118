// expect: ask the context: try context.first(request)
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.first(Note.where { $0.stars > 3 })
  #else
    _ = try Note.where { $0.stars > 3 }.fetchOne(context)
  #endif
}
