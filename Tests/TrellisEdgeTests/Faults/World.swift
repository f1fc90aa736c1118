import Foundation
import Trellis
import TrellisTestSupport

/// A shelf with two books, a topic and a label, saved, and read again by a context of its own.
final class World {
  let place: Place
  /// The context under test; nil once a test has let it go.
  var context: ManagedObjectContext?
  let shelf: Shelf
  let book: Book
  let topic: Topic
  let label: Label

  init(_ kind: StoreKind) throws {
    place = try Place(kind)
    let maker = place.container.newContext()
    let made = Shelf(in: maker, name: "poetry", rank: 7)
    made.books = [Book(in: maker, title: "one"), Book(in: maker, title: "two")]
    made.topics = [Topic(in: maker, name: "sea")]
    made.label = Label(in: maker, text: "P")
    try maker.save()
    let context = place.container.newContext()
    guard let shelf = try context.first(Shelf.all), let book = try context.first(Book.all),
      let topic = try context.first(Topic.all), let label = try context.first(Label.all)
    else { throw Missing() }
    (self.context, self.shelf, self.book, self.topic, self.label) = (context, shelf, book, topic, label)
  }

  struct Missing: Error {}

  /// Deletes, in another context, what a predicate of this test says.
  func deleteElsewhere<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws {
    let other = place.container.newContext()
    for object in try other.fetch(request) { try other.delete(object) }
    try other.save()
  }

  /// How many of each there are in the store.
  func counts() throws -> [Int] {
    let fresh = place.container.newContext()
    return try [fresh.count(Shelf.all), fresh.count(Book.all), fresh.count(Topic.all), fresh.count(Label.all)]
  }
}
