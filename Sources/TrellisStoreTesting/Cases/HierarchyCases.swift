import TrellisModel
import TrellisStorage

enum HierarchyCases {
  static let all = [
    ConformanceCase("an entity's fetch brings the entities below it, each row with its own entity and columns") {
      bench in
      let zoo = try bench.zoo()
      try bench.expectRows("Animal", zoo)
      try bench.expectRows("Dog", [zoo[0], zoo[1]])
      try bench.expectRows("Puppy", [zoo[1]])
      try bench.expectRows("Cat", [zoo[2]])
    },
    ConformanceCase("without subentities only the entity's own rows come") { bench in
      let zoo = try bench.zoo()
      bench.expect(try bench.keys(bench.request("Dog", subentities: false)), is: [zoo[0].storedKey])
      bench.expect(try bench.keys(bench.request("Animal", subentities: false)), is: [])
    },
    ConformanceCase("rows by key are found through an ancestor, and not through a stranger") { bench in
      let zoo = try bench.zoo()
      var found: Set<Int64> = []
      try bench.connection.rows(of: bench.entity("Animal").index, keys: zoo.map(\.storedKey)) { found.insert($0.key) }
      bench.expect(found, is: Set(zoo.map(\.storedKey)))
      try bench.connection.rows(of: bench.entity("Cat").index, keys: [zoo[0].storedKey]) { _ in
        bench.fail("a dog is no cat", line: #line)
      }
    },
    ConformanceCase("a predicate reads an inherited and an own property") { bench in
      let zoo = try bench.zoo()
      try bench.expect("Dog", bench.compare("Dog", "breed", .equal, .text("corgi"), .text), matches: [zoo[0], zoo[1]])
      try bench.expect("Puppy", bench.compare("Puppy", "name", .equal, .text("Pip"), .text), matches: [zoo[1]])
      try bench.expect(
        "Animal", bench.compare("Animal", "name", .greater, .text("Pip"), .text), matches: [zoo[0], zoo[2]])
    },
    ConformanceCase("members of a relationship to an ancestor are of all its entities") { bench in
      let author = try bench.inserted("Author", [["name": .text("a")]])[0]
      let zoo = try bench.zoo()
      for animal in zoo { animal["owner"] = .integer(author.storedKey) }
      try bench.save(update: zoo.map { ($0, ["owner"]) })
      bench.expect(try bench.members("Author", "pets", of: author), is: zoo.map(\.storedKey))
    },
  ]
}

extension Bench {
  /// A dog, a puppy and a cat.
  fileprivate func zoo() throws -> [Record] {
    let zoo = [
      try new("Dog", ["name": .text("Rex"), "chip": .integer(1), "Dog.breed": .text("corgi")]),
      try new("Puppy", ["name": .text("Pip"), "Dog.breed": .text("corgi"), "Puppy.weeks": .integer(9)]),
      try new("Cat", ["name": .text("Tom"), "Cat.lives": .integer(7)]),
    ]
    try save(insert: zoo)
    return zoo
  }
}
