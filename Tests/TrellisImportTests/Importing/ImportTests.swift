import Foundation
import Testing
@_spi(Generated) import Trellis
import TrellisJSON
import TrellisTestSupport

@Suite("Importing JSON") struct ImportTests {
  private static let full = #"""
    {"id": 7, "full_name": "Kim \u0041", "life": {"born": "31.01.1990"}, "seen": 1700000000123,
     "contact": {"e-mail": "  Kim@Example.org ", "address": {"street": "Sea 1", "town": null}},
     "labels": [{"text": "a"}, null, {"text": "b"}], "scores": [1, 2.0, 3],
     "marks": [{"value": 1, "source": {"name": "web"}}, {"value": 4.5, "source": {"name": "press"}}],
     "prizes": [{"name": "Sun"}, {"name": "Moon"}], "genre": "poetry", "active": false, "fee": 12.50,
     "site": "https://example.org/kim", "token": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "photo": "SGk=",
     "motto": "not mapped", "phones": {"home": "1", "work": "2", "none": null},
     "works": [{"isbn": "x", "title": "X", "kind": {"name": "book"}, "pages": 10, "publisher": {"url": "/p/sun/"}},
               {"kind": {"name": "poem"}, "isbn": "y", "title": "Y", "lines": 4}],
     "friend_ids": [8], "mentor": {"id": 8, "full_name": "Lee"}}
    """#

  @Test("each mapped value arrives, from wherever it lies")
  func values() throws {
    let shelf = try Shelf()
    try shelf.context.importJSON(Publisher.self, from: Data(#"{"slug": "sun"}"#.utf8))
    let report = try shelf.take(Self.full)
    #expect(report.rejected.isEmpty && report.unresolved.isEmpty)
    #expect(report.inserted.count == 7)
    let kim = try shelf.author(7)
    #expect(kim.fullName == "Kim A" && kim.email == "kim@example.org" && kim.labels == ["a", "b"])
    #expect(kim.born == Date(timeIntervalSince1970: 633_744_000))
    #expect(kim.seen.map { ($0.timeIntervalSince1970 * 1000).rounded() } == 1_700_000_000_123)
    #expect(kim.scores == [1, 2, 3] && kim.rating == 4.5 && kim.first == "Sun" && kim.genre == .poetry && !kim.active)
    #expect(kim.fee == Decimal(string: "12.5") && kim.site?.absoluteString == "https://example.org/kim")
    #expect(kim.token?.uuidString == "E621E1F8-C36C-495A-93FC-0C247A3E6E5F" && kim.photo == Data("Hi".utf8))
    #expect(kim.motto == nil && kim.address?.street == "Sea 1")
    #expect(kim.phones.map(\.kind).sorted() == ["home", "work"])
    #expect(kim.works.map(\.isbn) == ["x", "y"] && kim.works.map(\.authorNumber) == [7, 7])
    #expect((kim.works.first as? Book)?.pages == 10 && kim.works.first?.publisher?.slug == "sun")
    #expect(kim.mentor?.fullName == "Lee" && kim.friends.map(\.number) == [8])
  }

  @Test("a second import of the same documents writes nothing", arguments: StoreKind.allCases)
  func unchanged(_ kind: StoreKind) throws {
    let folder = try TestFolder()
    let shelf = try Shelf(kind.configuration(in: folder))
    try shelf.take(Self.full)
    let before = try shelf.picture()
    let report = try shelf.take(Self.full)
    #expect(report.inserted.isEmpty && report.updated.isEmpty && report.unchanged.count == 7)
    #expect(try shelf.picture() == before)
    withExtendedLifetime(folder) {}
  }

  @Test("what is absent stays, and null clears, unless it keeps")
  func absentAndNull() throws {
    let shelf = try Shelf()
    try shelf.take(Self.full)
    try shelf.author(7).motto = "mine"
    try shelf.context.save()
    let report = try shelf.take(
      #"{"id": 7, "genre": null, "photo": null, "life": null, "mentor": null, "labels": [], "works": null}"#)
    #expect(report.updated.count == 1 && report.rejected.isEmpty)
    let kim = try shelf.author(7)
    #expect(kim.genre == nil && kim.photo != nil && kim.born == nil && kim.mentor == nil && kim.labels.isEmpty)
    #expect(kim.works.isEmpty && kim.motto == "mine" && kim.email == "kim@example.org")
    #expect(try shelf.context.count(Work.all) == 0)
  }

  @Test("members that belong to their owner go when the document has others; added ones stay")
  func members() throws {
    let shelf = try Shelf()
    try shelf.take(Self.full)
    try shelf.take(
      #"{"id": 7, "works": [{"isbn": "y"}, {"isbn": "z", "title": "Z", "kind": {"name": "book"}}], "phones": {"work": "3"}}"#
    )
    let kim = try shelf.author(7)
    #expect(kim.works.map(\.isbn) == ["y", "z"] && kim.phones.map(\.digits) == ["3"])
    #expect(try shelf.context.count(Work.all) == 2)
    let first = #"{"slug": "sun", "imprints": [{"slug": "ray"}]}"#
    let second = #"{"slug": "sun", "imprints": [{"slug": "beam"}]}"#
    try shelf.context.importJSON(Publisher.self, from: Data(first.utf8))
    try shelf.context.importJSON(Publisher.self, from: Data(second.utf8))
    #expect(
      try shelf.context.first(Publisher.where { $0.slug == "sun" })?.imprints.map(\.slug).sorted() == ["beam", "ray"])
  }

  @Test("a report, its objects and the progress print their numbers")
  func descriptions() throws {
    let shelf = try Shelf()
    try shelf.context.importJSON(Publisher.self, from: Data(#"{"slug": "sun"}"#.utf8))
    let report = try shelf.context.importJSON(
      Publisher.self, from: Data(#"[{"slug": "sun"}, {"slug": "moon"}, {"slug": 3}, []]"#.utf8))
    #expect(
      "\(report)"
        == "1 inserted, 0 updated, 1 unchanged, \(report.rejected.count) rejected" && !report.rejected.isEmpty)
    #expect("\(report.inserted)" == "1 × Publisher" && "\(report.updated)" == "no objects")
    var last = ""
    try shelf.context.importJSON(Publisher.self, from: Data(#"[{"slug": "sun"}]"#.utf8)) { last = "\($0)" }
    #expect(last == "1 elements, 17 of 17 bytes")
  }

  @Test("a nested object without a key is the one that its owner has")
  func keyless() throws {
    let shelf = try Shelf()
    try shelf.take(Self.full)
    let address = try #require(try shelf.author(7).address?.objectID)
    let report = try shelf.take(#"{"id": 7, "contact": {"address": {"street": "Sea 2"}}}"#)
    #expect(report.inserted.isEmpty)
    #expect(try shelf.author(7).address?.objectID == address)
    #expect(try shelf.author(7).address?.street == "Sea 2")
    try shelf.take(#"{"id": 7, "contact": {"address": null}}"#)
    #expect(try shelf.context.count(Address.all) == 0)
  }

  @Test("members without a key that are kept stay as they are, and come if there are none")
  func keptMembers() throws {
    let shelf = try Shelf()
    try shelf.take(#"{"id": 7, "full_name": "k", "notes": [{"text": "a"}, {"text": "b"}]}"#)
    let report = try shelf.take(#"{"id": 7, "notes": [{"text": "c"}, {"text": "d"}, {"text": "e"}]}"#)
    #expect(report.inserted.isEmpty && report.updated.isEmpty && report.rejected.isEmpty)
    #expect(try shelf.author(7).notes.map(\.text).sorted() == ["a", "b"])
    try shelf.take(#"{"id": 7, "notes": null}"#)
    #expect(try shelf.author(7).notes.map(\.text).sorted() == ["a", "b"])
    try shelf.take(#"[{"id": 8, "full_name": "l"}]"#)
    try shelf.take(#"[{"id": 8, "notes": [{"text": "x"}]}]"#)
    #expect(try shelf.author(8).notes.map(\.text) == ["x"])
  }

  @Test("the policy says what the input may change")
  func policies() throws {
    let change = #"{"id": 7, "full_name": "New", "life": {"born": "01.01.2000"}, "active": true}"#
    func kim(_ policy: MergePolicy) throws -> (name: String, born: Date?, email: String?, JSONImportReport) {
      let shelf = try Shelf()
      try shelf.take(Self.full)
      try shelf.author(7).born = nil
      try shelf.context.save()
      let report = try shelf.take(change, policy)
      let kim = try shelf.author(7)
      return (kim.fullName, kim.born, kim.email, report)
    }
    let trump = try kim(.objectTrump)
    #expect(trump.name == "New" && trump.born != nil && trump.email != nil && trump.3.updated.count == 1)
    let store = try kim(.storeTrump)
    #expect(store.name == "Kim A" && store.born != nil && store.email != nil)
    let rollback = try kim(.rollback)
    #expect(rollback.name == "Kim A" && rollback.born == nil && rollback.3.unchanged.count == 1)
    let overwrite = try kim(.overwrite)
    #expect(overwrite.name == "New" && overwrite.email == nil)
    let error = try kim(.error)
    #expect(error.name == "Kim A" && error.3.rejected.map(\.code) == [.exists])
  }

  // MARK: References

  @Test("references lead forward, also into a later batch, and to an object given twice")
  func forwardReferences() throws {
    let shelf = try Shelf()
    var lines = [#"{"id": 0, "full_name": "zero", "mentor": 1500, "friend_ids": [1500, 1, 1499]}"#]
    lines += (1...1500).map { #"{"id": \#($0), "full_name": "n\#($0)", "mentor": \#($0 - 1)}"# }
    lines.append(#"{"id": 0, "active": false}"#)
    let report = try shelf.take(lines.joined(separator: "\n"), layout: .lines)
    #expect(report.rejected.isEmpty && report.unresolved.isEmpty && report.inserted.count == 1501)
    let zero = try shelf.author(0)
    #expect(zero.mentor?.number == 1500 && !zero.active && zero.friends.map(\.number).sorted() == [1, 1499, 1500])
    #expect(try shelf.author(1500).mentor?.number == 1499)
  }

  @Test("an object that lacks something waits for the rest of the input")
  func completedLater() throws {
    let shelf = try Shelf()
    var lines = [#"{"id": 0, "friend_ids": [1]}"#]
    lines += (1...1200).map { #"{"id": \#($0), "full_name": "n\#($0)"}"# }
    lines.append(#"{"id": 0, "full_name": "zero"}"#)
    lines.append(#"{"id": 9999, "active": false}"#)
    let report = try shelf.take(lines.joined(separator: "\n"), layout: .lines)
    #expect(try shelf.author(0).friends.map(\.number) == [1])
    #expect(report.inserted.count == 1201)
    #expect(report.rejected.map(\.code) == [.missingValues])
    #expect(report.rejected.first?.place?.line == 1203)
    #expect(report.rejected.first?.property == "fullName")
  }

  @Test("a reference to nothing is told, and its object is imported without it")
  func unresolved() throws {
    let shelf = try Shelf()
    let report = try shelf.take(#"[{"id": 1, "full_name": "a", "mentor": 99, "friend_ids": [98, 1]}]"#)
    #expect(report.inserted.count == 1 && report.unresolved.count == 2)
    #expect(report.unresolved.map { $0.place?.pointer } == ["/0/friend_ids/0", "/0/mentor"])
    #expect(try shelf.author(1).mentor == nil)
    #expect(try shelf.author(1).friends.map(\.number) == [1])
  }

  @Test("a reference to nothing leaves a to-one as it is, whether its partner is stored or given before")
  func unresolvedBesidesAPartner() throws {
    let shelf = try Shelf()
    let text = #"[{"id": 1, "full_name": "a", "mentor": {"id": 2, "full_name": "b"}}, {"id": 1, "mentor": 99}]"#
    for _ in 0..<2 {
      let report = try shelf.take(text)
      #expect(report.unresolved.map { $0.place?.pointer } == ["/1/mentor"])
      #expect(try shelf.author(1).mentor?.number == 2)
    }
    let report = try shelf.take(#"[{"id": 1, "mentor": 99}]"#)
    #expect(report.updated.isEmpty && report.unresolved.count == 1)
    #expect(try shelf.author(1).mentor?.number == 2)
  }

  // MARK: Rejecting

  @Test("an object that cannot be imported is left out with its reason and place, and the others are imported")
  func rejectedObjects() throws {
    let shelf = try Shelf()
    let report = try shelf.take(
      #"""
      {"results": [
        {"id": 1, "full_name": "a", "scores": [1, 5000000000]},
        {"id": 2, "full_name": ""},
        {"full_name": "c"},
        {"id": 4, "full_name": "d", "genre": "drama", "active": 1},
        {"id": 5, "full_name": "e", "works": [{"isbn": "1", "title": "t", "kind": {"name": "film"}},
                                              {"isbn": "2", "title": "t", "kind": {"name": "book"}, "pages": 70000},
                                              {"isbn": "3", "title": "good", "kind": {"name": "book"}}]},
        7, {"id": 6, "full_name": "f"}
      ]}
      """#, at: "results[*]")
    #expect(
      report.rejected.map { "\($0.place?.pointer ?? "-") \($0.property ?? "-") \($0.code.rawValue)" }.sorted() == [
        "/results/0/scores scores bad-value", "/results/1/full_name fullName broken-rule",
        "/results/2 number missing-key", "/results/3/active active bad-value", "/results/3/genre genre bad-value",
        "/results/4/works/0 - wrong-entity", "/results/4/works/1/pages pages bad-value", "/results/5 - bad-value",
      ])
    #expect(try shelf.context.fetch(Author.all.sorted { $0.number }).map(\.number) == [5, 6])
    #expect(try shelf.author(5).works.map(\.isbn) == ["3"])
    #expect(!shelf.context.hasChanges)
  }

  @Test("a rejected member that the owner has stays as it is")
  func rejectedMember() throws {
    let shelf = try Shelf()
    try shelf.take(Self.full)
    let report = try shelf.take(
      #"{"id": 7, "works": [{"isbn": "y", "title": "New"}, {"isbn": "x", "kind": {"name": "book"}, "pages": "many"}]}"#)
    #expect(report.rejected.map(\.property) == ["pages"])
    #expect(try shelf.author(7).works.map(\.title) == ["New", "X"])
    #expect(try shelf.author(7).works.map(\.isbn) == ["y", "x"])
  }

  @Test("an object that breaks a rule is told once, also if it has a reference to nothing")
  func toldOnce() throws {
    let shelf = try Shelf()
    let report = try shelf.take(
      #"{"id": 4, "full_name": "", "friend_ids": [9], "works": [{"isbn": "z", "title": "Z", "kind": {"name": "book"}}]}"#
    )
    #expect(report.rejected.map { $0.place?.pointer } == ["/full_name", "/works/0"])
    #expect(try shelf.context.count(Author.all) == 0 && shelf.context.count(Work.all) == 0)
  }

  @Test("where the store is right, an object keeps its owner", arguments: MergePolicy.allCases)
  func owners(_ policy: MergePolicy) throws {
    let shelf = try Shelf()
    try shelf.take(Self.full)
    try shelf.take(#"{"id": 9, "full_name": "n", "works": [{"isbn": "x", "title": "New"}]}"#, policy)
    let isMoved = policy == .objectTrump || policy == .overwrite
    #expect(try shelf.author(9).works.map(\.isbn) == (isMoved ? ["x"] : []))
    #expect(try shelf.author(7).works.map(\.isbn) == (isMoved ? ["y"] : ["x", "y"]))
    #expect(try shelf.context.first(Work.where { $0.isbn == "x" })?.title == (isMoved ? "New" : "X"))
  }

  @Test("rejecting everything tells all problems, and saves nothing", arguments: [false, true])
  func rejectedAsAWhole(_ breaksRule: Bool) throws {
    let shelf = try Shelf()
    try shelf.take(#"{"id": 1, "full_name": "a"}"#)
    let bad = breaksRule ? #"{"id": 2, "full_name": ""}, {"id": 5, "full_name": ""}"# : #"{"id": 2}, {"id": true}"#
    let error = #expect(throws: JSONImportError.self) {
      try shelf.take(
        #"[{"id": 1, "full_name": "changed"}, \#(bad), {"id": 3, "full_name": "c"}]"#, rejecting: .everything)
    }
    #expect(
      Set(error?.failures.map { $0.place?.pointer } ?? [])
        == (breaksRule ? ["/1/full_name", "/2/full_name"] : ["/1", "/2/id"]))
    #expect(try shelf.context.fetch(Author.all).map(\.fullName) == ["a"])
    #expect(!shelf.context.hasChanges)
    let report = try shelf.take(#"[{"id": 1, "full_name": "b"}, {"id": 3, "full_name": "c"}]"#, rejecting: .everything)
    #expect(report.updated.count == 1 && report.inserted.count == 1)
  }

  @Test("a context with unsaved changes is left alone")
  func unsavedChanges() throws {
    let shelf = try Shelf()
    let author = Author(in: shelf.context, number: 1, fullName: "a")
    #expect(throws: JSONImportError.self) { try shelf.take("[]") }
    #expect(shelf.context.hasChanges && author.number == 1)
  }

  // MARK: Texts

  @Test("a text that is no JSON is told with its place; lines around it are imported")
  func badSyntax() throws {
    let shelf = try Shelf()
    let report = try shelf.take(
      "{\"id\": 1, \"full_name\": \"a\"}\n{\"id\": 2,, \"full_name\": \"b\"}\n\n{\"id\": 3, \"full_name\": \"c\"}\n",
      layout: .lines)
    #expect(report.rejected.map(\.code) == [.badSyntax])
    #expect(report.rejected.first?.place?.line == 2 && report.rejected.first?.place?.column == 10)
    #expect(try shelf.context.count(Author.all) == 2)
    #expect(try shelf.take(#"[{"id": 4, "full_name": "d"}, {"id": 5"#).rejected.map(\.code) == [.badSyntax])
    #expect(try shelf.take("").rejected.map(\.code) == [.badSyntax])
    #expect(try shelf.take("", layout: .lines).rejected.isEmpty)
    #expect(try shelf.take("\u{FEFF}[]").rejected.isEmpty)
    let utf16 = try shelf.context.importJSON(Author.self, from: Data([0xFF, 0xFE, 0x5B, 0, 0x5D, 0]))
    #expect(utf16.rejected.map(\.code) == [.badSyntax])
    let bytes = Data(#"[{"id": 6, "full_name": "x"#.utf8) + [0xFF] + Data(#""}]"#.utf8)
    #expect(try shelf.context.importJSON(Author.self, from: bytes).rejected.map(\.code) == [.badSyntax])
    let deep = String(repeating: "[", count: 100_000)
    #expect(try shelf.take(#"{"id": 7, "full_name": "g", "other": \#(deep)"#).rejected.map(\.code) == [.badSyntax])
  }

  @Test("of a key that comes twice the last value counts, whatever it is")
  func duplicateKeys() throws {
    let shelf = try Shelf()
    let report = try shelf.take(
      #"""
      {"id": 1, "id": 2, "full_name": 5, "full_name": "a", "labels": [{"text": "x"}], "labels": [{"text": "y"}],
       "mentor": {"id": 3, "full_name": "gone"}, "mentor": {"id": 4, "full_name": "m"},
       "works": [{"isbn": "1", "title": "t", "kind": {"name": "book"}}], "works": []}
      """#)
    #expect(report.rejected.isEmpty && report.inserted.count == 2)
    #expect(try shelf.author(2).labels == ["y"] && shelf.author(2).mentor?.number == 4)
    #expect(try shelf.context.count(Work.all) == 0)
  }

  @Test("numbers are exact")
  func numbers() throws {
    let shelf = try Shelf()
    let report = try shelf.take(
      #"[{"id": 9223372036854775807, "full_name": "a", "fee": 0.1}, {"id": -9007199254740993, "full_name": "b"}, {"id": 1.5, "full_name": "c"}, {"id": 9223372036854775808, "full_name": "d"}, {"id": 1e2, "full_name": "e"}]"#
    )
    #expect(report.rejected.count == 2)
    #expect(
      try shelf.context.fetch(Author.all.sorted { $0.number }).map(\.number) == [-9_007_199_254_740_993, 100, .max])
  }

  @Test("the bytes may come in pieces of any size", arguments: [1, 2, 3, 7, 64, 1000])
  func pieces(_ size: Int) async throws {
    let text = #"{"a": [0, {"b": "]}\"\\"}], "results": [\#(Self.full), {"id": 9, "full_name": "n"}], "z": "é"}"#
    let whole = try Shelf()
    try whole.take(text, at: "results[*]")
    let parts = try Shelf()
    let bytes = Array(text.utf8)
    let number = Author._entity
    _ = try parts.context.importJSON(entity: number, from: Data(bytes), at: "results[*]", pieces: size)
    #expect(try parts.picture() == whole.picture())
    let streamed = try Shelf()
    let stream = AsyncStream<UInt8> { continuation in
      for byte in bytes { continuation.yield(byte) }
      continuation.finish()
    }
    try await streamed.context.importJSON(Author.self, from: stream, at: "results[*]")
    #expect(try streamed.picture() == whole.picture())
  }

  @Test("a file is named in messages, and its kind is known by its name")
  func files() throws {
    let folder = try TestFolder()
    let file = folder.file("authors.ndjson")
    try Data("{\"id\": 1, \"full_name\": \"a\"}\n{\"id\": 2}\n".utf8).write(to: file)
    let shelf = try Shelf()
    var seen: [JSONImportProgress] = []
    let report = try shelf.context.importJSON(Author.self, from: file) { seen.append($0) }
    #expect(report.inserted.count == 1)
    #expect(report.rejected.first?.description.hasPrefix("authors.ndjson:2:1 /: Author.fullName") == true)
    #expect(seen.last?.bytes == seen.last?.totalBytes && seen.last?.elements == 2)
  }

  @Test("a live list shows what an import changes")
  func live() throws {
    let shelf = try Shelf()
    let live = try shelf.context.live(Author.all.sorted { $0.number })
    try shelf.take(#"[{"id": 1, "full_name": "a"}, {"id": 2, "full_name": "b"}]"#)
    #expect(live.map(\.fullName) == ["a", "b"])
    try shelf.take(#"[{"id": 2, "full_name": "c"}, {"id": 1, "full_name": "a"}]"#)
    #expect(live.map(\.fullName) == ["a", "c"])
  }
}
