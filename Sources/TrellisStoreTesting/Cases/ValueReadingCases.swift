import TrellisModel
import TrellisStorage

/// Fetches of chosen values instead of rows.
enum ValueReadingCases {
  static let all = [
    ConformanceCase("chosen values come row by row in the request's order, repeats included") { bench in
      let books = try bench.inserted(
        "Book", [("a", 1), ("b", 2), ("a", 2)].map { ["title": .text($0.0), "pages": .integer($0.1)] })
      let request = try bench.request("Book", sort: [bench.sort("Book", "pages", .integer, descending: true)], limit: 2)
      let paths = try [bench.projected("Book", "title", .text), bench.projected("Book", "", .integer)]
      bench.expect(
        try bench.values(request, paths),
        is: [[.text("a"), .integer(books[2].storedKey)], [.text("b"), .integer(books[1].storedKey)]])
    },
    ConformanceCase("a chosen value at the end of a path through nil is null, and a to-one is its key") { bench in
      let author = try bench.inserted("Author", [["name": .text("z"), "rating": .real(1)]])[0]
      try bench.inserted("Book", [["title": .text("1"), "author": .integer(author.storedKey)], ["title": .text("2")]])
      let paths = try [
        bench.projected("Book", "author.name", .text), bench.projected("Book", "author.rating", .real),
        bench.projected("Book", "author", .integer),
      ]
      bench.expect(
        try bench.values(bench.request("Book"), paths),
        is: [[.text("z"), .real(1), .integer(author.storedKey)], [.null, .null, .null]])
    },
    ConformanceCase("a plan names the entity, and says nothing is scanned where a key is demanded") { bench in
      let tag = try bench.inserted("Tag", [["name": .text("a")]])[0]
      bench.expect(try bench.connection.plan(of: bench.request("Tag")).entity, is: "Tag")
      let byKey = try bench.compare("Tag", "", .equal, .integer(tag.storedKey), .integer)
      bench.expect(try bench.connection.plan(of: bench.request("Tag", byKey)).scansWholeTable, is: false)
    },
  ]
}

extension Bench {
  func projected(_ entity: String, _ names: String, _ kind: ValueKind) throws -> ProjectedValue {
    ProjectedValue(try path(entity, names), kind: kind)
  }

  /// The values that a request returns.
  func values(_ request: StoreRequest, _ paths: [ProjectedValue]) throws -> [[StoredValue]] {
    var found: [[StoredValue]] = []
    try connection.fetchValues(request, of: paths) { found.append($0.map(\.loaded)) }
    return found
  }
}
