import TrellisModel
import TrellisStorage

enum PredicateCases {
  static let all = [
    ConformanceCase("nil equals nil, differs from every value, and is not ordered; not turns that round") { bench in
      let books = try bench.inserted("Book", [["title": .text("nil")], ["title": .text("5"), "pages": .integer(5)]])
      let expected: [(ComparisonOperator, StoredValue, [Int])] = [
        (.equal, .null, [0]), (.notEqual, .null, [1]), (.equal, .integer(5), [1]), (.notEqual, .integer(5), [0]),
        (.notEqual, .integer(6), [0, 1]), (.less, .integer(9), [1]), (.lessOrEqual, .null, []), (.greater, .null, []),
        (.greaterOrEqual, .integer(5), [1]),
      ]
      for (relation, value, matches) in expected {
        let predicate = try bench.compare("Book", "pages", relation, value, .integer)
        try bench.expect("Book", predicate, matches: matches.map { books[$0] })
        try bench.expect("Book", .not(predicate), matches: [0, 1].filter { !matches.contains($0) }.map { books[$0] })
      }
    },
    ConformanceCase("two properties are compared, nils included") { bench in
      let books = try bench.inserted(
        "Book",
        [
          ["title": .text("1")], ["title": .text("2"), "pages": .integer(1)],
          ["title": .text("3"), "pages": .integer(1), "edition": .integer(1)],
        ])
      let sides = (Operand.path(try bench.path("Book", "pages")), Operand.path(try bench.path("Book", "edition")))
      let same = QueryPredicate.comparison(Comparison(sides.0, .equal, sides.1, kind: .integer))
      let differs = QueryPredicate.comparison(Comparison(sides.0, .notEqual, sides.1, kind: .integer))
      try bench.expect("Book", same, matches: [books[0], books[2]])
      try bench.expect("Book", differs, matches: [books[1]])
    },
    ConformanceCase("and, or and constants, empty lists included") { bench in
      let tag = try bench.inserted("Tag", [["name": .text("t")]])[0]
      let yes = try bench.compare("Tag", "name", .equal, .text("t"), .text)
      let holding: [QueryPredicate] = [
        .constant(true), .and([]), .and([yes, yes]), .or([.constant(false), yes]), .not(.constant(false)),
        .not(.or([])),
      ]
      for predicate in holding {
        try bench.expect("Tag", predicate, matches: [tag])
        try bench.expect("Tag", .not(predicate), matches: [])
      }
    },
    ConformanceCase("a list matches its values, nil only when it has one, and many values are no trouble") { bench in
      let books = try bench.inserted("Book", [["title": .text("1")], ["title": .text("2"), "pages": .integer(7)]])
      let pages = Operand.path(try bench.path("Book", "pages"))
      try bench.expect("Book", .isIn(pages, [], .integer), matches: [])
      try bench.expect("Book", .not(.isIn(pages, [], .integer)), matches: books)
      try bench.expect("Book", .isIn(pages, [.null], .integer), matches: [books[0]])
      try bench.expect("Book", .not(.isIn(pages, [.integer(7)], .integer)), matches: [books[0]])
      try bench.expect("Book", .isIn(pages, (0..<50_000).map { .integer($0) }, .integer), matches: [books[1]])
      try bench.expect("Book", .isIn(pages, (0..<3).map { .integer($0) } + [.null], .integer), matches: [books[0]])
    },
    ConformanceCase("decimals are equal and ordered as numbers") { bench in
      let books = try bench.inserted("Book", ["10", "9.5", "-1"].map { ["title": .text("t"), "price": .text($0)] })
      try bench.expect("Book", bench.compare("Book", "price", .greater, .text("9.50"), .decimal), matches: [books[0]])
      try bench.expect("Book", bench.compare("Book", "price", .equal, .text("9.50"), .decimal), matches: [books[1]])
      try bench.expect("Book", bench.compare("Book", "price", .less, .text("0"), .decimal), matches: [books[2]])
      let price = Operand.path(try bench.path("Book", "price"))
      try bench.expect("Book", .isIn(price, [.text("10.0")], .decimal), matches: [books[0]])
    },
    ConformanceCase("a path goes through to-ones wherever they lie, and is nil through nil") { bench in
      let authors = try bench.inserted("Author", [["name": .text("a")], ["name": .text("b")]])
      let profile = try bench.inserted("Profile", [["bio": .text("p"), "author": .integer(authors[0].storedKey)]])[0]
      let books = try bench.inserted(
        "Book",
        [
          ["title": .text("1"), "author": .integer(authors[0].storedKey)],
          ["title": .text("2"), "author": .integer(authors[1].storedKey)], ["title": .text("3")],
        ])
      try bench.expect(
        "Book", bench.compare("Book", "author.profile.bio", .equal, .text("p"), .text), matches: [books[0]])
      try bench.expect(
        "Book", bench.compare("Book", "author.profile.bio", .equal, .null, .text), matches: [books[1], books[2]])
      try bench.expect(
        "Book", bench.compare("Book", "author.name", .notEqual, .text("a"), .text), matches: [books[1], books[2]])
      try bench.expect(
        "Author", bench.compare("Author", "profile", .equal, .integer(profile.storedKey), .integer),
        matches: [authors[0]])
      try bench.expect("Author", bench.compare("Author", "profile", .equal, .null, .integer), matches: [authors[1]])
      try bench.expect(
        "Book", bench.compare("Book", "author", .equal, .integer(authors[1].storedKey), .integer), matches: [books[1]])
      try bench.expect(
        "Book", bench.compare("Book", "", .equal, .integer(books[2].storedKey), .integer), matches: [books[2]])
    },
    ConformanceCase("any, all and none look at the members, and at the object around them") { bench in
      let authors = try bench.inserted("Author", [["name": .text("a")], ["name": .text("b")], ["name": .text("none")]])
      try bench.inserted(
        "Book",
        [("a", 0), ("x", 0), ("b", 1)].map { ["title": .text($0.0), "author": .integer(authors[$0.1].storedKey)] })
      let titleIsName = QueryPredicate.comparison(
        Comparison(
          .path(try bench.path("Book", "title", variable: 1)), .equal, .path(try bench.path("Author", "name")),
          kind: .text))
      let books = try bench.path("Author", "books")
      for (quantifier, matches) in [(Quantifier.any, [0, 1]), (.all, [1, 2]), (.none, [2])] {
        try bench.expect(
          "Author", .quantified(quantifier, books, variable: 1, titleIsName), matches: matches.map { authors[$0] })
      }
    },
    ConformanceCase("quantifiers nest, and go along join tables from both ends") { bench in
      let books = try bench.inserted("Book", [["title": .text("1")], ["title": .text("2")]])
      let tags = try bench.inserted("Tag", [["name": .text("x")], ["name": .text("y")]])
      try bench.savePairs(
        bench.table("Book", "tags"),
        add: [bench.pair("Book", "tags", books[0], tags[0]), bench.pair("Book", "tags", books[1], tags[1])])
      let titled = try bench.compare("Book", "title", .equal, .text("2"), .text, variable: 1)
      try bench.expect("Tag", .quantified(.any, bench.path("Tag", "books"), variable: 1, titled), matches: [tags[1]])
      let named = try bench.compare("Tag", "name", .equal, .text("x"), .text, variable: 2)
      let inner = QueryPredicate.quantified(.any, try bench.path("Book", "tags", variable: 1), variable: 2, named)
      try bench.expect("Tag", .quantified(.any, bench.path("Tag", "books"), variable: 1, inner), matches: [tags[0]])
    },
    ConformanceCase("counts of to-manys are compared, 0 through nil") { bench in
      let authors = try bench.inserted("Author", [["name": .text("a")], ["name": .text("b")]])
      let books = try bench.inserted(
        "Book", [["title": .text("1"), "author": .integer(authors[0].storedKey)], ["title": .text("2")]])
      func count(_ entity: String, _ path: String, _ number: Int64) throws -> QueryPredicate {
        .comparison(Comparison(.count(try bench.path(entity, path)), .equal, .value(.integer(number)), kind: .integer))
      }
      try bench.expect("Author", count("Author", "books", 1), matches: [authors[0]])
      try bench.expect("Author", count("Author", "friends", 0), matches: authors)
      try bench.expect("Book", count("Book", "author.books", 0), matches: [books[1]])
    },
    ConformanceCase("a predicate that is nested too deep is an error, not a crash") { bench in
      var deep = QueryPredicate.constant(true)
      for _ in 0..<(QueryPredicate.depthLimit + 10) { deep = .not(deep) }
      let request = try bench.request("Tag", deep)
      bench.expectError(nil) { _ = try bench.connection.count(request) }
    },
  ]
}
