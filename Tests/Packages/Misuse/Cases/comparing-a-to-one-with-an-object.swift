// expect: ask with is(_:), as in $0.author.is(author)
import MisuseModel
import Trellis

func misuse(_ context: ManagedObjectContext, _ note: Note) throws {
  _ = try context.fetch(Page.where { $0.note == note })
}
