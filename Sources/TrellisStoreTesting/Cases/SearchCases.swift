import TrellisModel
import TrellisStorage

enum SearchCases {
  static let all = [
    ConformanceCase("a search finds words of Korean anywhere, others where a word begins") { bench in
      let tags = try bench.insertedIfStorable(
        "Tag", "name",
        [
          "아이스커피 한 잔", "커피", "커 피", "Coffee shop", "decoffeinated", "커피shop", "café ŒUVRE", "cafe\u{301}", "生ビール 2026",
          "☕️ 커피를", "", "a\u{0}커피",
        ].map { .text($0) })
      let found: [(String, [Int])] = [
        ("커피", [0, 1, 5, 9, 11]), ("피", [0, 1, 2, 5, 9, 11]), ("스커", [0]), ("커피 잔", [0]), ("잔 커피", [0]),
        ("cof", [3]), ("FEE", []), ("shop", [3, 5]), ("coffee  SHO", [3]), ("cafe", [6, 7]), ("커피s", [5]),
        ("ビー", [8]), ("20", [8]), ("26", []), ("☕", [9]), ("☕커", []), ("커피커피", []), ("a", [11]), ("", []),
        (" .,!\" * ", []), ("\"커피\" AND", []), ("커피*", [0, 1, 5, 9, 11]), ("커피 NOT shop", []),
        ("커피\u{0}", [0, 1, 5, 9, 11]), (String(repeating: "커피 ", count: 1_000), [0, 1, 5, 9, 11]),
        ("\u{110F}\u{1165}\u{1111}\u{1175}", [0, 1, 5, 9, 11]),
      ]
      for (query, expected) in found {
        let predicate = try bench.compare("Tag", "name", .matching, .text(query), .text)
        try bench.expect("Tag", predicate, matches: expected.compactMap { tags[$0] })
        try bench.expect(
          "Tag", .not(predicate), matches: tags.indices.filter { !expected.contains($0) }.compactMap { tags[$0] })
      }
      try bench.expect("Tag", bench.compare("Tag", "name", .matching, .null, .text), matches: [])
    },
    ConformanceCase("a search sees what was changed, deleted and never saved") { bench in
      let tags = try bench.inserted("Tag", ["커피", "홍차", "cocoa"].map { ["name": .text($0)] })
      let coffee = try bench.compare("Tag", "name", .matching, .text("커피"), .text)
      let tea = try bench.compare("Tag", "name", .matching, .text("홍차"), .text)
      tags[0]["name"] = .text("녹차")
      tags[1]["name"] = .text("홍차와 커피")
      try bench.save(update: [(tags[0], ["name"]), (tags[1], ["name"])])
      try bench.expect("Tag", coffee, matches: [tags[1]])
      try bench.save(delete: [tags[1]])
      try bench.expect("Tag", .or([coffee, tea]), matches: [])
      let unsaved = try bench.new("Tag", ["name": .text("커피")])
      tags[0].storedVersion = 7
      tags[0]["name"] = .text("홍차")
      bench.expectConflict([tags[0]]) { try bench.save(insert: [unsaved], update: [(tags[0], ["name"])]) }
      try bench.expect("Tag", .or([coffee, tea]), matches: [])
    },
    ConformanceCase("a search goes through paths, over members and over nil") { bench in
      let dogs = try bench.inserted(
        "Dog", [["name": .text("콩이"), "Dog.breed": .null], ["name": .text("초코"), "Dog.breed": .text("Welsh Corgi")]])
      let corgi = try bench.compare("Dog", "breed", .matching, .text("corgi"), .text)
      try bench.expect("Dog", corgi, matches: [dogs[1]])
      try bench.expect("Dog", .not(corgi), matches: [dogs[0]])
      let cat = try bench.inserted("Cat", [["name": .text("콩쥐")]])
      try bench.expect(
        "Animal", bench.compare("Animal", "name", .matching, .text("콩"), .text), matches: [dogs[0], cat[0]])
      let author = try bench.inserted("Author", [["name": .text("한강"), "active": .integer(1)]])[0]
      let books = try bench.inserted(
        "Book", [["title": .text("소년이 온다"), "author": .integer(author.storedKey)], ["title": .text("채식주의자")]])
      let title = try bench.compare("Book", "title", .matching, .text("소년"), .text, variable: 1)
      try bench.expect(
        "Author", .quantified(.any, bench.path("Author", "books"), variable: 1, title), matches: [author])
      // The name of an author is not searchable, but a search finds it.
      try bench.expect("Book", bench.compare("Book", "author.name", .matching, .text("강"), .text), matches: [books[0]])
    },
    ConformanceCase("sorted by rank, more and whole words come first") { bench in
      let tags = try bench.inserted(
        "Tag", ["아이스커피", "커피", "커피 커피", "홍차", "커피 " + String(repeating: "길다 ", count: 200)].map { ["name": .text($0)] })
      let rank = SortKey(try bench.path("Tag", "name"), rankFor: "커피")
      let coffee = try bench.compare("Tag", "name", .matching, .text("커피"), .text)
      bench.expect(
        try bench.keys(bench.request("Tag", coffee, sort: [rank])), is: [2, 1, 0, 4].map { tags[$0].storedKey })
      bench.expect(
        try bench.keys(bench.request("Tag", coffee, sort: [rank], limit: 1, offset: 1)), is: [tags[1].storedKey])
      let rising = SortKey(try bench.path("Tag", "name"), descending: false, rankFor: "커피")
      bench.expect(
        try bench.keys(bench.request("Tag", sort: [rising])), is: [3, 4, 0, 1, 2].map { tags[$0].storedKey })
    },
  ]
}
