// expect: value of type 'ToManyPath<Page.Columns>' has no member 'size'
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.where { $0.pages.any { $0.size > 3 } })
  #else
    _ = try context.fetch(Note.where { $0.pages.size > 3 })
  #endif
}
