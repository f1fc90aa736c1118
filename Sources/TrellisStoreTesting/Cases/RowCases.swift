import TrellisModel
import TrellisStorage

enum RowCases {
  static let all = [
    ConformanceCase("an inserted row comes back as it was written, with version 1") { bench in
      let authors = try bench.inserted(
        "Author", [["name": .text("a"), "rating": .real(1.5)], ["name": .text("b"), "active": .integer(1)]])
      bench.expect(authors.allSatisfy { $0.storedVersion == 1 }, "versions")
      try bench.expectRows("Author", authors)
    },
    ConformanceCase("an update changes the marked properties only, and adds one to the version") { bench in
      let author = try bench.inserted("Author", [["name": .text("a"), "email": .text("x")]])[0]
      author["name"] = .text("b")
      author["email"] = .text("not marked")
      try bench.save(update: [(author, ["name"])])
      author["email"] = .text("x")
      bench.expect(author.storedVersion, is: 2)
      try bench.expectRows("Author", [author])
    },
    ConformanceCase("a deleted row is gone, for every way of asking") { bench in
      let authors = try bench.inserted("Author", [["name": .text("a")], ["name": .text("b")]])
      try bench.save(delete: [authors[0]])
      try bench.expectRows("Author", [authors[1]])
      bench.expect(try bench.row(authors[0]), is: nil)
    },
    ConformanceCase("rows are found by many keys, whatever their number; keys without a row are left out") { bench in
      let authors = try bench.inserted("Author", (0..<1200).map { ["name": .text("a\($0)")] })
      let entity = try bench.entity("Author").index
      var found: Set<Int64> = []
      try bench.connection.rows(of: entity, keys: authors.map(\.storedKey) + [9_999_999, -1, .max]) { row in
        bench.expect(found.insert(row.key).inserted, "a row came twice")
      }
      bench.expect(found, is: Set(authors.map(\.storedKey)))
      try bench.connection.rows(of: entity, keys: []) { _ in bench.fail("no keys, no rows", line: #line) }
    },
    ConformanceCase("an empty save is no error") { bench in try bench.save() },
    ConformanceCase("reserved keys are positive and never given twice") { bench in
      let first = try bench.store.reserveKeys(100)
      let second = try bench.store.reserveKeys(5)
      bench.expect(first.count, is: 100)
      bench.expect(first.lowerBound > 0 && !first.overlaps(second), "\(first) and \(second)")
      bench.store.returnKeys(second.upperBound..<second.upperBound)
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      bench.expect(!first.contains(author.storedKey) && !second.contains(author.storedKey), "a key came twice")
      try bench.save(delete: [author])
      bench.expect(try bench.store.reserveKeys(1).lowerBound > author.storedKey, "a used key came again")
    },
    ConformanceCase("two connections see each other's saves") { bench in
      let other = try bench.store.connect()
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      bench.expect(try bench.rows("Author", on: other), is: [RowImage(author)])
    },
    ConformanceCase("what the reader's body throws comes out, and the connection goes on working") { bench in
      try bench.inserted("Author", [["name": .text("a")], ["name": .text("b")]])
      do {
        try bench.connection.fetch(bench.request("Author")) { _ in throw BenchError("stop") }
        bench.fail("expected the body's error", line: #line)
      } catch is BenchError {}
      bench.expect(try bench.keys(bench.request("Author")).count, is: 2)
    },
  ]
}
