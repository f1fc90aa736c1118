import TrellisModel
import TrellisStorage

enum UniqueCases {
  static let all = [
    ConformanceCase("two rows with one unique key are refused, with the entity and the properties") { bench in
      let author = try bench.inserted("Author", [["name": .text("a"), "email": .text("x")]])[0]
      let second = try bench.new("Author", ["name": .text("b"), "email": .text("x")])
      do {
        try bench.save(insert: [second])
        bench.fail("expected an error", line: #line)
      } catch let error as StoreError {
        bench.expect(error.code, is: .notUnique)
        bench.expect(error.entity, is: "Author")
        bench.expect(error.properties, is: ["email"])
      }
      try bench.expectRows("Author", [author])
    },
    ConformanceCase("two new rows with one unique key are refused") { bench in
      let pair = [try bench.new("Tag", ["name": .text("t")]), try bench.new("Tag", ["name": .text("t")])]
      bench.expectError(.notUnique) { try bench.save(insert: pair) }
      try bench.expectRows("Tag", [])
    },
    ConformanceCase("a key with a null never conflicts") { bench in
      try bench.inserted("Author", [["name": .text("a")], ["name": .text("b")]])
      try bench.inserted(
        "Book", [["title": .text("t")], ["title": .text("t")], ["title": .text("t"), "edition": .integer(1)]])
      let third = try bench.new("Book", ["title": .text("t"), "edition": .integer(1)])
      bench.expectError(.notUnique) { try bench.save(insert: [third]) }
    },
    ConformanceCase("unique texts are compared by bytes") { bench in
      try bench.inserted(
        "Tag",
        [
          ["name": .text("é")], ["name": .text("e\u{301}")], ["name": .text("E")], ["name": .text("e")],
          ["name": .text("e ")],
        ])
      bench.expect(try bench.keys(bench.request("Tag")).count, is: 5)
    },
    ConformanceCase("unique keys may swap, and go round, within one save") { bench in
      let tags = try bench.inserted("Tag", [["name": .text("a")], ["name": .text("b")], ["name": .text("c")]])
      tags[0]["name"] = .text("b")
      tags[1]["name"] = .text("c")
      tags[2]["name"] = .text("a")
      try bench.save(update: tags.map { ($0, ["name"]) })
      try bench.expectRows("Tag", tags)
    },
    ConformanceCase("a key is free for a row that takes it as its holder goes or changes") { bench in
      let tags = try bench.inserted("Tag", [["name": .text("a")], ["name": .text("b")]])
      tags[1]["name"] = .text("c")
      let new = [try bench.new("Tag", ["name": .text("a")]), try bench.new("Tag", ["name": .text("b")])]
      try bench.save(insert: new, update: [(tags[1], ["name"])], delete: [tags[0]])
      try bench.expectRows("Tag", new + [tags[1]])
    },
    ConformanceCase("a key of an entity binds the entities below it, a child's key only its own subtree") { bench in
      let dog = try bench.inserted("Dog", [["name": .text("Rex"), "chip": .integer(1), "Dog.breed": .text("corgi")]])[0]
      let cat = try bench.new("Cat", ["name": .text("Tom"), "chip": .integer(1)])
      bench.expectError(.notUnique) { try bench.save(insert: [cat]) }
      let puppy = try bench.new("Puppy", ["name": .text("Rex"), "Dog.breed": .text("corgi")])
      bench.expectError(.notUnique) { try bench.save(insert: [puppy]) }
      cat["chip"] = .integer(2)
      cat["name"] = .text("Rex")
      try bench.save(insert: [cat])
      try bench.expectRows("Animal", [dog, cat])
    },
    ConformanceCase("a row that is another one by now is told before a key that is taken") { bench in
      let tags = try bench.inserted("Tag", [["name": .text("a")], ["name": .text("b")], ["name": .text("c")]])
      tags[0]["name"] = .text("x")
      try bench.save(update: [(tags[0], ["name"])])
      tags[0].storedVersion = 1
      tags[1]["name"] = .text("c")
      bench.expectConflict([tags[0]]) { try bench.save(update: [(tags[0], ["name"]), (tags[1], ["name"])]) }
    },
    ConformanceCase("rows are found by their unique keys, byte by byte") { bench in
      let tags = try bench.inserted("Tag", [["name": .text("a")], ["name": .text("A")], ["name": .text("b")]])
      let tag = try bench.entity("Tag")
      let name = PropertyPath(variable: 0).appending(try bench.property(tag, "name").index)
      let request = StoreRequest(
        entity: tag.index, predicate: .isIn(.path(name), [.text("A"), .text("b"), .text("c")], .text))
      bench.expect(try bench.keys(request), is: tags[1...].map(\.storedKey))
    },
    ConformanceCase("a one-to-one is held by one row only") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      try bench.inserted("Profile", [["bio": .text("1"), "author": .integer(author.storedKey)]])
      let second = try bench.new("Profile", ["bio": .text("2"), "author": .integer(author.storedKey)])
      bench.expectError(.notUnique) { try bench.save(insert: [second]) }
    },
  ]
}
