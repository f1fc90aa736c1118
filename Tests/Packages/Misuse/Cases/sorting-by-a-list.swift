// expect: conform to 'SortableAttributeValue'
import MisuseModel
import Trellis

private func misuse(_ context: ManagedObjectContext) throws {
  #if REPAIRED
    _ = try context.fetch(Note.all.sorted { $0.text.descending })
  #else
    _ = try context.fetch(Note.all.sorted { $0.words.descending })
  #endif
}
