import TrellisModel
import TrellisStorage

enum PairCases {
  static let all = [
    ConformanceCase("a pair is seen from both ends, each in its own order") { bench in
      let books = try bench.inserted("Book", [["title": .text("1")], ["title": .text("2")]])
      let tags = try bench.inserted("Tag", [["name": .text("x")], ["name": .text("y")]])
      try bench.savePairs(
        bench.table("Book", "tags"),
        add: [
          bench.pair("Book", "tags", books[0], tags[0], place: 2, inversePlace: 5),
          bench.pair("Book", "tags", books[0], tags[1], place: 1, inversePlace: 1),
          bench.pair("Book", "tags", books[1], tags[0], place: 1, inversePlace: 3),
        ])
      bench.expect(try bench.members("Book", "tags", of: books[0]), is: [tags[1].storedKey, tags[0].storedKey])
      bench.expect(try bench.members("Tag", "books", of: tags[0]), is: [books[1].storedKey, books[0].storedKey])
    },
    ConformanceCase("adding a pair that is there and removing one that is not are no errors") { bench in
      let book = try bench.inserted("Book", [["title": .text("1")]])[0]
      let tags = try bench.inserted("Tag", [["name": .text("x")], ["name": .text("y")]])
      let table = try bench.table("Book", "tags")
      let pair = try bench.pair("Book", "tags", book, tags[0], place: 1, inversePlace: 1)
      try bench.savePairs(table, add: [pair])
      try bench.savePairs(table, add: [pair], remove: [bench.pair("Book", "tags", book, tags[1])])
      bench.expect(try bench.members("Book", "tags", of: book), is: [tags[0].storedKey])
      try bench.savePairs(table, remove: [pair])
      bench.expect(try bench.members("Tag", "books", of: tags[0]), is: [])
    },
    ConformanceCase("a pair moves at one end and keeps its place at the other") { bench in
      let books = try bench.inserted("Book", [["title": .text("1")], ["title": .text("2")]])
      let tags = try bench.inserted("Tag", [["name": .text("x")], ["name": .text("y")]])
      let table = try bench.table("Book", "tags")
      try bench.savePairs(
        table,
        add: [
          bench.pair("Book", "tags", books[0], tags[0], place: 1, inversePlace: 1),
          bench.pair("Book", "tags", books[0], tags[1], place: 2, inversePlace: 1),
          bench.pair("Book", "tags", books[1], tags[0], place: 1, inversePlace: 2),
        ])
      try bench.savePairs(table, move: [bench.pair("Book", "tags", books[0], tags[0], place: 3)])
      bench.expect(try bench.members("Book", "tags", of: books[0]), is: [tags[1].storedKey, tags[0].storedKey])
      bench.expect(try bench.members("Tag", "books", of: tags[0]), is: books.map(\.storedKey))
    },
    ConformanceCase("pairs go with either of their rows") { bench in
      let books = try bench.inserted("Book", [["title": .text("1")], ["title": .text("2")]])
      let tags = try bench.inserted("Tag", [["name": .text("x")], ["name": .text("y")]])
      try bench.savePairs(
        bench.table("Book", "tags"),
        add: [
          bench.pair("Book", "tags", books[0], tags[0]), bench.pair("Book", "tags", books[0], tags[1]),
          bench.pair("Book", "tags", books[1], tags[1]),
        ])
      try bench.save(delete: [books[0]])
      bench.expect(try bench.members("Tag", "books", of: tags[0]), is: [])
      try bench.save(delete: [tags[1]])
      bench.expect(try bench.members("Book", "tags", of: books[1]), is: [])
    },
    ConformanceCase("a pair with a row that is not there is refused") { bench in
      let tag = try bench.inserted("Tag", [["name": .text("x")]])[0]
      let ghost = try bench.new("Book", ["title": .text("never saved")])
      bench.expectError(.danglingReference) {
        try bench.savePairs(bench.table("Book", "tags"), add: [bench.pair("Book", "tags", ghost, tag)])
      }
    },
    ConformanceCase("a one-way to-many has its pairs, which go with the member") { bench in
      let shelf = try bench.inserted("Shelf", [["label": .text("s")]])[0]
      let books = try bench.inserted("Book", [["title": .text("1")], ["title": .text("2")]])
      try bench.savePairs(
        bench.table("Shelf", "contents"), add: books.map { try bench.pair("Shelf", "contents", shelf, $0) })
      bench.expect(try bench.members("Shelf", "contents", of: shelf), is: books.map(\.storedKey))
      try bench.save(delete: [books[0]])
      bench.expect(try bench.members("Shelf", "contents", of: shelf), is: [books[1].storedKey])
    },
    ConformanceCase("a relationship that is its own inverse has the pairs that were saved, in both directions") {
      bench in
      let authors = try bench.inserted("Author", [["name": .text("a")], ["name": .text("b")], ["name": .text("c")]])
      let table = try bench.table("Author", "friends")
      try bench.savePairs(
        table,
        add: [
          bench.pair("Author", "friends", authors[0], authors[1]),
          bench.pair("Author", "friends", authors[1], authors[0]),
          bench.pair("Author", "friends", authors[2], authors[2]),
        ])
      bench.expect(try bench.members("Author", "friends", of: authors[0]), is: [authors[1].storedKey])
      bench.expect(try bench.members("Author", "friends", of: authors[1]), is: [authors[0].storedKey])
      bench.expect(try bench.members("Author", "friends", of: authors[2]), is: [authors[2].storedKey])
      try bench.save(delete: [authors[0]])
      bench.expect(try bench.members("Author", "friends", of: authors[1]), is: [])
    },
    ConformanceCase("the keys of many owners' members come in the order of the members, whichever owners") { bench in
      let authors = try bench.inserted("Author", (0..<120).map { ["name": .text("a\($0)")] })
      let shelves = try bench.inserted("Shelf", (0..<40).map { ["label": .text("s\($0)")] })
      let books = try bench.inserted("Book", (0..<90).map { ["title": .text("b\($0)")] })
      let tags = try bench.inserted("Tag", (0..<50).map { ["name": .text("t\($0)")] })
      try bench.savePairs(
        bench.table("Author", "visited"),
        add: (0..<300).map { try bench.pair("Author", "visited", authors[$0 * 7 % 110], shelves[$0 * 11 % 37]) })
      try bench.savePairs(
        bench.table("Author", "friends"),
        add: (0..<100).flatMap { number in
          let friends = (authors[number], authors[(number + 20) % 120])
          return [
            try bench.pair("Author", "friends", friends.0, friends.1),
            try bench.pair("Author", "friends", friends.1, friends.0),
          ]
        })
      try bench.savePairs(
        bench.table("Shelf", "contents"),
        add: (0..<200).map { try bench.pair("Shelf", "contents", shelves[$0 % 39], books[$0 * 13 % 89]) })
      try bench.savePairs(
        bench.table("Book", "tags"),
        add: (0..<200).map {
          let places = (Int64(200 - $0), Int64($0 * 17 % 200))
          return try bench.pair(
            "Book", "tags", books[$0 % 80], tags[$0 * 3 % 49], place: places.0, inversePlace: places.1)
        })
      try bench.save(delete: [authors[60]])
      let ends = [
        ("Author", "visited", authors), ("Shelf", "visitors", shelves), ("Author", "friends", authors),
        ("Shelf", "contents", shelves), ("Book", "tags", books), ("Tag", "books", tags),
      ]
      for (entity, name, owners) in ends {
        let keys = owners.map(\.storedKey)
        // All, most, every second, every third, few, and in no order, some of them twice and some of them not there.
        let every = (2...3).map { step in stride(from: 0, to: keys.count, by: step).map { keys[$0] } }
        let mixed = keys.reversed() + keys.prefix(9) + [keys[0] - 1, keys[keys.count - 1] + 40]
        for asked in [keys, Array(keys.dropFirst(4).dropLast(3)), Array(keys.prefix(5)), mixed] + every {
          var (expected, found): ([[Int64]], [[Int64]]) = ([], [])
          let number = try bench.relationship(entity, name)
          try bench.connection.members(of: number, owners: asked) { expected.append([$0, $1.key]) }
          try bench.connection.memberKeys(of: number, owners: asked) { owner, key, _ in found.append([owner, key]) }
          bench.expect(found == expected, "\(entity).\(name) of \(asked.count) owners")
          bench.expect(!found.isEmpty, "\(entity).\(name) has members")
        }
      }
    },
  ]
}
