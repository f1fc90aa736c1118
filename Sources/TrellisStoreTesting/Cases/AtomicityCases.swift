import TrellisModel
import TrellisStorage

enum AtomicityCases {
  static let all = [
    ConformanceCase("a save that fails at its end has changed nothing, and the next save works") { bench in
      let world = try World(bench)
      let before = try world.image(bench)
      for (name, breaking) in try world.failures(bench) {
        bench.expectError(nil) { try world.saveEverything(bench, and: breaking) }
        bench.expect(try world.image(bench) == before, "\(name): something was written")
      }
      try world.saveEverything(bench, and: nil)
      bench.expect(try world.image(bench) != before, "nothing was written")
    },
    ConformanceCase("after a failed save the old values of indexed properties are found, and the new are not") {
      bench in
      let tag = try bench.inserted("Tag", [["name": .text("old")]])[0]
      tag["name"] = .text("new")
      let book = try bench.new("Book", ["title": .text("b"), "author": .integer(777)])
      bench.expectError(.danglingReference) { try bench.save(insert: [book], update: [(tag, ["name"])]) }
      try bench.expect("Tag", bench.compare("Tag", "name", .equal, .text("old"), .text), matches: [tag])
      try bench.expect("Tag", bench.compare("Tag", "name", .equal, .text("new"), .text), matches: [])
    },
  ]
}

/// Rows of several entities, and a save that changes all of them.
private struct World {
  let author: Record
  let books: [Record]
  let tags: [Record]

  init(_ bench: Bench) throws {
    author = try bench.inserted("Author", [["name": .text("a"), "email": .text("x")]])[0]
    books = try bench.books(author, places: [1, 2, 3])
    tags = try bench.inserted("Tag", [["name": .text("1")], ["name": .text("2")]])
    try bench.savePairs(bench.table("Book", "tags"), add: [bench.pair("Book", "tags", books[0], tags[0])])
  }

  /// New records that must fail. They are last in the request, so that everything else is written before.
  func failures(_ bench: Bench) throws -> [(String, Record)] {
    [
      ("a dangling reference", try bench.new("Book", ["title": .text("x"), "author": .integer(777)])),
      ("a unique key that is taken", try bench.new("Author", ["name": .text("b"), "email": .text("x")])),
      ("a null that is not allowed", try with(bench.new("Tag")) { $0["name"] = .null }),
    ]
  }

  func saveEverything(_ bench: Bench, and breaking: Record?) throws {
    let update = books[0]
    update["title"] = .text("changed")
    let new = try bench.new("Tag", ["name": .text("3")])
    try bench.save(insert: [new] + (breaking.map { [$0] } ?? []), update: [(update, ["title"])], delete: [books[2]]) {
      request in
      var pairs = SaveRequest.Pairs(table: try bench.table("Book", "tags"))
      pairs.added = [try bench.pair("Book", "tags", books[1], new)]
      pairs.removed = [try bench.pair("Book", "tags", books[0], tags[0])]
      request.pairs = [pairs]
      let order = try bench.orderColumn(update)
      request.places = [
        SaveRequest.Places(entity: update.entity.index, column: order, keys: [books[1].storedKey], places: [99])
      ]
    }
  }

  /// All rows of this world in the store.
  func image(_ bench: Bench) throws -> [[RowImage]] {
    try ["Author", "Book", "Tag"].map { try bench.rows($0) }
      + [
        books.map { book in
          RowImage(
            Record(book.entity, key: 0, values: try bench.members("Book", "tags", of: book).map { .integer($0) }))
        }
      ]
  }
}

private func with(_ record: Record, _ change: (Record) -> Void) -> Record {
  change(record)
  return record
}
