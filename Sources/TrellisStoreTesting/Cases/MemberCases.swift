import TrellisModel
import TrellisStorage

enum MemberCases {
  static let all = [
    ConformanceCase("members of an ordered one-to-many come by place, then by key") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let places: [Int64] = [30, 10, 20, 10]
      let books = try bench.books(author, places: places)
      let expected = [1, 3, 2, 0].map { books[$0].storedKey }
      bench.expect(try bench.members("Author", "books", of: author), is: expected)
      var found: [Int64] = []
      try bench.connection.memberKeys(of: bench.relationship("Author", "books"), owners: [author.storedKey]) {
        found.append($2)
      }
      bench.expect(found, is: places.sorted())
    },
    ConformanceCase("places written afterwards give a new order, and the greatest is the last place") { bench in
      let authors = try bench.inserted("Author", [["name": .text("a")], ["name": .text("b")]])
      let books = try bench.books(authors[0], places: [1, 2, 3])
      let order = try bench.orderColumn(books[0])
      try bench.save { request in
        request.places = [
          SaveRequest.Places(
            entity: books[0].entity.index, column: order, keys: books.map(\.storedKey), places: [9, -4, 5])
        ]
      }
      let expected = [1, 2, 0].map { books[$0].storedKey }
      bench.expect(try bench.members("Author", "books", of: authors[0]), is: expected)
      var last: [Int64: Int64] = [:]
      try bench.connection.lastPlaces(
        of: bench.relationship("Author", "books"), owners: authors.map(\.storedKey)
      ) { last[$0] = $1 }
      bench.expect(last, is: [authors[0].storedKey: 9])
      var found: [Int64: Int64] = [:]
      let asked = [books[2], books[0], authors[1]].map(\.storedKey)
      try bench.connection.memberPlaces(
        of: bench.relationship("Author", "books"), owner: authors[0].storedKey, members: asked
      ) { found[$0] = $1 }
      bench.expect(found, is: [books[2].storedKey: 5, books[0].storedKey: 9])
      try bench.connection.memberPlaces(
        of: bench.relationship("Author", "books"), owner: authors[1].storedKey, members: asked
      ) { found[$0] = $1 }
      bench.expect(found.count, is: 2)
    },
    ConformanceCase("scattered members are the members, in the order of each owner's members") { bench in
      let authors = try bench.inserted("Author", (0..<900).map { ["name": .text("a\($0)")] })
      try bench.inserted(
        "Dog", (0..<2400).map { ["name": .text("d\($0)"), "owner": .integer(authors[$0 * 7 % 800].storedKey)] })
      try bench.inserted("Cat", [["name": .text("c")]])
      let books = try (0..<1800).map { number in
        let author = StoredValue.integer(authors[number % 600].storedKey)
        return try bench.new("Book", ["title": .text("b\(number)"), "author": author])
      }
      for (number, book) in books.enumerated() { book.values[try bench.orderColumn(book)] = .integer(Int64(-number)) }
      try bench.save(insert: books)
      // All owners, most of them, every third one, and a few.
      let groups = [authors, Array(authors.dropFirst(50)), stride(from: 0, to: 900, by: 3).map { authors[$0] }]
      for owners in groups + [Array(authors.prefix(3))] {
        for name in ["pets", "books"] {
          let number = try bench.relationship("Author", name)
          let keys = owners.map(\.storedKey)
          var (expected, found): ([Int64: [Int64]], [Int64: [Int64]]) = ([:], [:])
          try bench.connection.members(of: number, owners: keys) { expected[$0, default: []].append($1.key) }
          try bench.connection.scatteredMembers(of: number, owners: keys) { found[$0, default: []].append($1.key) }
          bench.expect(found == expected, "the members of \(owners.count) owners in \(name)")
        }
      }
    },
    ConformanceCase("members of many owners come together for each owner, and owners without members not at all") {
      bench in
      let authors = try bench.inserted("Author", (0..<700).map { ["name": .text("a\($0)")] })
      try bench.inserted(
        "Dog", (0..<1400).map { ["name": .text("d\($0)"), "owner": .integer(authors[$0 % 350].storedKey)] })
      var seen: [Int64] = []
      var counts: [Int64: Int] = [:]
      try bench.connection.members(of: bench.relationship("Author", "pets"), owners: authors.map(\.storedKey)) {
        owner, row in
        if seen.last != owner { seen.append(owner) }
        counts[owner, default: 0] += 1
      }
      bench.expect(Set(seen), is: Set(authors.prefix(350).map(\.storedKey)))
      bench.expect(seen.count, is: 350)
      bench.expect(counts.values.allSatisfy { $0 == 4 }, "four each")
    },
    ConformanceCase("the other end of a one-to-one is found like a member") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let profile = try bench.inserted("Profile", [["bio": .text("p"), "author": .integer(author.storedKey)]])[0]
      bench.expect(try bench.members("Author", "profile", of: author), is: [profile.storedKey])
    },
    ConformanceCase("the member of a one-to-one that is its own inverse is the row that refers to the owner") { bench in
      let nodes = try ["a", "b", "c"].map { try bench.new("Node", ["name": .text($0)]) }
      for (node, twin) in [(nodes[0], nodes[1]), (nodes[1], nodes[0])] { node["twin"] = .integer(twin.storedKey) }
      try bench.save(insert: nodes)
      bench.expect(try bench.members("Node", "twin", of: nodes[0]), is: [nodes[1].storedKey])
      bench.expect(try bench.members("Node", "twin", of: nodes[2]), is: [])
      var found: [[Int64]] = []
      try bench.connection.memberKeys(of: bench.relationship("Node", "twin"), owners: nodes.map(\.storedKey)) {
        owner, member, _ in
        found.append([owner, member])
      }
      let keys = nodes.map(\.storedKey)
      bench.expect(Set(found), is: [[keys[0], keys[1]], [keys[1], keys[0]]])
    },
    ConformanceCase("a member that moves to another owner has left the first") { bench in
      let authors = try bench.inserted("Author", [["name": .text("a")], ["name": .text("b")]])
      let book = try bench.books(authors[0], places: [1])[0]
      book["author"] = .integer(authors[1].storedKey)
      try bench.save(update: [(book, ["author"])])
      bench.expect(try bench.members("Author", "books", of: authors[0]), is: [])
      bench.expect(try bench.members("Author", "books", of: authors[1]), is: [book.storedKey])
    },
    ConformanceCase("the levels of a tree are read whole, down to the level that is reported, and a ring ends") {
      bench in
      // 0 leads to 1 and 2, these to 3 and 4, these to 5; 6 and 7 are a ring.
      let nodes = try (0..<8).map { try bench.new("Node", ["name": .text("\($0)")]) }
      let parent = try bench.property(bench.entity("Node"), "parent").relationship?.column ?? 0
      for (child, owner) in [(1, 0), (2, 0), (3, 1), (4, 2), (5, 3), (6, 7), (7, 6)] {
        nodes[child].values[parent] = .integer(nodes[owner].storedKey)
      }
      try bench.save(insert: nodes)
      let (down, up) = (try bench.relationship("Node", "children"), try bench.relationship("Node", "parent"))
      for limit in 1...9 {
        try bench.expectLevels(
          down, below: [nodes[0]], [[nodes[1], nodes[2]], [nodes[3], nodes[4]], [nodes[5]]], limit)
        try bench.expectLevels(up, below: [nodes[5]], [[nodes[3]], [nodes[1]], [nodes[0]]], limit)
        try bench.expectLevels(up, below: [nodes[3], nodes[4]], [[nodes[1], nodes[2]], [nodes[0]]], limit)
        try bench.expectLevels(down, below: [nodes[4], nodes[5]], [], limit)
        try bench.expectLevels(down, below: [nodes[6]], (1...9).map { [nodes[6 + $0 % 2]] }, limit)
      }
    },
  ]
}

extension Bench {
  /// Saved books of one author at these places.
  func books(_ author: Record, places: [Int64]) throws -> [Record] {
    let books = try places.indices.map {
      try new("Book", ["title": .text("b\($0)"), "author": .integer(author.storedKey)])
    }
    for (book, place) in zip(books, places) { book.values[try orderColumn(book)] = .integer(place) }
    try save(insert: books)
    return books
  }
}

extension Bench {
  /// Checks that the levels below some records are these, as far as they are read.
  fileprivate func expectLevels(
    _ relationship: RelationshipNumber, below owners: [Record], _ expected: [[Record]], _ limit: Int, line: Int = #line
  ) throws {
    var found: [Int: Set<Int64>] = [:]
    let complete = try connection.levels(of: relationship, below: owners.map(\.storedKey), atMost: limit) {
      level, row in
      found[level, default: []].insert(row.key)
    }
    for (level, keys) in found {
      let known = Set(expected.dropFirst(level - 1).first?.map(\.storedKey) ?? [])
      expect(level <= complete ? keys == known : keys.isSubset(of: known), "level \(level) is \(keys)", line: line)
    }
    for (number, level) in expected.enumerated() where number < complete {
      expect(found[number + 1]?.count ?? 0, is: level.count, line: line)
    }
  }
}
