import Testing
import Trellis
import TrellisTestSupport
import TrellisTesting

/// Rehearsals with the steps of a program, right and wrong ones.
@Suite("Rehearsals of steps in Swift") struct RehearsedStepTests {
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

  @Test func formerVersions() throws {
    var rehearsal = try MigrationRehearsal(of: .journal, history: "Journal.history", migration: Self.steps)
    rehearsal.changedBySteps = ["Note.tags", "Person"]
    let report = try rehearsal.run()
    #expect(report.findings.isEmpty, "\(report)")
    #expect(report.runs.map(\.version) == [1, 2] && report.omissions.isEmpty, "\(report)")
  }

  @Test("the sample of the guide stands here")
  func guide() throws {
    #expect(try GuideText("Rehearsing.md").samples(missingFrom: #filePath) == [])
  }

  private func findings(_ body: @escaping @Sendable (DataMigration<JournalHistory.V2>) throws -> Void) throws
    -> [RehearsalFinding]
  {
    let policy = MigrationPolicy.automatic {
      MigrationStep(upTo: JournalHistory.V2.self) { migration in
        try body(migration)
        try migration.unite(Person.self, by: \.name)
      }
    }
    var rehearsal = try MigrationRehearsal(of: .journal, history: "Journal.history", migration: policy)
    rehearsal.changedBySteps = ["Note.tags", "Person"]
    return try rehearsal.run().findings
  }

  private struct Broken: Error {}

  @Test("a step that throws is found, with the step")
  func throwing() throws {
    let found = try findings { _ in throw Broken() }
    #expect(found.count == 1 && found[0].code == .refused && found[0].versions == [1, 2], "\(found)")
    #expect(found[0].message.contains("the step up to version 2"))
  }

  @Test("a step that changes what it should not is found, with the property")
  func values() throws {
    let found = try findings { migration in
      for note in try migration.context.fetch(Note.all) { note.headline = "" }
    }
    let kinds = Set(found.map { "\($0.code) \($0.subject)" })
    #expect(kinds == ["value-changed Note.headline", "value-changed Letter.headline"], "\(found)")
    #expect(found.allSatisfy { $0.advice.contains("`changedBySteps`") })
  }

  @Test("a step that deletes objects, or takes links, is found")
  func objects() throws {
    let deleted = try findings { migration in
      if let note = try migration.context.first(Note.all) { try migration.context.delete(note) }
    }
    #expect(deleted.contains { $0.code == .objectLost }, "\(deleted)")
    let unlinked = try findings { migration in
      for note in try migration.context.fetch(Note.all) { note.mentions.removeAll() }
    }
    #expect(unlinked.contains { $0.code == .linkLost && $0.subject == "Note.mentions" }, "\(unlinked)")
    let reordered = try findings { migration in
      for note in try migration.context.fetch(Note.all) where note.mentions.count > 1 {
        note.mentions.move(from: 0, to: note.mentions.count - 1)
      }
    }
    #expect(reordered.contains { $0.code == .orderChanged && $0.subject == "Note.mentions" }, "\(reordered)")
  }

  @Test("a step that does nothing where it is needed is found by the rule that remains broken")
  func missing() throws {
    var rehearsal = try MigrationRehearsal(
      of: .journal, history: "Journal.history",
      migration: .automatic { MigrationStep(upTo: JournalHistory.V2.self) { _ in } })
    rehearsal.objects = 40
    let report = try rehearsal.run()
    #expect(report.findings.allSatisfy { $0.code == .refused || $0.code == .ruleBroken }, "\(report)")
  }
}
