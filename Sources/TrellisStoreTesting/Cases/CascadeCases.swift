import TrellisModel
import TrellisStorage

/// Cascades that the store performs by itself.
enum CascadeCases {
  static let all = [
    ConformanceCase("members go with their owner, level by level, and their keys are told") { bench in
      let authors = try bench.inserted("Author", [["name": .text("a")], ["name": .text("b")]])
      let shelf = try bench.inserted("Shelf", [["label": .text("s")]])[0]
      let books = try bench.books(3, of: authors[0])
      let others = try bench.books(1, of: authors[1])
      let tag = try bench.inserted("Tag", [["name": .text("t")]])[0]
      try bench.savePairs(
        bench.table("Book", "tags"), add: (books + others).map { try bench.pair("Book", "tags", $0, tag) })
      try bench.savePairs(
        bench.table("Shelf", "contents"), add: books.map { try bench.pair("Shelf", "contents", shelf, $0) })
      let outcome = try bench.delete(authors[0])
      bench.expect(outcome.cascaded.sorted(), is: books.map(\.storedKey))
      try bench.expectRows("Author", [authors[1]])
      try bench.expectRows("Book", others)
      try bench.expectRows("Tag", [tag])
      bench.expect(try bench.members("Tag", "books", of: tag), is: others.map(\.storedKey))
      bench.expect(try bench.members("Shelf", "contents", of: shelf), is: [])
    },
    ConformanceCase("members of members go, also within one entity and in circles") { bench in
      let roots = try bench.inserted("Node", [["name": .text("root")], ["name": .text("other")]])
      let children = try bench.nodes(3, below: roots[0])
      let grandchildren = try children.flatMap { try bench.nodes(2, below: $0) }
      let leaf = try bench.inserted("Leaf", [["node": .integer(grandchildren[5].storedKey)]])[0]
      let spared = try bench.nodes(1, below: roots[1])
      roots[0]["parent"] = .integer(grandchildren[0].storedKey)
      try bench.save(update: [(roots[0], ["parent"])])
      let outcome = try bench.delete(roots[0])
      bench.expect(outcome.cascaded.sorted(), is: (children + grandchildren + [leaf]).map(\.storedKey).sorted())
      try bench.expectRows("Node", [roots[1]] + spared)
      try bench.expectRows("Leaf", [])
    },
    ConformanceCase("one-way references to what a cascade takes along become nil") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let books = try bench.books(2, of: author)
      let holder = try bench.inserted("Book", [["title": .text("h"), "sequel": .integer(books[1].storedKey)]])[0]
      _ = try bench.delete(author)
      holder["sequel"] = .null
      try bench.expectRows("Book", [holder])
    },
    ConformanceCase("rows that the save itself keeps, changes or deletes are not part of the cascade") { bench in
      let authors = try bench.inserted("Author", [["name": .text("a")], ["name": .text("b")]])
      let books = try bench.books(3, of: authors[0])
      books[0]["author"] = .integer(authors[1].storedKey)
      let outcome = try bench.delete(authors[0], update: [(books[0], ["author"])], delete: [books[1]]) {
        $0.keptFromCascades = [books[0].storedKey]
      }
      bench.expect(outcome.cascaded, is: [books[2].storedKey])
      try bench.expectRows("Book", [books[0]])
    },
    ConformanceCase("members that another connection has added go, too, and a key that one held is free") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let book = try bench.new(
        "Book", ["title": .text("t"), "edition": .integer(1), "author": .integer(author.storedKey)])
      try bench.save(insert: [book], on: bench.store.connect())
      let new = try bench.new("Book", ["title": .text("t"), "edition": .integer(1)])
      _ = try bench.delete(author, insert: [new])
      try bench.expectRows("Book", [new])
    },
    ConformanceCase("a cascade that fails with its save has deleted no row") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let books = try bench.books(2, of: author)
      author.storedVersion = 7
      bench.expectConflict([author]) { _ = try bench.delete(author) }
      try bench.expectRows("Book", books)
      author.storedVersion = 1
      _ = try bench.delete(author)
      try bench.expectRows("Book", [])
    },
  ]
}

extension Bench {
  /// Deletes an author or a node, with cascades to rows that are not loaded.
  fileprivate func delete(
    _ owner: Record, insert: [Record] = [], update: [(Record, [String])] = [], delete: [Record] = [],
    more: (SaveRequest) -> Void = { _ in }
  ) throws -> SaveOutcome {
    let names = owner.entity.name == "Author" ? ["books"] : ["children", "leaves"]
    return try save(insert: insert, update: update, delete: delete + [owner]) { request in
      for name in names {
        request.cascades.append(
          SaveRequest.Cascades(relationship: try relationship(owner.entity.name, name), owners: [owner.storedKey]))
      }
      more(request)
    }
  }

  fileprivate func nodes(_ count: Int, below parent: Record) throws -> [Record] {
    try inserted("Node", (0..<count).map { ["name": .text("\($0)"), "parent": .integer(parent.storedKey)] })
  }
}
