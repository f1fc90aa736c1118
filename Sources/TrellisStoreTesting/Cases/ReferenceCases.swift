import TrellisModel
import TrellisStorage

enum ReferenceCases {
  static let all = [
    ConformanceCase("a reference to a row that is not there is refused") { bench in
      let book = try bench.new("Book", ["title": .text("b"), "author": .integer(777)])
      bench.expectError(.danglingReference) { try bench.save(insert: [book]) }
      book["author"] = .null
      try bench.save(insert: [book])
      book["author"] = .integer(777)
      bench.expectError(.danglingReference) { try bench.save(update: [(book, ["author"])]) }
    },
    ConformanceCase("rows of one save may refer to each other in any order, in circles too") { bench in
      let author = try bench.new("Author", ["name": .text("a")])
      let books = [try bench.new("Book", ["title": .text("1")]), try bench.new("Book", ["title": .text("2")])]
      books[0]["author"] = .integer(author.storedKey)
      books[0]["sequel"] = .integer(books[1].storedKey)
      books[1]["sequel"] = .integer(books[0].storedKey)
      try bench.save(insert: books + [author])
      try bench.expectRows("Book", books)
    },
    ConformanceCase("a row that is still referred to cannot go, unless the reference goes too") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let books = try bench.inserted(
        "Book", (0..<2).map { ["title": .text("\($0)"), "author": .integer(author.storedKey)] })
      bench.expectError(.danglingReference) { try bench.save(delete: [author]) }
      bench.expectError(.danglingReference) { try bench.save(delete: [author, books[0]]) }
      books[1]["author"] = .null
      try bench.save(update: [(books[1], ["author"])], delete: [author, books[0]])
      try bench.expectRows("Author", [])
      try bench.expectRows("Book", [books[1]])
    },
    ConformanceCase("a reference under the rule of no action keeps its key, and its path is nil") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let shelf = try bench.inserted("Shelf", [["label": .text("s"), "keeper": .integer(author.storedKey)]])[0]
      try bench.save(delete: [author])
      try bench.expectRows("Shelf", [shelf])
      try bench.expect("Shelf", bench.compare("Shelf", "keeper.name", .equal, .null, .text), matches: [shelf])
    },
    ConformanceCase("a reference that leads nowhere is nil in conditions, sorts, values and changes of many rows") {
      bench in
      let authors = try bench.inserted("Author", [["name": .text("gone")], ["name": .text("stays")]])
      let shelves = try bench.inserted(
        "Shelf",
        [
          ["label": .text("a"), "keeper": .integer(authors[1].storedKey)],
          ["label": .text("b"), "keeper": .integer(authors[0].storedKey)], ["label": .text("c")],
        ])
      try bench.save(delete: [authors[0]])
      let (gone, stays) = (StoredValue.integer(authors[0].storedKey), StoredValue.integer(authors[1].storedKey))
      let keeper = try bench.path("Shelf", "keeper")
      let expected: [(QueryPredicate, [Int])] = [
        (try bench.compare("Shelf", "keeper", .equal, .null, .integer), [1, 2]),
        (try bench.compare("Shelf", "keeper", .notEqual, .null, .integer), [0]),
        (try bench.compare("Shelf", "keeper", .equal, gone, .integer), []),
        (try bench.compare("Shelf", "keeper", .notEqual, gone, .integer), [0, 1, 2]),
        (.isIn(.path(keeper), [gone], .integer), []), (.isIn(.path(keeper), [.null, gone], .integer), [1, 2]),
        (.isIn(.path(keeper), [stays, gone], .integer), [0]),
      ]
      for (predicate, matches) in expected {
        try bench.expect("Shelf", predicate, matches: matches.map { shelves[$0] })
        try bench.expect(
          "Shelf", .not(predicate), matches: [0, 1, 2].filter { !matches.contains($0) }.map { shelves[$0] })
      }
      let sort = [try bench.sort("Shelf", "keeper", .integer), try bench.sort("Shelf", "label", .text)]
      let sorted = try bench.request("Shelf", sort: sort)
      bench.expect(try bench.keys(sorted), is: [1, 2, 0].map { shelves[$0].storedKey })
      bench.expect(
        try bench.values(sorted, [ProjectedValue(keeper, kind: .integer)]), is: [[.null], [.null], [stays]])
      let update = BatchUpdate(
        request: try bench.request("Shelf", bench.compare("Shelf", "keeper", .equal, .null, .integer)),
        assignments: [
          BatchUpdate.Assignment(property: try bench.relationship("Shelf", "label").property, value: .value(.text("x")))
        ])
      bench.expect(try bench.connection.updateAll(update, in: bench.model).found, is: 2)
      try bench.expect(
        "Shelf", bench.compare("Shelf", "label", .equal, .text("x"), .text), matches: [shelves[1], shelves[2]])
    },
    ConformanceCase("cleared references become null in every row, and keep the version") { bench in
      let target = try bench.inserted("Book", [["title": .text("target")]])[0]
      let holders = try bench.inserted(
        "Book", (0..<3).map { ["title": .text("\($0)"), "sequel": .integer(target.storedKey)] })
      try bench.save(delete: [target]) { request in
        request.clearedReferences = [
          SaveRequest.ClearedReferences(
            relationship: try bench.relationship("Book", "sequel"), targets: [target.storedKey])
        ]
      }
      for holder in holders { holder["sequel"] = .null }
      try bench.expectRows("Book", holders)
    },
  ]
}
