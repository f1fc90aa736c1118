import Foundation
import Testing
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisRuntime
import TrellisTestSupport

@Suite("Unique keys by which an import finds nothing") struct TakenKeyTests {
  private static let model = """
    { "model": "K", "entities": {
      "User": { "json": { "key": "n" },
        "attributes": { "n": { "type": "int64", "json": "id" }, "email": "string?", "first": "string?", "last": "string?",
          "age": "int16?" },
        "relationships": { "team": { "destination": "Team", "inverse": "members", "optional": true, "json": true },
          "pets": { "destination": "Pet", "inverse": "owner", "toMany": true, "deleteRule": "cascade", "json": true } },
        "unique": ["n", "email", ["first", "last"]] },
      "Admin": { "parent": "User", "json": { "key": "n" }, "attributes": { "badge": "string?" }, "unique": ["badge"] },
      "Team": { "json": { "key": "name" }, "attributes": { "name": "string" },
        "relationships": { "members": { "destination": "User", "toMany": true, "inverse": "team" } }, "unique": ["name"] },
      "Pet": { "json": { "key": "tag" }, "attributes": { "tag": "string", "chip": "int32?" },
        "relationships": { "owner": { "destination": "User", "inverse": "pets" } }, "unique": ["tag", "chip"] } } }
    """

  private static let start =
    #"[{"id": 1, "email": "x", "first": "A", "last": "B"}, {"id": 2, "email": "a", "age": 4}]"#
  private static let users = ["1 x A B -", "2 a - - 4"]
  private static let filler = (1000..<3100).map { "{\"id\": \($0)}" }

  private func users(_ shelf: DynamicShelf) throws -> [String] {
    try shelf.list("User", ["n", "email", "first", "last", "age"]).filter { $0.prefix { $0 != " " }.count < 4 }
  }

  @Test(
    "an object is found by its mapping key alone: another key that is taken is a rejection",
    arguments: ImportTargetKind.allCases)
  func taken(_ kind: ImportTargetKind) throws {
    for policy in MergePolicy.allCases {
      let shelf = try DynamicShelf(Self.model, kind)
      try shelf.take(Self.start)
      let report = try shelf.take(
        #"[{"id": 3, "email": "a"}, {"id": 4, "last": "B", "first": "A"}, {"id": 5, "age": 1}]"#, "User", policy)
      #expect(report.counts == [1, 0, 0, 0, 2, 0], "\(policy)")
      #expect(report.rejected.map(\.code) == [.unique, .unique])
      #expect(report.rejected.map { $0.place?.pointer } == ["/0/email", "/1/first"])
      #expect(report.rejected.map(\.property) == ["email", "first, last"])
      #expect(try users(shelf) == Self.users + ["5 - - - 1"], "\(policy)")
    }
  }

  @Test(
    "a stored object that takes a value of another one is rejected, and stays as it is", arguments: MergePolicy.allCases
  )
  func takenByStored(_ policy: MergePolicy) throws {
    let shelf = try DynamicShelf(Self.model)
    try shelf.take(#"[{"id": 1, "email": "x"}, {"id": 2, "age": 4}]"#)
    let report = try shelf.take(#"[{"id": 2, "email": "x", "age": 5, "first": "F"}]"#, "User", policy)
    switch policy {
    case .error: #expect(report.rejected.map(\.code) == [.exists])
    case .rollback: #expect(report.counts == [0, 0, 1, 0, 0, 0])
    default: #expect(report.counts == [0, 0, 0, 0, 1, 0] && report.rejected.map(\.code) == [.unique], "\(policy)")
    }
    #expect(try users(shelf) == ["1 x - - -", "2 - - - 4"])
  }

  @Test("of two new objects with one value the first is imported", arguments: ImportTargetKind.allCases)
  func twoNew(_ kind: ImportTargetKind) throws {
    for policy in MergePolicy.allCases {
      let shelf = try DynamicShelf(Self.model, kind)
      let report = try shelf.take(
        #"[{"id": 3, "email": "a", "age": 1}, {"id": 4, "email": "a", "age": 2}]"#, "User", policy)
      #expect(report.counts == [1, 0, 0, 0, 1, 0] && report.rejected[0].place?.pointer == "/1/email", "\(policy)")
      #expect(try users(shelf) == ["3 a - - 1"])
    }
  }

  @Test("rejecting everything saves nothing and tells each value that is taken")
  func everything() throws {
    let shelf = try DynamicShelf(Self.model)
    try shelf.take(Self.start)
    let error = #expect(throws: JSONImportError.self) {
      try shelf.take(
        #"[{"id": 3, "email": "a"}, {"id": 4, "email": "n"}, {"id": 5, "email": "n"}]"#, rejecting: .everything)
    }
    #expect(error?.failures.map(\.code) == [.unique, .unique])
    #expect(error?.failures.allSatisfy { $0.place != nil } == true)
    #expect(try users(shelf) == Self.users)
    let report = try shelf.take(#"[{"id": 1, "email": "a"}, {"id": 2, "email": "x"}]"#, rejecting: .everything)
    #expect(report.counts == [0, 2, 0, 0, 0, 0])
  }

  @Test("values are exchanged, and freed by an earlier or a later record", arguments: ImportTargetKind.allCases)
  func exchanged(_ kind: ImportTargetKind) throws {
    for between in [[], Self.filler] {
      for (elements, wanted, counts) in [
        ([#"{"id": 1, "email": "a"}"#, #"{"id": 2, "email": "x"}"#], ["1 a A B -", "2 x - - 4"], [0, 2]),
        ([#"{"id": 1, "email": "a"}"#, #"{"id": 2, "email": null}"#], ["1 a A B -", "2 - - - 4"], [0, 2]),
        (
          [#"{"id": 2, "email": null}"#, #"{"id": 3, "email": "a"}"#], ["1 x A B -", "2 - - - 4", "3 a - - -"], [1, 1]
        ),
        (
          [#"{"id": 3, "email": "a", "team": {"name": "t"}}"#, #"{"id": 2, "email": "z"}"#],
          ["1 x A B -", "2 z - - 4", "3 a - - -"], [2, 1]
        ),
      ] as [([String], [String], [Int])] {
        if case .store(.json) = kind, !between.isEmpty { continue }
        let shelf = try DynamicShelf(Self.model, kind)
        try shelf.take(Self.start)
        let all = [elements[0]] + between + [elements[1]]
        let report = try shelf.take(all.joined(separator: "\n"), lines: true)
        #expect(try users(shelf) == wanted, "\(elements) \(between.count)")
        #expect(report.rejected.isEmpty && report.unresolved.isEmpty, "\(report.rejected)")
        #expect(
          [report.inserted.count - between.count, report.updated.count] == counts, "\(elements) \(between.count)")
      }
    }
  }

  @Test("what waits for a value keeps its links, to and from it", arguments: [false, true])
  func heldLinks(_ isFreed: Bool) throws {
    let shelf = try DynamicShelf(Self.model)
    try shelf.take(Self.start)
    try shelf.take(#"[{"id": 1, "pets": [{"tag": "p", "chip": 1}], "team": {"name": "old"}}]"#)
    let first = #"{"id": 3, "email": "a", "pets": ["p", {"tag": "q", "chip": 2}], "team": {"name": "t"}}"#
    let last = isFreed ? #"{"id": 2, "email": null}"# : #"{"id": 2}"#
    let report = try shelf.take(([first] + Self.filler + [last]).joined(separator: "\n"), lines: true)
    if isFreed {
      #expect(report.rejected.isEmpty)
      #expect(try shelf.list("Pet", ["tag", "chip", "owner.n"]) == ["p 1 3", "q 2 3"])
      #expect(try shelf.list("Team", ["name", "members.n"]) == ["old 1", "t 3"])
    } else {
      #expect(report.rejected.first?.code == .unique)
      #expect(report.rejected.allSatisfy { $0.place?.line == 1 }, "\(report.rejected)")
      #expect(try shelf.list("Pet", ["tag", "chip", "owner.n"]) == ["p 1 1"])
    }
  }

  @Test("a value of an object that is lost is free", arguments: [[], Self.filler])
  func freedByDelete(_ between: [String]) throws {
    let shelf = try DynamicShelf(Self.model)
    try shelf.take(#"[{"id": 1, "pets": [{"tag": "p", "chip": 1}]}]"#)
    let elements = [#"{"id": 1, "pets": [{"tag": "q", "chip": 1}]}"#] + between
    let report = try shelf.take(elements.joined(separator: "\n"), lines: true)
    #expect(report.rejected.isEmpty, "\(report.rejected)")
    #expect(try shelf.list("Pet", ["tag", "chip"]) == ["q 1"])
  }

  @Test("a key of an entity binds its children")
  func hierarchies() throws {
    let shelf = try DynamicShelf(Self.model)
    try shelf.take(#"[{"id": 1, "email": "a", "badge": "b"}]"#, "Admin")
    #expect(try shelf.take(#"[{"id": 2, "email": "a"}]"#).rejected.map(\.code) == [.unique])
    #expect(try shelf.take(#"[{"id": 3, "email": "a"}, {"id": 4, "badge": "b"}]"#, "Admin").rejected.count == 2)
    #expect(try shelf.take(#"[{"id": 5, "email": "e"}]"#, "Admin").inserted.count == 1)
    #expect(try shelf.take(#"[{"id": 6, "email": "e"}, {"id": 7, "email": "f"}]"#).counts == [1, 0, 0, 0, 1, 0])
  }

  @Test("a chain of values is exchanged, or rejected where it ends at an object that keeps its value")
  func chains() throws {
    let shelf = try DynamicShelf(Self.model)
    let count = 40
    try shelf.take("[" + (0..<count).map { "{\"id\": \($0), \"email\": \"e\($0)\"}" }.joined(separator: ",") + "]")
    let turned = (0..<count).map { "{\"id\": \($0), \"email\": \"e\(($0 + 1) % count)\"}" }
    #expect(try shelf.take("[" + turned.joined(separator: ",") + "]").counts == [0, count, 0, 0, 0, 0])
    let again = (0..<count - 1).map { "{\"id\": \($0), \"email\": \"e\(($0 + 2) % count)\"}" }
    let report = try shelf.take("[" + again.joined(separator: ",") + "]")
    #expect(report.rejected.count == count - 1 && report.updated.isEmpty)
  }

  @Test("an object that another writer inserts meanwhile is the one of the document")
  func concurrentInsert() throws {
    let shelf = try DynamicShelf(Self.model)
    let other = shelf.container.newContext()
    var report: JSONImportReport?
    var isFirst = true
    report = try shelf.context.importJSON(
      entity: 0, from: Data(#"[{"id": 1, "age": 3}, {"id": 2}]"#.utf8), rejecting: .everything
    ) { _ in
      guard isFirst else { return }
      isFirst = false
      _ = try? other.importJSON(entity: 0, from: Data(#"{"id": 1, "email": "o"}"#.utf8))
    }
    #expect(report?.counts == [1, 1, 0, 0, 0, 0])
    #expect(try users(shelf) == ["1 o - - 3", "2 - - - -"])
  }
}
