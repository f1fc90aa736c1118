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
    ConformanceCase("rows are found by many values of a unique key, each with the number of its values") { bench in
      let tags = try bench.inserted("Tag", (0..<300).map { ["name": .text("t\($0)")] })
      let names = (0..<600).map { StoredValue.text("t\($0 * 2)") }
      bench.expect(
        try bench.holders("Tag", ["name"], [names]),
        is: Dictionary(uniqueKeysWithValues: (0..<150).map { ($0, tags[$0 * 2].storedKey) }))
      bench.expect(try bench.holders("Tag", ["name"], [[]]), is: [:])
    },
    ConformanceCase("rows are found by a unique key of several properties, and only by all of them") { bench in
      let books = try bench.inserted(
        "Book",
        [
          ["title": .text("a"), "edition": .integer(1)], ["title": .text("a"), "edition": .integer(2)],
          ["title": .text("b"), "edition": .integer(1)], ["title": .text("b")],
        ])
      let found = try bench.holders(
        "Book", ["title", "edition"],
        [["b", "a", "b", "é"].map { .text($0) }, [.integer(1), .integer(2), .integer(2), .integer(1)]])
      bench.expect(found, is: [0: books[2].storedKey, 1: books[1].storedKey])
    },
    ConformanceCase("a key of an entity finds rows of the entities below it, a child's key those of its own subtree") {
      bench in
      let dog = try bench.inserted("Dog", [["name": .text("Rex"), "chip": .integer(1), "Dog.breed": .text("x")]])[0]
      let puppy = try bench.inserted("Puppy", [["name": .text("Pup"), "Dog.breed": .text("x")]])[0]
      let cat = try bench.inserted("Cat", [["name": .text("Rex"), "chip": .integer(2)]])[0]
      bench.expect(
        try bench.holders("Animal", ["chip"], [[.integer(2), .integer(1), .integer(0)]]),
        is: [0: cat.storedKey, 1: dog.storedKey])
      bench.expect(
        try bench.holders("Dog", ["breed", "name"], [[.text("x"), .text("x")], [.text("Pup"), .text("Rex")]]),
        is: [0: puppy.storedKey, 1: dog.storedKey])
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

extension Bench {
  /// The keys of the rows that have values in a unique key, by the number of the values.
  func holders(_ entity: String, _ names: [String], _ values: [[StoredValue]]) throws -> [Int: Int64] {
    guard let number = model.entities.firstIndex(where: { $0.name == entity }) else { return [:] }
    let key = model.entities[number].uniqueKeys.first { key in
      key.properties.map { model.entities[number].properties[$0].name } == names
    }
    guard let key else { return [:] }
    var found: [Int: Int64] = [:]
    try connection.holders(of: key, values: values, in: model) { found[$0] = $1.key }
    return found
  }
}
