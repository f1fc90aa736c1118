// expect: conform to 'SortableAttributeValue'
import MisuseModel
import Trellis

func misuse(_ context: ManagedObjectContext) throws {
  _ = try context.fetch(Note.all.sorted { $0.words.descending })
}
