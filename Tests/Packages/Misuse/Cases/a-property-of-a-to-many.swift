// expect: value of type 'ToManyPath<Page.Columns>' has no member 'size'
import MisuseModel
import Trellis

func misuse(_ context: ManagedObjectContext) throws {
  _ = try context.fetch(Note.where { $0.pages.size > 3 })
}
