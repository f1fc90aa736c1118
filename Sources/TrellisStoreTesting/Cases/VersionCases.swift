import TrellisModel
import TrellisStorage

enum VersionCases {
  static let all = [
    ConformanceCase("many rows are deleted at once, and none of them if some are other ones by now") { bench in
      let tags = try bench.inserted("Tag", (0..<40).map { ["name": .text("t\($0)")] })
      for number in [3, 17] { tags[number]["name"] = .text("n\(number)") }
      try bench.save(update: [(tags[3], ["name"]), (tags[17], ["name"])])
      for number in [3, 17] { tags[number].storedVersion = 1 }
      try bench.save(delete: [tags[39]])
      bench.expectConflict([tags[3], tags[17], tags[39]]) { try bench.save(delete: tags) }
      bench.expect(try bench.rows("Tag").count, is: 39)
      for number in [3, 17] { tags[number].storedVersion = 2 }
      try bench.save(delete: tags.dropLast())
      try bench.expectRows("Tag", [])
    },
    ConformanceCase("an update of a row that another connection has changed is a conflict") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      author["name"] = .text("theirs")
      try bench.save(update: [(author, ["name"])], on: bench.store.connect())
      author.storedVersion = 1
      bench.expectConflict([author]) { try bench.save(update: [(author, ["name"])]) }
    },
    ConformanceCase("a delete of a row that another connection has changed or deleted is a conflict") { bench in
      let authors = try bench.inserted("Author", [["name": .text("a")], ["name": .text("b")]])
      try bench.save(update: [(authors[0], ["name"])])
      authors[0].storedVersion = 1
      bench.expectConflict([authors[0]]) { try bench.save(delete: [authors[0]]) }
      try bench.save(delete: [authors[1]])
      bench.expectConflict([authors[1]]) { try bench.save(delete: [authors[1]]) }
      bench.expectConflict([authors[1]]) { try bench.save(update: [(authors[1], ["name"])]) }
    },
    ConformanceCase("a row that comes back with its key continues with the version after its last one") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      for name in ["b", "c"] {
        author["name"] = .text(name)
        try bench.save(update: [(author, ["name"])])
      }
      try bench.save(delete: [author])
      let new = try bench.new("Author", ["name": .text("new")])
      try bench.save { request in
        var inserts = SaveRequest.Inserts(entity: author.entity.index, records: [new, author])
        inserts.formerVersions[author.storedKey] = author.storedVersion
        request.inserts = [inserts]
      }
      (new.storedVersion, author.storedVersion) = (1, 4)
      try bench.expectRows("Author", [author, new])
      for version in 1...3 {
        author.storedVersion = Int64(version)
        author["name"] = .text("of the former life")
        bench.expectConflict([author]) { try bench.save(update: [(author, ["name"])]) }
        bench.expectConflict([author]) { try bench.save(delete: [author]) }
      }
      author.storedVersion = 4
      author["name"] = .text("d")
      try bench.save(update: [(author, ["name"])])
      try bench.expectRows("Author", [author, new])
    },
    ConformanceCase("a conflict names all stale rows, and nothing is written") { bench in
      let authors = try bench.inserted("Author", (0..<6).map { ["name": .text("a\($0)")] })
      let tag = try bench.inserted("Tag", [["name": .text("t")]])[0]
      try bench.save(update: [(authors[0], ["name"]), (tag, ["name"])], delete: [authors[1]])
      let before = try bench.rows("Author")
      authors[0].storedVersion = 1
      tag.storedVersion = 1
      for author in authors { author["name"] = .text("changed") }
      let new = try bench.new("Author", ["name": .text("new")])
      bench.expectConflict([authors[0], authors[1], tag]) {
        try bench.save(
          insert: [new], update: [(authors[0], ["name"]), (authors[2], ["name"]), (tag, ["name"])],
          delete: [authors[1], authors[3]])
      }
      bench.expect(try bench.rows("Author"), is: before)
    },
    ConformanceCase("places and pairs are no part of the version") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let tag = try bench.inserted("Tag", [["name": .text("t")]])[0]
      let book = try bench.inserted(
        "Book", [["title": .text("b"), "author": .integer(author.storedKey)]])[0]
      let order = try bench.orderColumn(book)
      try bench.save { request in
        request.places = [
          SaveRequest.Places(entity: book.entity.index, column: order, keys: [book.storedKey], places: [7])
        ]
      }
      try bench.savePairs(
        bench.table("Book", "tags"), add: [bench.pair("Book", "tags", book, tag, place: 1, inversePlace: 1)])
      book.values[order] = .integer(7)
      try bench.expectRows("Book", [book])
      try bench.expectRows("Tag", [tag])
    },
  ]
}
