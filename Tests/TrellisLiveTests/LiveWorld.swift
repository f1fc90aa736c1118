import Foundation
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisRuntime

/// A list that an observer keeps by taking every step it is told, and what it is compared with.
final class Follower<Columns: EntityColumns> {
  let request: FetchRequest<Columns>
  let live: LiveResults<Columns>
  private var listener: LiveListener
  private(set) var ids: [ObjectID<Columns.Object>]
  private(set) var steps = 0

  init(_ request: FetchRequest<Columns>, _ context: ManagedObjectContext) throws {
    self.request = request
    live = try context.live(request)
    listener = LiveListener()
    live.core.add(listener)
    ids = live.ids
  }

  func follow() {
    guard let change: LiveChange<Columns.Object> = listener.take(live.core) else { return }
    steps += change.steps.count
    for step in change.steps { ids.apply(step) { $0 } }
  }

  /// Compares with the store's own answer.
  func check(_ other: ManagedObjectContext) throws -> Bool {
    follow()
    let fresh = try other.ids(of: request.storedOnly())
    return live.ids == fresh && ids == fresh
  }
}

/// Changes at random, by a seed.
struct RandomLibrary {
  var random: SeededGenerator
  let context: ManagedObjectContext

  init(seed: UInt64, _ context: ManagedObjectContext) {
    random = SeededGenerator(seed: seed)
    self.context = context
  }

  mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  /// Makes a few changes and saves them.
  mutating func saveSomething(books: Int = 60) throws {
    for _ in 0...number(3) { try change(books) }
    try context.save()
  }

  private mutating func pick<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Columns.Object? {
    let count = try context.count(request)
    return count == 0 ? nil : try context.first(request.offset(number(count)))
  }

  private mutating func change(_ books: Int) throws {
    let wanted = try context.count(Book.all) > books ? 12 : 8
    switch number(16) {
    case 0...2: insertBook()
    case 3...4: try pick(Book.all)?.pages = Int64(number(20))
    case 5: try pick(Book.all)?.genre = [.novel, .poems, .travel][number(3)]
    case 6: try pick(Book.all)?.shelf = pick(Shelf.all)
    case 7: try pick(Shelf.all)?.height = Int64(number(4))
    case 8...wanted: try pick(Book.all).map { try context.delete($0) }
    case 13: if let book = try pick(Book.all), let reader = try pick(Reader.all) { reader.books.append(book) }
    case 14: if let reader = try pick(Reader.all) { reader.favourite = try pick(Book.all) }
    default: try changeFrame()
    }
  }

  private mutating func insertBook() {
    let title = "book \(number(30))"
    let book = number(4) == 0 ? Comic(in: context, title: title) : Book(in: context, title: title)
    book.pages = Int64(number(20))
    book.rating = number(3) == 0 ? nil : Double(number(5))
  }

  private mutating func changeFrame() throws {
    switch number(4) {
    case 0: try insertOrDelete(Shelf.all) { [context] in Shelf(in: context, name: "shelf", height: Int64($0)) }
    case 1: try insertOrDelete(Reader.all) { [context] in Reader(in: context, name: "reader \($0)") }
    case 2: if number(4) == 0, let shelf = try pick(Shelf.all) { try context.delete(shelf) }
    default: try pick(Book.all)?.rating = number(3) == 0 ? nil : Double(number(5))
    }
  }

  /// A long run must not be about ever more objects.
  private mutating func insertOrDelete<Columns: EntityColumns>(
    _ all: FetchRequest<Columns>, _ insert: (Int) -> Columns.Object
  ) throws {
    if try context.count(all) < 12 {
      _ = insert(number(9))
    } else {
      try pick(all).map { try context.delete($0) }
    }
  }
}
