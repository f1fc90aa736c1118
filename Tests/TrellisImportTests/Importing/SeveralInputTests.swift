import Foundation
import Testing
import Trellis
import TrellisDynamic
import TrellisJSON
import TrellisTestSupport

@Suite("Imports of several inputs") struct SeveralInputTests {
  /// An author requires a first book, and a book an author. A prize is in a ring with one more entity between.
  private static let model = """
    { "model": "Letters", "entities": {
      "Author": { "json": { "key": "id" }, "attributes": { "id": "int64", "name": "string?", "mail": "string?" },
        "relationships": {
          "firstBook": { "destination": "Book", "inverse": "firstOf", "json": "first_book" },
          "books": { "destination": "Book", "inverse": "author", "toMany": true },
          "mentor": { "destination": "Author", "inverse": "pupils", "optional": true, "json": true },
          "pupils": { "destination": "Author", "inverse": "mentor", "toMany": true },
          "prizes": { "destination": "Prize", "inverse": "holder", "toMany": true } },
        "unique": [["id"], ["mail"]] },
      "Book": { "json": { "key": "isbn" }, "attributes": { "isbn": "string", "pages": "int16?" },
        "relationships": {
          "author": { "destination": "Author", "inverse": "books", "json": true },
          "firstOf": { "destination": "Author", "inverse": "firstBook", "optional": true } },
        "unique": ["isbn"] },
      "Prize": { "json": { "key": "name" }, "attributes": { "name": "string" },
        "relationships": { "holder": { "destination": "Author", "inverse": "prizes", "json": true },
          "jury": { "destination": "Jury", "inverse": "prize", "json": true } }, "unique": ["name"] },
      "Jury": { "json": { "key": "name" }, "attributes": { "name": "string" },
        "relationships": { "prize": { "destination": "Prize", "inverse": "jury", "json": true } }, "unique": ["name"] },
      "Node": { "json": { "key": "id" }, "attributes": { "id": "int64" },
        "relationships": { "next": { "destination": "Node", "inverse": "former", "json": true },
          "former": { "destination": "Node", "inverse": "next", "toMany": true } }, "unique": ["id"] } } }
    """

  private static let authors =
    #"[{"id": 1, "name": "Kim", "first_book": "a"}, {"id": 2, "name": "Lee", "first_book": "c"}]"#
  private static let books =
    #"[{"isbn": "a", "author": 1}, {"isbn": "b", "author": 1, "pages": 9}, {"isbn": "c", "author": 2}]"#

  @Test("an input says what its elements are, and where")
  func description() {
    let library = JSONInput(entity: 1, from: Data(), named: "library", at: "books[*]")
    #expect("\(library)" == "entity 1 of library at books[*]")
    let file = JSONInput(ManagedObject.self, from: URL(filePath: "/tmp/books.ndjson"))
    #expect("\(file)" == "ManagedObject of books.ndjson")
  }

  private func pair(_ shelf: DynamicShelf, _ isReversed: Bool) throws -> [JSONInput] {
    let inputs = [
      try shelf.input("Author", Self.authors, "authors.json"), try shelf.input("Book", Self.books, "books.json"),
    ]
    return isReversed ? inputs.reversed() : inputs
  }

  private func expectPair(_ shelf: DynamicShelf) throws {
    #expect(try shelf.list("Author", ["id", "name", "firstBook.isbn"]) == ["1 Kim a", "2 Lee c"])
    #expect(try shelf.list("Book", ["isbn", "pages", "author.id"]) == ["a - 1", "b 9 1", "c - 2"])
  }

  // MARK: Objects that require each other

  @Test("objects that require each other come from separate inputs, in any order", arguments: ImportTargetKind.allCases)
  func pairs(_ kind: ImportTargetKind) throws {
    for isReversed in [false, true] {
      for rejecting in [JSONRejection.objects, .everything] {
        for pieces in [1, 7, 1 << 20] {
          let shelf = try DynamicShelf(Self.model, kind)
          let report = try shelf.take(together: pair(shelf, isReversed), rejecting: rejecting, pieces: pieces)
          #expect(report.counts == [5, 0, 0, 0, 0, 0])
          try expectPair(shelf)
          #expect(
            try shelf.take(together: pair(shelf, !isReversed), rejecting: rejecting).counts == [0, 0, 5, 0, 0, 0])
        }
      }
    }
  }

  @Test("one by one, the same inputs are rejected")
  func apart() throws {
    for isReversed in [false, true] {
      let shelf = try DynamicShelf(Self.model)
      for input in try pair(shelf, isReversed) {
        let report = try shelf.take(together: [input])
        #expect(report.inserted.isEmpty && Set(report.rejected.map(\.code)) == [.missingPartner])
      }
    }
  }

  @Test("a dry run in a child context tells the same, and writes nothing")
  func dryRun() throws {
    let shelf = try DynamicShelf(Self.model, .child)
    #expect(try shelf.take(together: pair(shelf, false)).counts == [5, 0, 0, 0, 0, 0])
    #expect(try shelf.container.newContext().objects("Author").isEmpty)
  }

  @Test("three entities in a ring come in each order, as documents, lines, and parts of one document")
  func rings() throws {
    let ring = [
      ("Author", "authors", #"{"id": 1, "first_book": "a"}"#), ("Book", "books", #"{"isbn": "a", "author": 1}"#),
      ("Prize", "prizes", #"{"name": "p", "holder": 1, "jury": "j"}"#),
      ("Jury", "jury", #"{"name": "j", "prize": "p"}"#),
    ]
    let whole = "{" + ring.map { "\"\($0.1)\": [\($0.2)]" }.joined(separator: ", ") + "}"
    for order in permutations(Array(ring.indices)) {
      for form in 0..<3 {
        let shelf = try DynamicShelf(Self.model)
        let inputs = try order.map { number in
          let (entity, name, text) = ring[number]
          return switch form {
          case 0: try shelf.input(entity, "[\(text)]", name)
          case 1: try shelf.input(entity, text + "\n", name, lines: true)
          default: try shelf.input(entity, whole, "whole", at: "\(name)[*]")
          }
        }
        #expect(try shelf.take(together: inputs).counts == [4, 0, 0, 0, 0, 0], "\(order) \(form)")
        #expect(try shelf.list("Jury", ["name", "prize.name"]) == ["j p"])
      }
    }
  }

  private func permutations(_ numbers: [Int]) -> [[Int]] {
    if numbers.isEmpty { return [[]] }
    return numbers.flatMap { first in permutations(numbers.filter { $0 != first }).map { [first] + $0 } }
  }

  @Test("a ring of objects of one entity may be spread over files")
  func ringOfOneEntity() throws {
    for order in permutations([0, 1, 2]) {
      let shelf = try DynamicShelf(Self.model)
      let inputs = try order.map { try shelf.input("Node", "{\"id\": \($0), \"next\": \(($0 + 1) % 3)}", "\($0)") }
      #expect(try shelf.take(together: inputs).counts == [3, 0, 0, 0, 0, 0])
      #expect(try shelf.list("Node", ["id", "next.id"]) == ["0 1", "1 2", "2 0"])
    }
  }

  @Test("inputs may be larger than a batch")
  func batches() throws {
    let numbers = 0..<2_300
    let authors = numbers.map { "{\"id\": \($0), \"first_book\": \"b\($0)\"}" }.joined(separator: "\n")
    let books = numbers.map { "{\"isbn\": \"b\($0)\", \"author\": \($0)}" }.joined(separator: ",\n")
    for isReversed in [false, true] {
      let shelf = try DynamicShelf(Self.model)
      var inputs = [
        try shelf.input("Author", authors, "authors", lines: true), try shelf.input("Book", "[\(books)]", "books"),
      ]
      if isReversed { inputs.reverse() }
      var seen: [JSONImportProgress] = []
      let report = try shelf.take(together: inputs) { seen.append($0) }
      #expect(report.counts == [4_600, 0, 0, 0, 0, 0])
      #expect(seen.map(\.bytes) == seen.map(\.bytes).sorted() && seen.map(\.elements).contains(2_300))
      #expect(seen.last?.bytes == authors.utf8.count + books.utf8.count + 2 && seen.last?.elements == 4_600)
      #expect(seen.allSatisfy { $0.totalBytes == seen.last?.bytes })
    }
  }

  // MARK: What is missing

  @Test("what no input has is told with its input and place, also where another input has a value at the same place")
  func missing() throws {
    let shelf = try DynamicShelf(Self.model)
    let inputs = [
      try shelf.input(
        "Book", "\u{FEFF}[{\"isbn\": \"a\", \"author\": 1},\n {\"isbn\": \"x\", \"author\": 7}]", "1.json"),
      try shelf.input("Book", "[{\"isbn\": \"b\", \"author\": 1},\n {\"isbn\": \"y\", \"author\": 8}]", "2.json"),
      try shelf.input("Author", "\n{\"id\": 1, \"first_book\": \"a\", \"mentor\": 9}", "3.json"),
      try shelf.input(
        "Author", "\n{\"id\": 3, \"first_book\": \"z\", \"mentor\": 1}\n{\"id\": ", "4.json", lines: true),
      try shelf.input("Author", "", "5.json"),
    ]
    for pieces in [1, 1 << 20] {
      let report = try shelf.take(together: inputs, pieces: pieces)
      #expect(report.counts.prefix(3) == (pieces == 1 ? [3, 0, 0] : [0, 0, 3]))
      #expect(
        report.rejected.map { "\($0)" }.sorted() == [
          "1.json:2:26 /1/author: Book.author: leads to no object of the input or the store [missing-partner]",
          "2.json:2:26 /1/author: Book.author: leads to no object of the input or the store [missing-partner]",
          "4.json:2:25 /first_book: Author.firstBook: leads to no object of the input or the store [missing-partner]",
          "4.json:3:7 /id: here a value should be, but the file ends [bad-syntax]",
          "5.json:1:1 /: the text ends before its JSON does [bad-syntax]",
        ])
      #expect(
        report.unresolved.map { "\($0)" } == [
          "3.json:2:40 /mentor: Author.mentor: leads to no object of the input or the store [missing-partner]"
        ])
    }
  }

  @Test("a missing object takes along all that require it, in each input")
  func missingInRing() throws {
    for isReversed in [false, true] {
      let shelf = try DynamicShelf(Self.model)
      var inputs = [
        try shelf.input("Author", #"[{"id": 1, "first_book": "a"}, {"id": 2, "first_book": "gone"}]"#, "authors"),
        try shelf.input("Book", #"[{"isbn": "a", "author": 1}, {"isbn": "b", "author": 2}]"#, "books"),
      ]
      if isReversed { inputs.reverse() }
      let report = try shelf.take(together: inputs)
      #expect(
        report.rejected.map { "\($0.place?.file ?? "-") \($0.place?.pointer ?? "-")" }.sorted() == [
          "authors /1/first_book", "books /1/author",
        ])
      #expect(try shelf.list("Book", ["isbn"]) == ["a"])
      let other = try DynamicShelf(Self.model)
      let error = #expect(throws: JSONImportError.self) { try other.take(together: inputs, rejecting: .everything) }
      #expect(Set(error?.failures.map { $0.place?.file } ?? []) == ["authors", "books"])
      #expect(try other.list("Author", ["id"]).isEmpty && other.list("Book", ["isbn"]).isEmpty)
    }
  }

  @Test("a problem of an object that was given twice, the second time inside of another one, has a place")
  func givenAgain() throws {
    let shelf = try DynamicShelf(Self.model)
    let report = try shelf.take(together: [
      shelf.input("Book", #"[{"isbn": "x", "author": null}, {"isbn": "a", "pages": 1, "author": 7}]"#, "1"),
      shelf.input("Author", #"[{"id": 1, "first_book": {"isbn": "a"}}, {"id": 2, "first_book": {"isbn": "x"}}]"#, "2"),
    ])
    #expect(
      Set(report.rejected.compactMap { "\($0.place.map { "\($0)" } ?? "-") \($0.code.rawValue)" }).isSuperset(of: [
        "1:1:26 /0/author missing-values", "1:1:69 /1/author missing-partner",
      ]), "\(report.rejected)")
    #expect(report.rejected.allSatisfy { $0.place != nil } && report.inserted.isEmpty)
  }

  @Test("an object that breaks a rule, found at the end, is told with its input")
  func brokenRule() throws {
    let model = Self.model.replacingOccurrences(
      of: #""name": "string?","#, with: #""name": { "type": "string?", "minLength": 1 },"#)
    for rejecting in [JSONRejection.objects, .everything] {
      let shelf = try DynamicShelf(model)
      let inputs = [
        try shelf.input("Author", #"[{"id": 1, "first_book": "a", "name": ""}]"#, "authors"),
        try shelf.input("Book", #"[{"isbn": "a", "author": 1}]"#, "books"),
      ]
      var failures: [JSONImportFailure] = []
      do {
        failures = try shelf.take(together: inputs, rejecting: rejecting).rejected
      } catch let error as JSONImportError { failures = error.failures }
      #expect(failures.contains { $0.code == .brokenRule && $0.place?.file == "authors" }, "\(failures)")
      #expect(failures.allSatisfy { $0.place != nil })
      #expect(try shelf.list("Author", ["id"]).isEmpty && shelf.list("Book", ["isbn"]).isEmpty)
    }
  }

  // MARK: Inputs about the same objects

  @Test(
    "an object of several inputs is imported as one that comes several times in one", arguments: MergePolicy.allCases)
  func sameObjects(_ policy: MergePolicy) throws {
    let parts = [
      #"{"id": 1, "name": "a", "first_book": {"isbn": "x", "author": 1}}"#, #"{"id": 1, "name": "b", "mail": "m"}"#,
      #"{"id": 2, "mentor": 1, "first_book": {"isbn": "y", "author": 2}}"#, #"{"id": 2, "mentor": null}"#,
    ]
    let (one, several) = (try DynamicShelf(Self.model), try DynamicShelf(Self.model))
    for shelf in [one, several] { try shelf.take(parts[0], "Author") }
    let whole = try one.take("[" + parts.joined(separator: ",") + "]", "Author", policy)
    let inputs = try parts.enumerated().map { try several.input("Author", $1, "\($0)") }
    let report = try several.take(together: inputs, policy)
    #expect(report.inserted.count == whole.inserted.count && report.rejected.count >= whole.rejected.count)
    if policy == .objectTrump || policy == .overwrite {
      #expect(report.counts == whole.counts)
      let names = ["id", "name", "mail", "mentor.id", "firstBook.isbn"]
      #expect(try several.list("Author", names) == one.list("Author", names))
    }
  }

  @Test("an input that is given twice changes nothing more, and each object is reported once")
  func givenTwice() throws {
    let shelf = try DynamicShelf(Self.model)
    let inputs = try pair(shelf, false)
    #expect(try shelf.take(together: inputs + inputs).counts == [5, 0, 0, 0, 0, 0])
    #expect(try shelf.take(together: [inputs[0], inputs[0]]).counts == [0, 0, 2, 0, 0, 0])
    try expectPair(shelf)
  }

  @Test("values of another unique key may be exchanged between inputs")
  func exchangedValues() throws {
    let shelf = try DynamicShelf(Self.model)
    try shelf.take(together: pair(shelf, false))
    try shelf.take(#"[{"id": 1, "mail": "m"}, {"id": 2, "mail": "n"}]"#, "Author")
    let report = try shelf.take(together: [
      shelf.input("Author", #"{"id": 1, "mail": "n"}"#, "1"), shelf.input("Author", #"{"id": 2, "mail": "m"}"#, "2"),
    ])
    #expect(report.rejected.isEmpty)
    #expect(try shelf.list("Author", ["id", "mail"]) == ["1 n", "2 m"])
  }

  // MARK: Objects that lose their owners

  @Test(
    "an object that one input takes from its owner, and another one gives to a new one, stays",
    arguments: [false, true])
  func moved(_ required: Bool) throws {
    let model = """
      { "model": "Zoo", "entities": {
        "User": { "json": { "key": "id" }, "attributes": { "id": "int64" }, "relationships": {
          "pets": { "destination": "Pet", "toMany": true, "inverse": "owner", "deleteRule": "cascade", "json": true } },
          "unique": ["id"] },
        "Pet": { "json": { "key": "tag" }, "attributes": { "tag": "string", "weight": "int32?" },
          "relationships": { "owner": { "destination": "User", "inverse": "pets"\(required ? "" : ", \"optional\": true") } },
          "unique": ["tag"] } } }
      """
    let losing = #"{"id": 1, "pets": ["b"]}"#
    for rejecting in [JSONRejection.objects, .everything] {
      for isReversed in [false, true] {
        let shelf = try DynamicShelf(model)
        try shelf.take(#"{"id": 1, "pets": [{"tag": "a", "weight": 7}, {"tag": "b"}]}"#)
        var inputs = [try shelf.input("User", losing, "1"), try shelf.input("User", #"{"id": 2, "pets": ["a"]}"#, "2")]
        if isReversed { inputs.reverse() }
        let report = try shelf.take(together: inputs, rejecting: rejecting)
        #expect(report.deleted.isEmpty && report.rejected.isEmpty)
        #expect(try shelf.list("Pet", ["tag", "weight", "owner.id"]) == ["a 7 2", "b - 1"])
      }
      let shelf = try DynamicShelf(model)
      try shelf.take(#"{"id": 1, "pets": [{"tag": "a", "weight": 7}, {"tag": "b"}]}"#)
      let report = try shelf.take(
        together: [shelf.input("User", losing, "1"), shelf.input("User", #"{"id": 3}"#, "2")], rejecting: rejecting)
      #expect(report.counts == [1, 1, 0, 1, 0, 0])
      #expect("\(report)" == "1 inserted, 1 updated, 0 unchanged, 1 deleted")
      #expect(try shelf.list("Pet", ["tag"]) == ["b"])
    }
  }

  // MARK: Inputs that cannot be read

  @Test("an input that ends in the midst of its JSON leaves what came before, and the other inputs")
  func brokenInput() throws {
    for isReversed in [false, true] {
      let shelf = try DynamicShelf(Self.model)
      var inputs = [
        try shelf.input("Author", #"[{"id": 1, "first_book": "a"}, {"id": 2, "#, "authors"),
        try shelf.input("Book", #"[{"isbn": "a", "author": 1}, {"isbn": "b", "author": 2}]"#, "books"),
      ]
      if isReversed { inputs.reverse() }
      let report = try shelf.take(together: inputs)
      #expect(
        Set(report.rejected.map { "\($0.place?.file ?? "-") \($0.code.rawValue)" }) == [
          "authors bad-syntax", "books missing-partner",
        ])
      #expect(try shelf.list("Book", ["isbn"]) == ["a"])
      #expect(throws: JSONImportError.self) { try shelf.take(together: inputs, rejecting: .everything) }
    }
  }

  private struct Unreadable: Error {}

  @Test("an input that cannot be read gives the import up: what batches have saved stays, and nothing else")
  func unreadable() throws {
    for rejecting in [JSONRejection.objects, .everything] {
      let shelf = try DynamicShelf(Self.model)
      let last = JSONInput(entity: 0, named: "last", layout: .document) { throw Unreadable() }
      let inputs = [try shelf.input("Node", #"[{"id": 1, "next": 1}, {"id": 2, "next": 3}]"#, "first"), last]
      #expect(throws: Unreadable.self) { try shelf.take(together: inputs, rejecting: rejecting) }
      #expect(try shelf.list("Node", ["id"]) == (rejecting == .objects ? ["1"] : []))
      // The context is as before.
      #expect(try shelf.take(together: [shelf.input("Node", #"{"id": 2, "next": 2}"#, "again")]).inserted.count == 1)
    }
  }

  @Test("a stream that ends with an error leaves nothing unsaved in the context")
  func cancelled() async throws {
    let shelf = try Shelf()
    // More than a batch of an import that saves once.
    let text = (0..<60_000).map { "{\"slug\": \"\($0)\"}\n" }.joined()
    let bytes = AsyncThrowingStream<UInt8, any Error> { stream in
      for byte in text.utf8 { stream.yield(byte) }
      stream.finish(throwing: CancellationError())
    }
    await #expect(throws: CancellationError.self) {
      try await shelf.context.importJSON(Publisher.self, from: bytes, layout: .lines, rejecting: .everything)
    }
    #expect(!shelf.context.hasChanges)
    #expect(try shelf.context.count(Publisher.all) == 0)
  }

  @Test("a file that is missing or a folder is found out before anything is imported")
  func missingFile() throws {
    let folder = try TestFolder()
    let file = folder.file("publishers.json")
    try Data(#"[{"slug": "sun"}]"#.utf8).write(to: file)
    let shelf = try Shelf()
    for bad in [folder.file("none.json"), folder.url] {
      #expect(throws: (any Error).self) {
        try shelf.context.importJSON([JSONInput(Publisher.self, from: file), JSONInput(Author.self, from: bad)])
      }
      #expect(try shelf.context.count(Publisher.all) == 0)
    }
  }

  @Test("an input with a path that leads to no elements is found out before anything is imported")
  func badPath() throws {
    let shelf = try Shelf()
    let good = JSONInput(Publisher.self, from: Data(#"[{"slug": "sun"}]"#.utf8), named: "good")
    let bad = JSONInput(Publisher.self, from: Data(), named: "bad", at: "a.*")
    #expect(throws: JSONImportError.self) { try shelf.context.importJSON([good, bad]) }
    #expect(try shelf.context.count(Publisher.all) == 0)
    #expect(try shelf.context.importJSON([]).inserted.isEmpty)
  }

  @Test("inputs are files and data, named by their last component or as said")
  func named() throws {
    let folder = try TestFolder()
    let file = folder.file("publishers.ndjson")
    try Data("{\"slug\": \"sun\"}\n{\"slug\": 1}\n".utf8).write(to: file)
    let shelf = try Shelf()
    let text = #"{"authors": [{"id": 1, "full_name": "a", "mentor": 2}], "others": [{"id": 2}]}"#
    var total: Int?
    let report = try shelf.context.importJSON([
      JSONInput(Author.self, from: Data(text.utf8), named: "answer", at: "authors[*]"),
      JSONInput(Author.self, from: Data(text.utf8), named: "answer", at: "others[*]"),
      JSONInput(Publisher.self, from: file), JSONInput(Publisher.self, from: file, named: "again"),
    ]) { total = $0.totalBytes }
    #expect(total == 2 * (text.utf8.count + 28))
    #expect(report.inserted.count == 2)
    #expect(
      (report.rejected + report.unresolved).map { "\($0.place.map { "\($0)" } ?? "-") \($0.code.rawValue)" }.sorted()
        == [
          "again:2:10 /slug bad-value", "answer:1:52 /authors/0/mentor missing-partner",
          "answer:1:68 /others/0 missing-values", "publishers.ndjson:2:10 /slug bad-value",
        ])
  }
}
