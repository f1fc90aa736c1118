import TrellisModel
import TrellisStorage

/// Groups of rows with aggregates.
enum GroupCases {
  static let all = [
    ConformanceCase("rows with equal keys are one group, null among them, and groups are sorted by key") { bench in
      try bench.inserted(
        "Book",
        [("b", 2, 1), ("a", 2, 2), ("b", nil, 3), ("a", 2, 4), ("\u{E9}", 9, 5), ("e\u{301}", 1, 6)].map {
          ["title": .text($0.0), "pages": $0.1.map { .integer(Int64($0)) } ?? .null, "edition": .integer(Int64($0.2))]
        })
      let pages = try bench.projected("Book", "pages", .integer)
      let titles = try bench.projected("Book", "title", .text)
      bench.expect(
        try bench.groups(
          "Book", by: [pages], [.init(.rows, pages), .init(.count, titles), .init(.distinctCount, titles)]),
        is: [
          [.null, .integer(1), .integer(1), .integer(1)], [.integer(1), .integer(1), .integer(1), .integer(1)],
          [.integer(2), .integer(3), .integer(3), .integer(2)], [.integer(9), .integer(1), .integer(1), .integer(1)],
        ])
      // Texts are their bytes.
      bench.expect(
        try bench.groups(
          "Book", by: [titles, pages], [.init(.maximum, try bench.projected("Book", "edition", .integer))]),
        is: [
          [.text("a"), .integer(2), .integer(4)], [.text("b"), .null, .integer(3)],
          [.text("b"), .integer(2), .integer(1)], [.text("e\u{301}"), .integer(1), .integer(6)],
          [.text("\u{E9}"), .integer(9), .integer(5)],
        ])
    },
    ConformanceCase("without keys there is one group, even of no rows, and with keys there is none then") { bench in
      let edition = try bench.projected("Book", "edition", .integer)
      let price = try bench.projected("Book", "price", .decimal)
      let rating = try bench.projected("Book", "author.rating", .real)
      let all: [GroupAggregate] = [
        .init(.rows, edition), .init(.count, edition), .init(.distinctCount, price), .init(.minimum, price),
        .init(.maximum, rating), .init(.sum, edition), .init(.sum, price), .init(.sum, rating),
        .init(.average, edition), .init(.average, price), .init(.average, rating),
      ]
      let nothing: [StoredValue] = [
        .integer(0), .integer(0), .integer(0), .null, .null, .integer(0), .text("0"), .real(0), .null, .null, .null,
      ]
      bench.expect(try bench.groups("Book", by: [], all), is: [nothing])
      bench.expect(try bench.groups("Book", by: [edition], all), is: [])
      try bench.inserted("Book", [["title": .text("a")]])
      bench.expect(try bench.groups("Book", by: [], all), is: [[.integer(1)] + nothing.dropFirst()])
    },
    ConformanceCase("sums are exact in any order of the rows, and a sum beyond 64 bits is a real") { bench in
      let big = Int64.max
      let books: [(String, Int64, StoredValue)] = [
        ("x", big, .text("99999999999999999999999999999999999999")), ("x", 1, .text("0.00000000000000000001")),
        ("x", -2, .text("1")), ("y", big, .text("0.1")), ("y", big - 1, .text("-0.3")), ("z", .min, .text("-7")),
        ("z", -1, .null),
      ]
      for (title, edition, price) in books {
        try bench.inserted("Book", [["title": .text(title), "edition": .integer(edition), "price": price]])
      }
      let title = try bench.projected("Book", "title", .text)
      let edition = try bench.projected("Book", "edition", .integer)
      let price = try bench.projected("Book", "price", .decimal)
      bench.expect(
        try bench.groups("Book", by: [title], [.init(.sum, edition), .init(.average, edition), .init(.sum, price)]),
        is: [
          [
            .text("x"), .integer(big - 1), .real(Double(big - 1) / 3),
            .text("100000000000000000000000000000000000000"),
          ],
          [.text("y"), .real(0x1p64), .real(0x1p63), .text("-0.2")],
          [.text("z"), .real(-0x1p63), .real(-0x1p62), .text("-7")],
        ])
      let sums = GroupAggregate(.sum, edition)
      // A condition and an order take such a sum for the number that it is.
      let isLarge = Comparison(
        .path(GroupRequest.path(toColumn: 1)), .greaterOrEqual, .value(.integer(big - 1)), kind: .integer)
      let order = SortKey(GroupRequest.path(toColumn: 1), descending: true, kind: .integer)
      bench.expect(
        try bench.groups("Book", by: [title], [sums], having: .comparison(isLarge), sort: [order]).map { $0[0] },
        is: [.text("y"), .text("x")])
    },
    ConformanceCase("reals are added exactly and rounded once, infinities included") { bench in
      let large = Double.greatestFiniteMagnitude
      let numbers: [(String, [Double])] = [
        ("a", [1e16, 3, 1e-9, -1e16, 1]), ("b", [large, large, -large]), ("c", [large, large]), ("d", [.infinity, 1]),
        ("e", [.infinity, -.infinity]), ("f", [1, 0x1p-53, .leastNonzeroMagnitude]),
      ]
      for (name, numbers) in numbers {
        try bench.inserted("Author", numbers.map { ["name": .text(name), "rating": .real($0)] })
      }
      let name = try bench.projected("Author", "name", .text)
      let rating = try bench.projected("Author", "rating", .real)
      let half = 1 + 0x1p-52
      let expected: [[StoredValue]] = [
        [.text("a"), .real(4.000000001), .real(4.000000001 / 5)], [.text("b"), .real(large), .real(large / 3)],
        [.text("c"), .real(.infinity), .real(.infinity)], [.text("d"), .real(.infinity), .real(.infinity)],
        [.text("e"), .null, .null], [.text("f"), .real(half), .real(half / 3)],
      ]
      bench.expect(
        try bench.groups("Author", by: [name], [.init(.sum, rating), .init(.average, rating)]), is: expected)
    },
    ConformanceCase("decimals are numbers in groups: equal ones, the least, the greatest, the average") { bench in
      try bench.inserted(
        "Book",
        [("a", "10"), ("b", "9.5"), ("c", "-3"), ("d", "10"), ("e", nil), ("f", "9.5")].map {
          ["title": .text($0.0), "price": $0.1.map { .text($0) } ?? .null]
        })
      let price = try bench.projected("Book", "price", .decimal)
      bench.expect(
        try bench.groups("Book", by: [price], [.init(.rows, price)]),
        is: [
          [.null, .integer(1)], [.text("-3"), .integer(1)], [.text("9.5"), .integer(2)], [.text("10"), .integer(2)],
        ])
      bench.expect(
        try bench.groups(
          "Book", by: [],
          [.init(.minimum, price), .init(.maximum, price), .init(.distinctCount, price), .init(.average, price)]),
        is: [[.text("-3"), .text("10"), .integer(3), .text("7.2")]])
    },
    ConformanceCase("a condition, an order, a limit and an offset of groups, by aggregates and keys") { bench in
      try bench.inserted(
        "Book",
        [("a", 1), ("a", 5), ("b", 6), ("c", nil), ("c", nil), ("d", 2), ("d", 2), ("d", nil)].enumerated().map {
          ["title": .text($1.0), "pages": $1.1.map { .integer(Int64($0)) } ?? .null, "edition": .integer(Int64($0))]
        })
      let title = try bench.projected("Book", "title", .text)
      let pages = try bench.projected("Book", "pages", .integer)
      let all: [GroupAggregate] = [.init(.rows, title), .init(.sum, pages), .init(.minimum, pages)]
      func column(_ number: Int, _ relation: ComparisonOperator, _ value: StoredValue) -> QueryPredicate {
        .comparison(Comparison(.path(GroupRequest.path(toColumn: number)), relation, .value(value), kind: .integer))
      }
      func names(
        _ condition: QueryPredicate?, _ sort: [(Int, Bool)] = [], limit: Int? = nil, offset: Int = 0
      ) throws -> [StoredValue] {
        let keys = sort.map {
          SortKey(GroupRequest.path(toColumn: $0.0), descending: $0.1, kind: $0.0 == 0 ? .text : .integer)
        }
        return try bench.groups(
          "Book", by: [title], all, having: condition, sort: keys, limit: limit, offset: offset
        ).map { $0[0] }
      }
      bench.expect(try names(column(1, .greater, .integer(1))), is: [.text("a"), .text("c"), .text("d")])
      bench.expect(try names(column(3, .equal, .null)), is: [.text("c")])
      bench.expect(try names(.not(column(3, .greater, .integer(1)))), is: [.text("a"), .text("c")])
      bench.expect(
        try names(.or([column(3, .less, .integer(2)), .and([column(1, .equal, .integer(1)), .constant(true)])])),
        is: [.text("a"), .text("b")])
      bench.expect(try names(nil, [(2, true)]), is: [.text("a"), .text("b"), .text("d"), .text("c")])
      bench.expect(try names(nil, [(3, false)]), is: [.text("c"), .text("a"), .text("d"), .text("b")])
      bench.expect(try names(nil, [(0, true)], limit: 2, offset: 1), is: [.text("c"), .text("b")])
      bench.expect(try names(nil, [(1, false), (0, true)], limit: 3), is: [.text("b"), .text("c"), .text("a")])
      bench.expect(try names(nil, limit: 0), is: [])
      bench.expect(try names(nil, offset: 9), is: [])
      let two = Comparison(
        .path(GroupRequest.path(toColumn: 1)), .less, .path(GroupRequest.path(toColumn: 2)), kind: .integer)
      bench.expect(try names(.comparison(two)), is: [.text("a"), .text("b"), .text("d")])
      // Null equals null, whether it comes from a key or from an aggregate.
      let same = Comparison(
        .path(GroupRequest.path(toColumn: 0)), .equal, .path(GroupRequest.path(toColumn: 1)), kind: .integer)
      bench.expect(
        try bench.groups("Book", by: [pages], [.init(.minimum, pages)], having: .comparison(same)).map { $0[0] },
        is: [.null, .integer(1), .integer(2), .integer(5), .integer(6)])
    },
    ConformanceCase("the rows of groups are those between limit and offset, and keys may be at the ends of paths") {
      bench in
      let authors = try bench.inserted("Author", [["name": .text("z")], ["name": .text("y")]])
      try bench.inserted(
        "Book",
        [(0, 1), (0, 2), (1, 3), (nil, 4), (1, 5)].map { (author: Int?, pages: Int64) in
          [
            "title": .text("\(pages)"), "pages": .integer(pages),
            "author": author.map { .integer(authors[$0].storedKey) } ?? .null,
          ]
        })
      let name = try bench.projected("Book", "author.name", .text)
      let author = try bench.projected("Book", "author", .integer)
      let pages = try bench.projected("Book", "pages", .integer)
      bench.expect(
        try bench.groups("Book", by: [name, author], [.init(.sum, pages)]),
        is: [
          [.null, .null, .integer(4)], [.text("y"), .integer(authors[1].storedKey), .integer(8)],
          [.text("z"), .integer(authors[0].storedKey), .integer(3)],
        ])
      let rows = try bench.request(
        "Book", bench.compare("Book", "pages", .greater, .integer(1), .integer),
        sort: [bench.sort("Book", "pages", .integer, descending: true)], limit: 2, offset: 1)
      bench.expect(
        try bench.groups(rows, by: [name], [.init(.sum, pages)]),
        is: [[.null, .integer(4)], [.text("y"), .integer(3)]])
      bench.expect(
        try bench.groups(rows, by: [], [.init(.sum, pages), .init(.rows, pages)]), is: [[.integer(7), .integer(2)]])
      // In the order of the keys, whatever that of the rows.
      bench.expect(
        try bench.groups(rows, by: [pages], [.init(.rows, pages)]),
        is: [[.integer(3), .integer(1)], [.integer(4), .integer(1)]])
      let descending = SortKey(GroupRequest.path(toColumn: 0), descending: true, kind: .integer)
      let ascending = try bench.request("Book", sort: [bench.sort("Book", "pages", .integer)], limit: 3)
      bench.expect(
        try bench.groups(GroupRequest(ascending, keys: [pages], aggregates: [], sort: [descending])).map { $0[0] },
        is: [.integer(3), .integer(2), .integer(1)])
      let books = try bench.projected("Author", "books", .integer)
      try bench.inserted("Author", [["name": .text("x")]])
      bench.expect(
        try bench.groups("Author", by: [books], [.init(.rows, books), .init(.sum, books)]),
        is: [[.integer(0), .integer(1), .integer(0)], [.integer(2), .integer(2), .integer(4)]])
    },
    ConformanceCase("data in files is told apart by its content") { bench in
      let data = [UInt8](repeating: 7, count: 300_000)
      for content: [UInt8] in [data, data, [1, 2], data + [1]] {
        try bench.inserted("Book", [["title": .text("a"), "picture": .blob(content)]])
      }
      let picture = try bench.projected("Book", "picture", .blob)
      bench.expect(
        try bench.groups("Book", by: [], [.init(.distinctCount, picture), .init(.count, picture)]),
        is: [[.integer(3), .integer(4)]])
      let counts = try bench.groups("Book", by: [picture], [.init(.rows, picture)]).compactMap(\.last)
      bench.expect(Set(counts), is: [.integer(1), .integer(2)])
      bench.expect(counts.count, is: 3)
    },
    ConformanceCase("more sort keys of groups than a request may have are refused") { bench in
      let pages = try bench.projected("Book", "pages", .integer)
      let sort = (0...StoreRequest.sortKeyLimit).map { _ in
        SortKey(GroupRequest.path(toColumn: 1), descending: true, kind: .integer)
      }
      bench.expectError(.limit) { _ = try bench.groups("Book", by: [pages], [.init(.rows, pages)], sort: sort) }
    },
  ]
}

extension Bench {
  /// The groups of an entity's rows.
  func groups(
    _ entity: String, by keys: [ProjectedValue], _ aggregates: [GroupAggregate],
    having condition: QueryPredicate? = nil,
    sort: [SortKey] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [[StoredValue]] {
    try groups(
      GroupRequest(
        request(entity), keys: keys, aggregates: aggregates, condition: condition, sort: sort, limit: limit,
        offset: offset))
  }

  func groups(
    _ rows: StoreRequest, by keys: [ProjectedValue], _ aggregates: [GroupAggregate]
  ) throws -> [[StoredValue]] {
    try groups(GroupRequest(rows, keys: keys, aggregates: aggregates))
  }

  func groups(_ request: GroupRequest) throws -> [[StoredValue]] {
    var found: [[StoredValue]] = []
    try connection.fetchGroups(request) { found.append($0.map(\.loaded)) }
    return found
  }
}
