import TrellisModel
import TrellisStorage

/// The rules that a save checks again inside its transaction.
enum RuleCases {
  static let all = counts + pairCounts + denials

  private static let counts = [
    ConformanceCase("members are counted after everything is written, and a wrong number refuses the save") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let books = try bench.books(2, of: author)
      let number = try bench.relationship("Author", "books")
      let third = try bench.new("Book", ["title": .text("new"), "author": .integer(author.storedKey)])
      let most = SaveRequest.CountChecks(relationship: number, owners: [author.storedKey], most: 2)
      bench.expectBroken(.init(counts: [.init(relationship: number, owner: author.storedKey, found: 3)])) {
        try bench.save(insert: [third]) { $0.counts = [most] }
      }
      try bench.expectRows("Book", books)
      try bench.save(insert: [third], delete: [books[0]]) { $0.counts = [most] }
      let least = SaveRequest.CountChecks(relationship: number, owners: [author.storedKey], least: 2)
      bench.expectBroken(.init(counts: [.init(relationship: number, owner: author.storedKey, found: 1)])) {
        try bench.save(delete: [third]) { $0.counts = [least] }
      }
      try bench.expectRows("Book", [books[1], third])
    },
    ConformanceCase("members that another connection has written meanwhile count") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let number = try bench.relationship("Author", "books")
      let other = try bench.new("Book", ["title": .text("theirs"), "author": .integer(author.storedKey)])
      try bench.save(insert: [other], on: bench.store.connect())
      let mine = try bench.new("Book", ["title": .text("mine"), "author": .integer(author.storedKey)])
      bench.expectBroken(.init(counts: [.init(relationship: number, owner: author.storedKey, found: 2)])) {
        try bench.save(insert: [mine]) {
          $0.counts = [SaveRequest.CountChecks(relationship: number, owners: [author.storedKey], most: 1)]
        }
      }
    },
    ConformanceCase("every owner with a wrong number is named, and an owner that is not there is left out") { bench in
      let authors = try bench.inserted("Author", (0..<3).map { ["name": .text("\($0)")] })
      let number = try bench.relationship("Author", "books")
      let books = try authors.flatMap { try bench.books(2, of: $0) }
      let gone = authors[2].storedKey
      for book in books[4...] { book["author"] = .null }
      bench.expectBroken(
        .init(counts: authors[..<2].map { .init(relationship: number, owner: $0.storedKey, found: 2) })
      ) {
        try bench.save(update: books[4...].map { ($0, ["author"]) }, delete: [authors[2]]) {
          $0.counts = [
            SaveRequest.CountChecks(relationship: number, owners: authors.map(\.storedKey) + [gone, 777], least: 3)
          ]
        }
      }
    },
    ConformanceCase("no members at all are right where that is allowed") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let books = try bench.books(2, of: author)
      let rule = SaveRequest.CountChecks(
        relationship: try bench.relationship("Author", "books"), owners: [author.storedKey], least: 2, mayBeEmpty: true)
      bench.expectBroken(.init(counts: [.init(relationship: rule.relationship, owner: author.storedKey, found: 1)])) {
        try bench.save(delete: [books[0]]) { $0.counts = [rule] }
      }
      try bench.save(delete: books) { $0.counts = [rule] }
    },
    ConformanceCase("the partner of a to-one counts as one member") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let profile = try bench.inserted("Profile", [["bio": .text("b"), "author": .integer(author.storedKey)]])[0]
      let number = try bench.relationship("Author", "profile")
      bench.expectBroken(.init(counts: [.init(relationship: number, owner: author.storedKey, found: 0)])) {
        try bench.save(delete: [profile]) {
          $0.counts = [SaveRequest.CountChecks(relationship: number, owners: [author.storedKey], least: 1)]
        }
      }
    },
  ]

  private static let pairCounts = [
    ConformanceCase("pairs are counted from either end") { bench in
      let (book, tags) = try bench.taggedBook()
      let tag = try bench.new("Tag", ["name": .text("new")])
      let rules = [
        SaveRequest.CountChecks(
          relationship: try bench.relationship("Book", "tags"), owners: [book.storedKey], most: 2),
        SaveRequest.CountChecks(
          relationship: try bench.relationship("Tag", "books"), owners: [tags[0].storedKey], least: 2),
      ]
      bench.expectBroken(
        .init(counts: [
          .init(relationship: rules[0].relationship, owner: book.storedKey, found: 3),
          .init(relationship: rules[1].relationship, owner: tags[0].storedKey, found: 1),
        ])
      ) {
        try bench.save(insert: [tag]) { request in
          var pairs = SaveRequest.Pairs(table: try bench.table("Book", "tags"))
          pairs.added = [try bench.pair("Book", "tags", book, tag, place: 3, inversePlace: 1)]
          request.pairs = [pairs]
          request.counts = rules
        }
      }
    },
    ConformanceCase("an owner that loses a deleted member is counted, too, though the request does not name it") {
      bench in
      let (book, tags) = try bench.taggedBook()
      let number = try bench.relationship("Tag", "books")
      bench.expectBroken(
        .init(counts: tags.map { .init(relationship: number, owner: $0.storedKey, found: 0) })
      ) {
        try bench.save(delete: [book]) {
          $0.counts = [SaveRequest.CountChecks(relationship: number, leaving: [book.storedKey], least: 1)]
        }
      }
      try bench.save(delete: [book] + tags) {
        $0.counts = [SaveRequest.CountChecks(relationship: number, leaving: [book.storedKey], least: 1)]
      }
    },
  ]

  private static let denials = [
    ConformanceCase("a pair denies a delete, unless it is taken apart or its other object goes, too") { bench in
      let (book, tags) = try bench.taggedBook()
      let number = try bench.relationship("Book", "tags")
      let denial = SaveRequest.RestrictChecks(relationship: number, owners: [book.storedKey])
      let link = { (tag: Record) in
        ConstraintViolations.Denial(relationship: number, owner: book.storedKey, partner: tag.storedKey)
      }
      bench.expectBroken(.init(denials: tags.map(link))) {
        try bench.save(delete: [book]) { $0.denials = [denial] }
      }
      bench.expectBroken(.init(denials: [link(tags[1])])) {
        try bench.save(delete: [book, tags[0]]) { $0.denials = [denial] }
      }
      try bench.expectRows("Tag", tags)
      try bench.save(delete: [book, tags[0]]) { request in
        var pairs = SaveRequest.Pairs(table: try bench.table("Book", "tags"))
        pairs.removed = [try bench.pair("Book", "tags", book, tags[1])]
        request.pairs = [pairs]
        request.denials = [denial]
      }
      try bench.expectRows("Tag", [tags[1]])
    },
    ConformanceCase("a pair with an object that is not there is refused under every delete rule") { bench in
      let shelf = try bench.inserted("Shelf", [["label": .text("s")]])[0]
      let author = try bench.new("Author", ["name": .text("never saved")])
      bench.expectError(.danglingReference) {
        try bench.savePairs(
          bench.table("Shelf", "visitors"), add: [bench.pair("Shelf", "visitors", shelf, author)])
      }
      bench.expect(try bench.members("Shelf", "visitors", of: shelf), is: [])
    },
  ]
}

extension Bench {
  func books(_ count: Int, of author: Record) throws -> [Record] {
    try inserted(
      "Book", (0..<count).map { ["title": .text("\(author.storedKey) \($0)"), "author": .integer(author.storedKey)] })
  }

  /// A book with two tags.
  fileprivate func taggedBook() throws -> (Record, [Record]) {
    let book = try inserted("Book", [["title": .text("b")]])[0]
    let tags = try inserted("Tag", [["name": .text("1")], ["name": .text("2")]])
    try savePairs(
      table("Book", "tags"), add: tags.map { try pair("Book", "tags", book, $0, place: 1, inversePlace: 1) })
    return (book, tags)
  }
}
