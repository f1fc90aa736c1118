import TrellisModel
import TrellisStorage

/// Changes of all rows that match a request.
enum BatchOperationCases {
  static let all = updates + deletes

  private static let updates = [
    ConformanceCase("every row that is asked for gets the values, and no other") { bench in
      let books = try bench.inserted("Book", (0..<4).map { ["title": .text("\($0)"), "pages": .integer(Int64($0))] })
      let outcome = try bench.update(
        bench.request("Book", bench.compare("Book", "pages", .greaterOrEqual, .integer(2), .integer)),
        "pages", .computed(.arithmetic(.multiply, .path(bench.path("Book", "pages")), .value(.integer(10)))))
      bench.expect(outcome.found, is: 2)
      bench.expect(outcome.updated.map(\.key), is: books.suffix(2).map(\.storedKey))
      for (book, pages) in zip(books.suffix(2), [20, 30]) {
        book["pages"] = .integer(Int64(pages))
        book.storedVersion = 2
      }
      try bench.expectRows("Book", books)
    },
    ConformanceCase("all values are read before any is written") { bench in
      let sample = try bench.inserted("Sample", [["the_int64": .integer(1), "required": .integer(2)]])[0]
      let (a, b) = (try bench.path("Sample", "the_int64"), try bench.path("Sample", "required"))
      _ = try bench.connection.updateAll(
        BatchUpdate(
          request: bench.request("Sample"),
          assignments: [
            .init(property: a.onlyStep ?? 0, value: .path(b)), .init(property: b.onlyStep ?? 0, value: .path(a)),
          ]), in: bench.model)
      (sample["the_int64"], sample["required"], sample.storedVersion) = (.integer(2), .integer(1), 2)
      try bench.expectRows("Sample", [sample])
    },
    ConformanceCase("order, limit, offset, paths and entities say which rows are changed") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let books = try bench.books(3, of: author) + bench.inserted("Book", [["title": .text("alone")]])
      let window = try bench.request("Book", sort: [bench.sort("Book", "title", .text)], limit: 1, offset: 1)
      bench.expect(try bench.update(window, "pages", .value(.integer(1))).updated.map(\.key), is: [books[1].storedKey])
      let path = try bench.request("Book", bench.compare("Book", "author.name", .equal, .text("a"), .text))
      bench.expect(try bench.update(path, "pages", .value(.null)).found, is: 3)
      let dog = try bench.inserted("Dog", [["name": .text("d")]])[0]
      let puppy = try bench.inserted("Puppy", [["name": .text("p"), "breed": .text("b")]])[0]
      let own = try bench.request("Dog", subentities: false)
      bench.expect(try bench.update(own, "owner", .value(.null)).updated.map(\.entity), is: [dog.entity.index])
      let both = try bench.update(bench.request("Animal"), "owner", .value(.integer(author.storedKey)))
      bench.expect(Set(both.updated.map(\.entity)), is: [dog.entity.index, puppy.entity.index])
      bench.expect(try bench.members("Author", "pets", of: author), is: [dog.storedKey, puppy.storedKey])
    },
    ConformanceCase("one row that must be refused keeps all as they were") { bench in
      let books = try bench.inserted("Book", (0..<3).map { ["title": .text("\($0)"), "pages": .integer(Int64($0))] })
      let refused = try bench.compare("Book", "pages", .equal, .integer(1), .integer)
      do {
        _ = try bench.update(bench.request("Book"), "pages", .value(.integer(9)), refused: refused)
        bench.fail("expected a refusal", line: #line)
      } catch let rows as RefusedRows {
        bench.expect(rows.keys, is: [books[1].storedKey])
      }
      try bench.expectRows("Book", books)
      let window = try bench.request("Book", limit: 1)
      bench.expect(try bench.update(window, "pages", .value(.integer(9)), refused: refused).found, is: 1)
    },
    ConformanceCase("a reference that would lead nowhere refuses the change") { bench in
      let books = try bench.inserted("Book", [["title": .text("a")]])
      bench.expectError(.danglingReference) {
        _ = try bench.update(bench.request("Book"), "author", .value(.integer(4711)))
      }
      try bench.expectRows("Book", books)
    },
  ]

  private static let deletes = [
    ConformanceCase("rows go with what belongs to them, and partners let go") { bench in
      let authors = try bench.inserted("Author", [["name": .text("a")], ["name": .text("b")]])
      let books = try bench.books(2, of: authors[0])
      let kept = try bench.books(1, of: authors[1])
      let dog = try bench.inserted("Dog", [["name": .text("d"), "owner": .integer(authors[0].storedKey)]])[0]
      let shelf = try bench.inserted("Shelf", [["label": .text("s"), "keeper": .integer(authors[0].storedKey)]])[0]
      let tag = try bench.inserted("Tag", [["name": .text("t")]])[0]
      try bench.savePairs(bench.table("Book", "tags"), add: books.map { try bench.pair("Book", "tags", $0, tag) })
      kept[0]["sequel"] = .integer(books[0].storedKey)
      try bench.save(update: [(kept[0], ["sequel"])])
      let outcome = try bench.delete("Author", bench.compare("Author", "name", .equal, .text("a"), .text))
      bench.expect(outcome.found, is: 1)
      bench.expect(Set(outcome.deleted.map(\.key)), is: Set((books + [authors[0]]).map(\.storedKey)))
      bench.expect(outcome.updated.map(\.key), is: [dog.storedKey])
      kept[0]["sequel"] = .null
      (dog["owner"], dog.storedVersion) = (.null, 2)
      try bench.expectRows("Book", kept)
      try bench.expectRows("Author", [authors[1]])
      try bench.expectRows("Dog", [dog])
      try bench.expectRows("Shelf", [shelf])
      bench.expect(try bench.members("Tag", "books", of: tag), is: [])
    },
    ConformanceCase("members that let go have no place any more, and no other value changes") { bench in
      let crates = try bench.inserted("Crate", [["label": .text("a")], ["label": .text("b")]])
      let node = try bench.inserted("Node", [["name": .text("n")]])[0]
      let leaves = try bench.inserted(
        "Leaf",
        crates.map { ["node": .integer(node.storedKey), "crate": .integer($0.storedKey)] })
      let column = try bench.orderColumn(leaves[0], of: "crate")
      try bench.save { request in
        request.places = [
          .init(entity: leaves[0].entity.index, column: column, keys: leaves.map(\.storedKey), places: [5, 6])
        ]
      }
      let outcome = try bench.delete("Crate", bench.compare("Crate", "label", .equal, .text("a"), .text))
      bench.expect(outcome.found, is: 1)
      bench.expect(outcome.updated.map(\.key), is: [leaves[0].storedKey])
      (leaves[0]["crate"], leaves[0].storedVersion) = (.null, 2)
      leaves[1].values[column] = .integer(6)
      try bench.expectRows("Leaf", leaves)
      try bench.expectRows("Crate", [crates[1]])
    },
    ConformanceCase("members of members go, also in circles, and those among the rows themselves once") { bench in
      let root = try bench.inserted("Node", [["name": .text("r")]])[0]
      let child = try bench.inserted("Node", [["name": .text("c"), "parent": .integer(root.storedKey)]])[0]
      let leaf = try bench.inserted("Leaf", [["node": .integer(child.storedKey)]])[0]
      let other = try bench.inserted("Node", [["name": .text("o")]])[0]
      root["parent"] = .integer(child.storedKey)
      try bench.save(update: [(root, ["parent"])])
      let outcome = try bench.delete("Node", bench.compare("Node", "name", .notEqual, .text("o"), .text))
      bench.expect(outcome.found, is: 2)
      bench.expect(outcome.deleted.map(\.key).sorted(), is: [root, child, leaf].map(\.storedKey).sorted())
      try bench.expectRows("Node", [other])
      try bench.expectRows("Leaf", [])
    },
    ConformanceCase("a row that requires one of the rows keeps all of them") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let profile = try bench.inserted("Profile", [["author": .integer(author.storedKey)]])[0]
      let relationship = try bench.relationship("Author", "profile")
      let denial = ConstraintViolations.Denial(
        relationship: relationship, owner: author.storedKey, partner: profile.storedKey)
      bench.expectBroken(ConstraintViolations(denials: [denial])) { _ = try bench.delete("Author") }
      try bench.expectRows("Author", [author])
      bench.expect(try bench.delete("Profile").found, is: 1)
      bench.expect(try bench.delete("Author").found, is: 1)
    },
    ConformanceCase("order, limit and offset say which rows go; rows alone, too") { bench in
      let samples = try bench.inserted("Sample", (0..<5).map { ["required": .integer(Int64($0))] })
      let window = try bench.request(
        "Sample", sort: [bench.sort("Sample", "required", .integer, descending: true)], limit: 2, offset: 1)
      let outcome = try bench.connection.deleteAll(BatchDelete(request: window), in: bench.model)
      bench.expect(Set(outcome.deleted.map(\.key)), is: Set([samples[3], samples[2]].map(\.storedKey)))
      try bench.expectRows("Sample", [samples[0], samples[1], samples[4]])
      bench.expect(
        try bench.delete("Sample", bench.compare("Sample", "required", .less, .integer(1), .integer)).found, is: 1)
      try bench.expectRows("Sample", [samples[1], samples[4]])
    },
  ]
}

extension Bench {
  func update(
    _ request: StoreRequest, _ property: String, _ value: Operand, refused: QueryPredicate? = nil
  ) throws -> BatchOutcome {
    let number = try self.property(model.entities[request.entity], property).index
    return try connection.updateAll(
      BatchUpdate(request: request, assignments: [.init(property: number, value: value)], refused: refused), in: model)
  }

  fileprivate func delete(_ entity: String, _ predicate: QueryPredicate? = nil) throws -> BatchOutcome {
    try connection.deleteAll(BatchDelete(request: request(entity, predicate)), in: model)
  }
}
