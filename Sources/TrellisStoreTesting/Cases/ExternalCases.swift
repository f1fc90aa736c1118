import TrellisModel
import TrellisStorage

/// Data of an attribute with `externalStorage`, which a store may keep in files.
enum ExternalCases {
  static let all = [
    ConformanceCase("large data comes back by the byte, and is changed and let go of like any other") { bench in
      let sizes = [0, 1, 1_000, 100_000]
      let books = try bench.inserted("Book", sizes.map { ["title": .text("\($0)"), "picture": data($0)] })
      try bench.expectRows("Book", books)
      books[0]["picture"] = data(100_000, 1)
      books[3]["picture"] = .null
      try bench.save(update: [(books[0], ["picture"]), (books[3], ["picture"])])
      try bench.expectRows("Book", books)
      _ = try bench.store.collectExternalFiles()
      try bench.expectRows("Book", books)
      try bench.save(delete: [books[0], books[1]])
      _ = try bench.store.collectExternalFiles()
      try bench.expectRows("Book", [books[2], books[3]])
    },
    ConformanceCase("large data is compared by its bytes, and has a length") { bench in
      let books = try bench.inserted(
        "Book",
        [data(100_000), data(100_000, 1), data(5), .null].enumerated().map {
          ["title": .text("\($0)"), "picture": $1]
        })
      let (large, other, small, none) = (books[0], books[1], books[2], books[3])
      try bench.expect("Book", compare(bench, .equal, data(100_000)), matches: [large])
      try bench.expect("Book", compare(bench, .equal, data(5)), matches: [small])
      try bench.expect("Book", compare(bench, .equal, .null), matches: [none])
      try bench.expect("Book", compare(bench, .notEqual, .null), matches: [large, other, small])
      try bench.expect("Book", compare(bench, .notEqual, data(100_000)), matches: [other, small, none])
      let path = try bench.path("Book", "picture")
      let listed = QueryPredicate.isIn(.path(path), [data(100_000, 1), data(5), .null], .blob)
      try bench.expect("Book", listed, matches: [other, small, none])
      try bench.expect("Book", .not(listed), matches: [large])
      let length = Operand.computed(.function(.length, .path(path)))
      let isLong = Comparison(length, .greater, .value(.integer(5)), kind: .integer)
      try bench.expect("Book", .comparison(isLong), matches: [large, other])
    },
    ConformanceCase("large data is among chosen values, and a change of many rows can set it") { bench in
      try bench.inserted("Book", (0..<3).map { ["title": .text("\($0)"), "picture": data($0)] })
      let paths = [try bench.projected("Book", "picture", .blob)]
      let outcome = try bench.update(bench.request("Book"), "picture", .value(data(100_000)))
      bench.expect(outcome.found, is: 3)
      let values = try bench.values(bench.request("Book"), paths)
      bench.expect(values, is: Array(repeating: [data(100_000)], count: 3))
    },
  ]

  private static func data(_ count: Int, _ seed: Int = 0) -> StoredValue {
    .blob((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8 &+ seed) })
  }

  private static func compare(
    _ bench: Bench, _ relation: ComparisonOperator, _ value: StoredValue
  ) throws -> QueryPredicate {
    try bench.compare("Book", "picture", relation, value, .blob)
  }
}
