import Foundation
import Testing
import Trellis
import TrellisRuntime
import TrellisTestSupport

@testable import TrellisStorage

@Suite("Steps of migrations in Swift") struct StepTests {
  /// Makes tags of the texts, and unites persons with the same name.
  private static let steps = MigrationPolicy.automatic {
    MigrationStep(upTo: JournalHistory.V2.self) { migration in
      let context = migration.context
      try migration.forEach(JournalHistory.V2.Note.self) { old in
        let note = try migration.object(Note.self, for: old)
        note.summary = try [old.author?.name, old.mood?.rawValue, old.photo.map { "\($0.count) bytes" }]
          .compactMap(\.self).joined(separator: ", ")
        for name in old.tagList {
          let tag = try context.first(Tag.where { $0.name == name }) ?? Tag(in: context, name: name)
          tag.uses += 1
          note.tags.append(tag)
        }
      }
      try migration.unite(Person.self, by: \.name)
    }
  }

  /// The samples of Docs/MigrationSteps.md, as they stand there.
  private enum Samples {
    static let steps = MigrationPolicy.automatic {
      MigrationStep(upTo: JournalHistory.V2.self) { migration in
        let context = migration.context
        try migration.forEach(JournalHistory.V2.Note.self) { old in
          let note = try migration.object(Note.self, for: old)
          for name in old.tagList {
            let tag = try context.first(Tag.where { $0.name == name }) ?? Tag(in: context, name: name)
            note.tags.append(tag)
          }
        }
        try migration.unite(Person.self, by: \.name)
      }
    }

    static func opened(_ url: URL) throws -> PersistentContainer {
      let container = try PersistentContainer(model: .journal, store: .sqlite(at: url, migration: steps))
      return container
    }
  }

  @Test("the samples of the guide are those here, and do what it says")
  func guide() throws {
    #expect(try GuideText("MigrationSteps.md").samples(missingFrom: #filePath) == [])
    let store = try FormerStore(.file)
    try store.fill(version: 2)
    let container = try Samples.opened(store.url)
    #expect(
      try container.newContext().fetch(Tag.all.sorted { $0.name }).map(\.name) == ["day 0", "day 2", "sea", "sun"])
    #expect(try container.newContext().count(Person.all) == 2)
  }

  private func opened(_ store: FormerStore, _ policy: MigrationPolicy = steps) throws -> PersistentContainer {
    try PersistentContainer(model: .journal, store: store.configuration(policy))
  }

  private func notes(_ container: PersistentContainer) throws -> [String] {
    let context = container.newContext()
    defer { withExtendedLifetime(context) {} }
    return try context.fetch(Note.all.sorted { $0.headline }).map { note in
      let mentions = note.mentions.map(\.name).joined(separator: "+")
      return "\(note.headline) by \(note.author?.name ?? "nobody"): "
        + "\(note.tags.map { "\($0.name) \($0.uses)" }.sorted().joined(separator: "+")) [\(mentions)] \(note.summary)"
    }
  }

  @Test(
    "a step sees former rows and current objects at once, and may unite what must be unique",
    arguments: FormerKind.present)
  func tagsAndPersons(_ kind: FormerKind) throws {
    let store = try FormerStore(kind)
    try store.fill(version: 2)
    let plan = try #require(try MigrationPlan(of: store.configuration(Self.steps), to: .journal))
    #expect(plan.questions.isEmpty)
    #expect(plan.description.contains("version 2"))
    let container = try opened(store)
    #expect(
      try notes(container) == [
        "Letter by Ben: sun 1 [] Ben",
        "Note 0 by Ada: day 0 1+sea 2 [Ben+Ada] Ada, good, 500 bytes",
        "Note 1 by Ben:  [] Ben, good",
        "Note 2 by Ada: day 2 1+sea 2 [] Ada, good",
      ])
    let context = container.newContext()
    let people = try context.fetch(Person.all.sorted { $0.name })
    #expect(people.map(\.name) == ["Ada", "Ben"])
    #expect(people.map { $0.notes.count } == [2, 2])
    #expect(try container.check().isEmpty)
    container.close()
    // The step does not run again.
    #expect(try MigrationPlan(of: store.configuration(Self.steps), to: .journal) == nil)
    let again = try opened(store)
    #expect(try again.newContext().fetch(Tag.all.sorted { $0.name }).map(\.uses) == [1, 1, 2, 1])
  }

  @Test(
    "a store that is older than the step's version is read as if it were of that version", arguments: FormerKind.present
  )
  func olderStore(_ kind: FormerKind) throws {
    let store = try FormerStore(kind)
    try store.fill(version: 1)
    let container = try opened(store)
    #expect(
      try notes(container) == ["Note 0 by Ada:  [Ben+Ada] Ada", "Note 1 by Ben:  [] Ben", "Note 2 by Ada:  [] Ada"])
    container.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: store.url.deletingLastPathComponent().path)
    #expect(names.filter { $0.contains("migrating") }.isEmpty)
    #expect(try MigrationPlan(of: store.configuration(Self.steps), to: .journal) == nil)
  }

  private struct Mistake: Error {}

  @Test("a step that fails leaves the store as it was", arguments: FormerKind.present)
  func failure(_ kind: FormerKind) throws {
    let store = try FormerStore(kind)
    try store.fill(version: 2, notes: 1_200)
    let before = try store.contents()
    let policy = MigrationPolicy.automatic {
      MigrationStep(upTo: JournalHistory.V2.self) { migration in
        var count = 0
        try migration.forEach(JournalHistory.V2.Note.self) { old in
          try migration.object(Note.self, for: old).headline = "changed"
          count += 1
          if count == 1_100 { throw Mistake() }
        }
      }
    }
    let error = #expect(throws: StoreError.self) { try opened(store, policy) }
    #expect(error?.code == .stepFailed)
    #expect(error?.message.contains("version 2") == true && error?.message.contains("Mistake") == true)
    #expect(try store.contents() == before)
    let old = try store.configuration().open(FormerStore.model(2))
    defer { old.close() }
    #expect(try old.connect().count(StoreRequest(entity: 0)) == 1_201)
  }

  @Test("rows that a step leaves with the same unique value refuse the migration", arguments: FormerKind.present)
  func notUnited(_ kind: FormerKind) throws {
    let store = try FormerStore(kind)
    try store.fill(version: 2)
    let before = try store.contents()
    let policy = MigrationPolicy.automatic { MigrationStep(upTo: JournalHistory.V2.self) { _ in } }
    let error = #expect(throws: StoreError.self) { try opened(store, policy) }
    #expect(error?.code == .notUnique)
    #expect(error?.properties == ["name"])
    #expect(try store.contents() == before)
  }

  @Test("a new store needs no step, not even when its model changes", arguments: FormerKind.present)
  func newStore(_ kind: FormerKind) throws {
    let store = try FormerStore(kind)
    let container = try opened(store)
    let context = container.newContext()
    _ = Tag(in: context, name: "sea")
    try context.save()
    container.close()
    // A program with version 2 finds that the store is newer.
    let error = #expect(throws: StoreError.self) { try store.configuration().open(FormerStore.model(2)) }
    #expect(error?.code == .newerModel)
    let again = try opened(store)
    #expect(try again.newContext().fetch(Tag.all).map(\.uses) == [0])
  }

  @Test("what a step deletes follows the delete rules, and a save in a step is checked", arguments: FormerKind.present)
  func rules(_ kind: FormerKind) throws {
    let store = try FormerStore(kind)
    try store.fill(version: 2)
    let policy = MigrationPolicy.automatic {
      MigrationStep(upTo: JournalHistory.V2.self) { migration in
        let context = migration.context
        for person in try context.fetch(Person.where { $0.name == "Ada" }) { try context.delete(person) }
        try context.save()
      }
    }
    let container = try opened(store, policy)
    #expect(try notes(container) == ["Letter by Ben:  [] ", "Note 1 by Ben:  [] "])
    #expect(try container.check().isEmpty)
  }

  @Test("former rows have their relationships in both directions, and those of child entities their own values")
  func formerRelationships() throws {
    let store = try FormerStore(.file)
    try store.fill(version: 2)
    let policy = MigrationPolicy.automatic {
      MigrationStep(upTo: JournalHistory.V2.self) { migration in
        typealias V2 = JournalHistory.V2
        let people = try migration.rows(V2.Person.self)
        #expect(try people.map { try $0.notes.map(\.headline) } == [["Note 0"], ["Letter", "Note 1"], ["Note 2"]])
        let notes = try migration.rows(V2.Note.self)
        #expect(notes.map(\.entityName) == ["Letter", "Note", "Note", "Note"])
        #expect(try notes.map { try $0.cast(to: V2.Letter.self)?.address } == ["Rome", nil, nil, nil])
        #expect(try notes[1].mentions.map(\.name) == ["Ben", "Ada"])
        #expect(try notes[1].mentions.map { try $0.notes.count } == [2, 1])
        #expect(try migration.count(V2.Note.self) == 4)
        try migration.unite(Person.self, by: \.name, keeping: .newest)
      }
    }
    let container = try opened(store, policy)
    #expect(try container.newContext().fetch(Person.all.sorted { $0.name }).map { $0.objectID.key } == [3, 2])
  }

  @Test("a step is told that the migration is cancelled, and the store stays as it was", arguments: FormerKind.present)
  func cancelling(_ kind: FormerKind) throws {
    let store = try FormerStore(kind)
    try store.fill(version: 2, notes: 1_200)
    let before = try store.contents()
    let observer = MigrationObserver()
    let policy = MigrationPolicy.automatic {
      MigrationStep(upTo: JournalHistory.V2.self) { migration in
        try migration.forEach(JournalHistory.V2.Note.self) { _ in observer.cancel() }
      }
    }
    let configuration = store.configuration(policy)
    let observed = StoreConfiguration { try configuration.openObserved($0, observer) }
    let error = #expect(throws: StoreError.self) { try PersistentContainer(model: .journal, store: observed) }
    #expect(error?.code == .cancelled)
    #expect(try store.contents() == before)
  }
}
