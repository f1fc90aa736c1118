import TrellisModel
import TrellisStorage

enum ExpressionCases {
  static let all = [
    ConformanceCase("a place leads to one member of an ordered to-many, and to nil where there is none") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")], ["name": .text("none")]])
      let books = try bench.inserted(
        "Book", ["x", "y", "z"].map { ["title": .text($0), "author": .integer(author[0].storedKey)] })
      let order = try bench.placeColumn("Book", "author")
      for (book, place) in zip(books, [20, 30, 10]) { book.values[order] = .integer(Int64(place)) }
      try bench.save(update: books.map { ($0, ["author"]) })
      let tags = try bench.inserted("Tag", ["t", "u"].map { ["name": .text($0)] })
      try bench.savePairs(
        bench.table("Book", "tags"),
        add: [
          bench.pair("Book", "tags", books[0], tags[0], place: 2, inversePlace: 1),
          bench.pair("Book", "tags", books[0], tags[1], place: 1, inversePlace: 1),
          bench.pair("Book", "tags", books[1], tags[1], place: 1, inversePlace: 0),
        ])
      func holds(
        _ entity: String, _ names: String, _ place: MemberPlace, _ member: String, _ end: String, _ value: StoredValue
      ) throws -> QueryPredicate {
        let inner = Operand.path(try bench.path(member, end, variable: 1))
        let operand = Operand.computed(.member(place, try bench.path(entity, names), variable: 1, inner))
        return .comparison(Comparison(operand, .equal, .value(value), kind: end.isEmpty ? .integer : .text))
      }
      for (place, title) in [(MemberPlace.first, "z"), (.last, "y"), (.at(0), "z"), (.at(1), "x"), (.at(2), "y")] {
        try bench.expect(
          "Author", holds("Author", "books", place, "Book", "title", .text(title)), matches: [author[0]])
      }
      for place in [MemberPlace.at(3), .at(-1)] {
        try bench.expect("Author", holds("Author", "books", place, "Book", "title", .null), matches: author)
      }
      try bench.expect("Author", holds("Author", "books", .first, "Book", "title", .null), matches: [author[1]])
      try bench.expect("Book", holds("Book", "tags", .first, "Tag", "name", .text("u")), matches: [books[0], books[1]])
      try bench.expect("Book", holds("Book", "tags", .last, "Tag", "name", .text("t")), matches: [books[0]])
      try bench.expect(
        "Tag", holds("Tag", "books", .first, "Book", "", .integer(books[1].storedKey)), matches: [tags[1]])
    },
    ConformanceCase("the text of zero has no sign, as not every store keeps it") { bench in
      let authors = try bench.inserted(
        "Author", [-0.0, 0, -0.5].map { ["name": .text("a"), "rating": .real($0)] })
      let text = Operand.computed(.function(.text, .path(try bench.path("Author", "rating"))))
      let zero = QueryPredicate.comparison(Comparison(text, .equal, .value(.text("0.0")), kind: .text))
      try bench.expect("Author", zero, matches: Array(authors.prefix(2)))
    },
    ConformanceCase("an object is of its own entity, and of nothing where there is no object") { bench in
      let owner = try bench.inserted("Author", [["name": .text("a")]])[0]
      let dog = try bench.inserted("Dog", [["name": .text("d"), "owner": .integer(owner.storedKey)]])[0]
      let puppy = try bench.inserted("Puppy", [["name": .text("p")]])[0]
      let cat = try bench.inserted("Cat", [["name": .text("c")]])[0]
      func entity(_ names: String, _ values: StoredValue...) throws -> QueryPredicate {
        .isIn(.entity(try bench.path("Animal", names)), values, .text)
      }
      try bench.expect("Animal", entity("", .text("Dog")), matches: [dog])
      try bench.expect("Animal", .not(entity("", .text("Dog"), .text("Cat"))), matches: [puppy])
      try bench.expect("Animal", entity("", .text("Animal")), matches: [])
      try bench.expect("Animal", entity("owner", .text("Author")), matches: [dog])
      try bench.expect("Animal", entity("owner", .null), matches: [puppy, cat])
      let pet = try bench.path("Author", "pets")
      let isCat = Comparison(.entity(PropertyPath(variable: 1)), .equal, .value(.text("Dog")), kind: .text)
      try bench.expect("Author", .quantified(.any, pet, variable: 1, .comparison(isCat)), matches: [owner])
    },
    ConformanceCase("a choice, the best of a list, bits and functions of numbers are as in memory") { bench in
      let books = try bench.inserted(
        "Book",
        [
          ["title": .text("1"), "pages": .integer(6), "edition": .integer(3)],
          ["title": .text("2"), "pages": .integer(-7)], ["title": .text("3"), "edition": .integer(9)],
        ])
      let pages = Operand.path(try bench.path("Book", "pages"))
      let edition = Operand.path(try bench.path("Book", "edition"))
      func bits(_ sign: ArithmeticOperator, _ number: Int64) -> Computation {
        .arithmetic(sign, pages, .value(.integer(number)))
      }
      let isPositive = QueryPredicate.comparison(Comparison(pages, .greater, .value(.integer(0)), kind: .integer))
      let expected: [(Computation, StoredValue, ValueKind, [Int])] = [
        (.conditional(isPositive, pages, edition), .integer(6), .integer, [0]),
        (.conditional(isPositive, pages, edition), .null, .integer, [1]),
        (.conditional(isPositive, pages, edition), .integer(9), .integer, [2]),
        (.list(.maximum, [pages, edition, .value(.integer(4))], .integer), .integer(4), .integer, [1]),
        (.list(.sum, [pages, edition], .integer), .integer(9), .integer, [0, 2]),
        (.list(.average, [pages, edition], .integer), .real(4.5), .real, [0]),
        (.list(.minimum, [], .integer), .null, .integer, [0, 1, 2]),
        (bits(.bitAnd, 3), .integer(2), .integer, [0]), (bits(.bitOr, 1), .integer(7), .integer, [0]),
        (bits(.bitXor, -1), .integer(6), .integer, [1]), (bits(.shiftLeft, 63), .integer(.min), .integer, [1]),
        (bits(.shiftLeft, 64), .integer(0), .integer, [0, 1]), (bits(.shiftRight, 70), .integer(-1), .integer, [1]),
        (bits(.shiftRight, -1), .null, .integer, [0, 1, 2]), (bits(.remainder, 4), .integer(-3), .integer, [1]),
        (bits(.remainder, 0), .null, .integer, [0, 1, 2]), (.function(.complement, pages), .integer(6), .integer, [1]),
        (.function(.squareRoot, edition), .real(3), .real, [2]),
        (.function(.naturalLogarithm, pages), .null, .real, [1, 2]),
        (.function(.text, pages), .text("-7"), .text, [1]),
      ]
      for (computation, value, kind, matches) in expected {
        let equal = QueryPredicate.comparison(Comparison(.computed(computation), .equal, .value(value), kind: kind))
        try bench.expect("Book", equal, matches: matches.map { books[$0] })
      }
    },
  ]
}

extension Bench {
  /// The column with the position in the other end's ordered to-many.
  fileprivate func placeColumn(_ entity: String, _ name: String) throws -> Int {
    guard case .column(_, let order?) = try property(self.entity(entity), name).relationship?.home else {
      throw BenchError("\(entity).\(name) has no place")
    }
    return order
  }
}
