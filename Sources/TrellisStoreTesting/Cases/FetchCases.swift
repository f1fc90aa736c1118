import TrellisModel
import TrellisStorage

enum FetchCases {
  static let all = [
    ConformanceCase("without sort keys rows come by key") { bench in
      let authors = try bench.inserted("Author", (0..<20).map { ["name": .text("\(20 - $0)")] })
      bench.expect(try bench.keys(bench.request("Author")), is: authors.map(\.storedKey).sorted())
    },
    ConformanceCase("nil sorts first ascending and last descending; ties go by key in the last key's direction") {
      bench in
      let books = try bench.inserted(
        "Book",
        [nil, 2, nil, 1, 2].map { (pages: Int64?) in
          ["title": .text("t"), "pages": pages.map { .integer($0) } ?? .null]
        })
      let key = { books[$0].storedKey }
      bench.expect(
        try bench.keys(bench.request("Book", sort: [bench.sort("Book", "pages", .integer)])),
        is: [0, 2, 3, 1, 4].map(key))
      bench.expect(
        try bench.keys(bench.request("Book", sort: [bench.sort("Book", "pages", .integer, descending: true)])),
        is: [4, 1, 3, 2, 0].map(key))
    },
    ConformanceCase("several sort keys decide one after the other, each in its direction") { bench in
      let books = try bench.inserted(
        "Book", [("a", 1), ("b", 2), ("a", 2), ("b", 1)].map { ["title": .text($0.0), "pages": .integer($0.1)] })
      let sort = [try bench.sort("Book", "title", .text), try bench.sort("Book", "pages", .integer, descending: true)]
      bench.expect(try bench.keys(bench.request("Book", sort: sort)), is: [2, 0, 1, 3].map { books[$0].storedKey })
    },
    ConformanceCase("texts sort by bytes, decimals and reals as numbers, blobs by bytes") { bench in
      let titles = ["b", "B", "é", "e\u{301}", "z", "\u{FFFF}", "\u{10000}", ""]
      let prices = ["-10", "-9.5", "0", "0.5", "2", "10", "99999999999999999999999999999999999999", "-0.25"]
      let covers: [[UInt8]] = [[], [0], [0, 0], [1], [1, 0], [255], [2], [2, 255]]
      let books = try bench.inserted(
        "Book",
        titles.indices.map { ["title": .text(titles[$0]), "price": .text(prices[$0]), "cover": .blob(covers[$0])] })
      for (name, kind) in [("title", ValueKind.text), ("price", .decimal), ("cover", .blob)] {
        let sorted = books.sorted { ValueOrder.compare($0[name], $1[name], kind: kind) < 0 }.map(\.storedKey)
        bench.expect(try bench.keys(bench.request("Book", sort: [bench.sort("Book", name, kind)])), is: sorted)
      }
    },
    ConformanceCase("a sort goes along a path, and a path through nil is nil") { bench in
      let authors = try bench.inserted("Author", [["name": .text("z")], ["name": .text("a")]])
      let books = try bench.inserted(
        "Book",
        [
          ["title": .text("1"), "author": .integer(authors[0].storedKey)], ["title": .text("2")],
          ["title": .text("3"), "author": .integer(authors[1].storedKey)],
        ])
      let sort = [try bench.sort("Book", "author.name", .text)]
      bench.expect(try bench.keys(bench.request("Book", sort: sort)), is: [1, 2, 0].map { books[$0].storedKey })
    },
    ConformanceCase("a sort that ignores case puts equals together") { bench in
      let tags = try bench.inserted("Tag", ["b", "A", "a", "B"].map { ["name": .text($0)] })
      let sort = [try bench.sort("Tag", "name", .text, .caseInsensitive)]
      bench.expect(try bench.keys(bench.request("Tag", sort: sort)), is: [1, 2, 0, 3].map { tags[$0].storedKey })
    },
    ConformanceCase("limit and offset cut the sorted answer, the count included") { bench in
      let tags = try bench.inserted("Tag", (0..<10).map { ["name": .text("\($0)")] }).map(\.storedKey)
      let sort = [try bench.sort("Tag", "name", .text, descending: true)]
      for sort in [[], sort] {
        let all = sort.isEmpty ? tags : tags.reversed()
        for offset in [0, 3, 9, 10, 50] {
          for limit in [nil, 0, 1, 4, 100] {
            let expected = Array(all.dropFirst(offset).prefix(limit ?? .max))
            bench.expect(try bench.keys(bench.request("Tag", sort: sort, limit: limit, offset: offset)), is: expected)
          }
        }
      }
    },
  ]
}
