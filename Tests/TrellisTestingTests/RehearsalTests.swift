import Foundation
import Testing
import TrellisDynamic
import TrellisModel
import TrellisModelFile
import TrellisRuntime
import TrellisTestSupport
import TrellisTesting

@testable import TrellisStorage

/// Rehearsals of a small app in four versions, and the same with one fault each.
@Suite("Rehearsals of migrations") struct RehearsalTests {
  /// The four versions, of which the last one is not released.
  private struct Versions {
    var texts: [String]

    init() {
      func model(_ entry: String, _ rest: String = "") -> String {
        """
        { "model": "M", \(rest)"enums": { "Mood": { "type": "string", "cases": ["calm", "sad", "angry"] } }, "entities": {
          "Entry": {
            "attributes": { \(entry)"mood": "Mood?", "stars": { "type": "int64", "min": 0, "max": 999 } },
            "relationships": {
              "tags": { "destination": "Tag", "inverse": "entries", "toMany": true, "ordered": true },
              "book": { "destination": "Book", "inverse": "entries", "optional": true }
            }
          },
          "Draft": { "parent": "Entry", "attributes": { "due": "date?" } },
          "Tag": {
            "attributes": { "name": "string" }, "unique": ["name"],
            "relationships": { "entries": { "destination": "Entry", "inverse": "tags", "toMany": true } }
          },
          "Book": {
            "attributes": { "title": "string" },
            "relationships": { "entries": { "destination": "Entry", "inverse": "book", "toMany": true, "ordered": true } }
          }
        } }
        """
      }
      let headline = #""headline": { "type": "string", "maxLength": 60, "renamedFrom": "title" }, "#
      let summary = #""summary": { "type": "string", "backfill": "title + '!'" }, "#
      texts = [
        model(#""title": { "type": "string", "maxLength": 60 }, "#),
        model(#""title": { "type": "string", "maxLength": 60 }, "# + summary),
        model(headline + summary), model(headline + summary + #""place": "string?", "#),
      ]
    }

    /// Changes the text of a version and of those after it.
    mutating func change(_ text: String, to other: String, from version: Int = 4, to last: Int = 4) {
      for number in (version - 1)..<last {
        #expect(texts[number].contains(text), "version \(number + 1) has no \(text)")
        texts[number] = texts[number].replacing(text, with: other)
      }
    }

    func rehearsal() throws -> MigrationRehearsal {
      let models = try texts.map { text in
        let result = ModelFile.parse(Array(text.utf8), path: "M.model.json")
        return try #require(result.description, "\(result.rendered())")
      }
      let files = models.dropLast().enumerated().map { number, model in
        let version = ReleasedModel(model, number: number + 1, released: "2026-03-02")
        return ModelHistory.File(path: ModelHistory.fileName(of: number + 1), bytes: Array(version.fileText.utf8))
      }
      var rehearsal = try MigrationRehearsal(of: ObjectModel(dynamic: models[3]), history: ModelHistory(files))
      rehearsal.seeds = [TestSettings.seed()]
      return rehearsal
    }
  }

  @Test("nothing is found of versions that account for everything, and what they consent to is announced")
  func fine() throws {
    var versions = Versions()
    versions.change(#""place": "string?", "#, to: #""place": "string?", "stars2": "int64?", "#)
    versions.change(#", "stars": { "type": "int64", "min": 0, "max": 999 } },"#, to: #" }, "removed": ["stars"],"#)
    let report = try versions.rehearsal().run()
    #expect(report.findings.isEmpty && report.omissions.isEmpty, "\(report)")
    #expect(report.runs.map(\.version) == [1, 2, 3] && report.runs.allSatisfy { $0.outcome == .announced })
    #expect(report.runs.map(\.steps) == [3, 2, nil])
    #expect(report.runs.allSatisfy { $0.objects >= 80 && $0.objectsAfter == $0.objects })
    #expect(report.announced.map(\.subject) == ["Entry.stars", "Draft.stars"])
    #expect(report.announced.allSatisfy { $0.versions == [1, 2, 3] && $0.code == .valueLost && $0.count >= 60 })
    #expect("\(report)" == "3 stores, 8 migrations, 0 findings")
  }

  // MARK: Faults of programs

  /// Statements that a faulty program would run in the migrated store, with what they lead to.
  private static let tampering: [(sql: String, code: RehearsalFinding.Code, subject: String)] = [
    (
      "UPDATE Entry SET mood = NULL WHERE _id = (SELECT min(_id) FROM Entry WHERE mood IS NOT NULL)", .valueLost,
      "Entry.mood"
    ),
    (
      "UPDATE Entry SET headline = headline || '.' WHERE _id = (SELECT min(_id) FROM Entry)", .valueChanged,
      "Entry.headline"
    ),
    ("UPDATE Entry SET stars = 999 - stars WHERE _entity = 'Draft'", .valueChanged, "Draft.stars"),
    (#"UPDATE Entry SET "Draft.due" = "Draft.due" + 1"#, .valueChanged, "Draft.due"),
    ("DELETE FROM _Entry_tags", .linkLost, "Entry.tags"),
    ("DELETE FROM _Entry_tags WHERE entries = (SELECT min(entries) FROM _Entry_tags)", .linkLost, "Tag.entries"),
    ("UPDATE _Entry_tags SET _tags_order = -_tags_order", .orderChanged, "Entry.tags"),
    ("UPDATE Entry SET _book_order = -_book_order", .orderChanged, "Book.entries"),
    ("UPDATE Entry SET book = NULL, _book_order = NULL", .linkLost, "Entry.book"),
    (
      "UPDATE Entry SET book = (SELECT max(_id) FROM Book), _book_order = _id WHERE _id = "
        + "(SELECT min(_id) FROM Entry WHERE book IS NULL)", .linkAdded, "Entry.book"
    ),
    (
      "INSERT INTO Book SELECT (SELECT max(_id) FROM (SELECT _id FROM Book UNION SELECT _id FROM Entry)) + 1, 1, 'x'",
      .objectAdded, "Book"
    ),
    (
      "DELETE FROM _Entry_tags WHERE tags = (SELECT max(_id) FROM Tag); DELETE FROM Tag WHERE _id = (SELECT max(_id) FROM Tag)",
      .objectLost, "Tag"
    ),
    ("UPDATE Entry SET _entity = 'Entry', \"Draft.due\" = NULL WHERE _entity = 'Draft'", .entityChanged, "Draft"),
    ("UPDATE Entry SET stars = 1000 WHERE _id = (SELECT min(_id) FROM Entry)", .ruleBroken, "Entry.stars"),
    ("UPDATE Entry SET mood = 'bored' WHERE _entity = 'Draft'", .ruleBroken, "Draft.mood"),
    ("UPDATE Entry SET summary = 'x'", .pathsDiffer, "Entry.summary"),
    ("UPDATE Entry SET place = 'x'", .pathsDiffer, "Draft.place"),
  ]

  @Test("a fault of a program is found, with its kind and place", arguments: tampering.indices)
  func tampered(_ number: Int) throws {
    let fault = Self.tampering[number]
    var rehearsal = try Versions().rehearsal()
    rehearsal.didMigrate = { migration in
      guard migration.to == nil, !migration.isStepwise, migration.from == 1 else { return }
      let options = OpenOptions(durability: .relaxed, busyTimeoutMilliseconds: 100, isReadOnly: false)
      let database = try Database(path: migration.url.path, options: options)
      for sql in fault.sql.split(separator: ";") { try database.execute(String(sql), doing: "tamper") }
    }
    let report = try rehearsal.run()
    let found = report.findings.first { $0.code == fault.code && $0.subject == fault.subject }
    #expect(found != nil, "\(fault): \(report)")
    #expect(found.map { $0.versions == [1] && $0.count > 0 && !$0.advice.isEmpty } ?? true, "\(report)")
    #expect(report.findings.allSatisfy { $0.versions == [1] } && report.runs.first?.outcome == .findings, "\(report)")
  }

  @Test("what a former program in between does is told with its version")
  func between() throws {
    var rehearsal = try Versions().rehearsal()
    rehearsal.didMigrate = { migration in
      guard migration.to == 2 else { return }
      let options = OpenOptions(durability: .relaxed, busyTimeoutMilliseconds: 100, isReadOnly: false)
      try Database(path: migration.url.path, options: options).execute("UPDATE Entry SET stars = 0", doing: "tamper")
    }
    let report = try rehearsal.run()
    let found = report.findings.first { $0.code == .valueChanged && $0.subject == "Entry.stars" }
    #expect(found?.program == 2, "\(report)")
    let parting = report.findings.first { $0.code == .pathsDiffer && $0.subject == "Entry.stars" }
    #expect(parting?.message.contains("the ways part at version 2") == true, "\(report)")
  }

  // MARK: Faults of models

  @Test("a name that is not told refuses stores, and the answer is the advice")
  func refused() throws {
    var versions = Versions()
    let headline = #""headline": { "type": "string", "maxLength": 60, "renamedFrom": "title" }"#
    versions.change(headline, to: #""caption": "string?""#)
    versions.change(#""backfill": "title + '!'""#, to: #""default": """#)
    let report = try versions.rehearsal().run()
    #expect(report.findings.map(\.code) == [.refused, .refused], "\(report)")
    #expect(Set(report.findings.map(\.subject)) == ["Entry.title", "Entry.headline"], "\(report)")
    let answer = #""renamedFrom": "headline""#
    #expect(report.findings.contains { $0.subject == "Entry.headline" && $0.advice.contains(answer) }, "\(report)")
    #expect(report.runs.allSatisfy { $0.objectsAfter == nil && $0.outcome == .findings })
  }

  @Test("a required attribute without a value for former rows is found")
  func unanswered() throws {
    var versions = Versions()
    versions.change(#""place": "string?""#, to: #""place": "string""#)
    let report = try versions.rehearsal().run()
    let found = try #require(report.findings.first)
    #expect(report.findings.count == 1 && found.code == .refused && found.subject == "Entry.place")
    #expect(found.versions == [1, 2, 3] && found.advice.contains("backfill"), "\(found)")
  }

  @Test("another backfill than a version has used parts the ways, and that version is named")
  func backfill() throws {
    var versions = Versions()
    versions.change("title + '!'", to: "title + '?'")
    let report = try versions.rehearsal().run()
    let found = try #require(report.findings.first)
    #expect(
      report.findings.map(\.code) == [.pathsDiffer, .pathsDiffer] && found.subject == "Draft.summary", "\(report)")
    #expect(found.versions == [1] && found.message.contains("the ways part at version 2"), "\(report)")
  }

  @Test("a former name of something else parts the ways")
  func wrongName() throws {
    var versions = Versions()
    // In version 3, the place was what version 4 takes for the title.
    versions.change(
      #""renamedFrom": "title" }, "#, to: #""renamedFrom": "title" }, "subtitle": "string?", "#, from: 2 + 1, to: 3)
    versions.change(
      #""renamedFrom": "title" }, "#,
      to: #""default": "" }, "subtitle": { "type": "string?", "renamedFrom": "title" }, "#)
    let report = try versions.rehearsal().run()
    #expect(
      report.findings.contains { $0.code == .pathsDiffer && $0.subject == "Entry.subtitle" && $0.versions == [1, 2] },
      "\(report)")
  }

  @Test("a case that became another one than before parts the ways")
  func cases() throws {
    var versions = Versions()
    let cases = #"["calm", "sad", "angry"]"#
    versions.change(cases, to: #"["calm", { "name": "low", "renamedFrom": ["sad", "angry"] }]"#, from: 3, to: 3)
    versions.change(
      cases,
      to: #"["calm", { "name": "low", "renamedFrom": "sad" }, { "name": "fierce", "renamedFrom": "angry" }]"#)
    let report = try versions.rehearsal().run()
    #expect(report.findings.contains { $0.code == .pathsDiffer && $0.subject == "Entry.mood" }, "\(report)")
  }

  @Test("a stricter rule is announced by the plan, and no finding")
  func warned() throws {
    var versions = Versions()
    versions.change(#""max": 999"#, to: #""max": 10"#)
    let report = try versions.rehearsal().run()
    #expect(report.findings.isEmpty, "\(report)")
    #expect(
      Set(report.announced.map(\.subject)) == ["Entry.stars", "Draft.stars"]
        && report.announced.allSatisfy { $0.code == .ruleBroken })
  }

  @Test("values that cannot be kept in a new type refuse, or are announced with consent")
  func lossy() throws {
    var versions = Versions()
    versions.change(#""stars": { "type": "int64", "min": 0, "max": 999 }"#, to: #""stars": "bool""#)
    let refused = try versions.rehearsal().run()
    #expect(refused.findings.map(\.subject) == ["Entry.stars"] && refused.findings[0].code == .refused, "\(refused)")
    versions.change(#""stars": "bool""#, to: #""stars": { "type": "bool", "default": false, "convert": "lossy" }"#)
    let announced = try versions.rehearsal().run()
    #expect(announced.findings.isEmpty && announced.announced.contains { $0.subject == "Entry.stars" }, "\(announced)")
  }

  // MARK: Bounds and folders

  @Test("without time, everything is listed as left out")
  func time() throws {
    var rehearsal = try Versions().rehearsal()
    rehearsal.timeLimit = .zero
    let report = try rehearsal.run()
    #expect(report.runs.isEmpty && report.omissions.count == 3)
    #expect(report.omissions.first.map { "\($0)".hasSuffix("The time was over.") } == true)
  }

  @Test("kept stores are rehearsed on copies, and files that are none are named")
  func kept() throws {
    let folder = try TestFolder()
    let versions = Versions()
    let description = try #require(ModelFile.parse(Array(versions.texts[1].utf8), path: "M").description)
    let url = folder.file("user.sqlite")
    let container = try PersistentContainer(model: ObjectModel(dynamic: description), store: .sqlite(at: url))
    try container.newContext().seed(5, seed: 9)
    container.close()
    try PersistentContainer(
      model: ObjectModel(dynamic: ModelDescription(name: "Other", entities: [EntityDescription("A")])),
      store: .sqlite(at: folder.file("others.sqlite"))
    ).close()
    try Data("no store".utf8).write(to: folder.file("notes.txt"))
    let bytes = try Data(contentsOf: url)
    var rehearsal = try versions.rehearsal()
    rehearsal.stores = folder.url
    rehearsal.seeds = []
    let report = try rehearsal.run()
    #expect(
      report.findings.isEmpty && report.runs.map(\.store) == ["user.sqlite"] && report.runs[0].version == 2, "\(report)"
    )
    #expect(report.omissions.map(\.subject) == ["notes.txt", "others.sqlite"])
    #expect(try Data(contentsOf: url) == bytes)
  }

  @Test("a folder without versions is an error that tells how to make one")
  func noHistory() throws {
    let model = try #require(ModelFile.parse(Array(Versions().texts[0].utf8), path: "M").description)
    let error = try #require(throws: RehearsalError.self) {
      try MigrationRehearsal(of: ObjectModel(dynamic: model), history: "Nowhere.history")
    }
    #expect(error.description.contains("trellis release"))
  }
}
