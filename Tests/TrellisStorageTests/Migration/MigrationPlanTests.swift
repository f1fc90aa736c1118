import Testing
import TrellisModel

@testable import TrellisStorage

@Suite("The plan of a migration") struct MigrationPlanTests {
  private struct Counts: MigrationCounts {
    var rowCount = 10
    var valueCount = 10
    var misfitCount = 0
    var misfitCases: [StoredValue: Int] = [:]

    func rows(of entity: Int) -> Int { rowCount }
    func missing(column: Int, in entity: Int) -> Int { rowCount - valueCount }
    func blanks(column: Int, of move: RowMove) -> Int { rowCount - valueCount }
    func misfits(_ source: StoredColumn, in entity: Int) -> Misfits {
      var misfits = Misfits()
      for (value, count) in misfitCases { misfits.add(count, of: value) }
      if misfitCases.isEmpty { misfits.add(misfitCount, first: Array([2, 7].prefix(misfitCount))) }
      return misfits
    }
    func lost(_ loss: Loss) -> Int { loss.subject == .rows ? rowCount : valueCount }
    func lostPairs(of link: Int) -> Int { misfitCount }
    func breaches(of bound: Int) -> Int? { misfitCount }
    func duplicates(of key: NewKey) -> NewKey.Duplicates {
      NewKey.Duplicates(count: misfitCount, rows: misfitCount > 0 ? [[4, 9]] : [])
    }
  }

  private func plan(
    _ before: [EntityDescription], _ after: [EntityDescription], removed: [String] = [], _ counts: Counts? = Counts()
  ) throws -> MigrationPlan {
    let stored = try Model(ModelDescription(name: "Diary", entities: before))
    let current = try Model(ModelDescription(name: "Diary", entities: after, removed: removed))
    return try MigrationPlan(Migration(from: stored, to: current), counts: counts)
  }

  private func entry(_ attributes: [AttributeDescription], removed: [String] = []) -> EntityDescription {
    EntityDescription("Entry", attributes: attributes, removed: removed)
  }

  private func told(_ plan: MigrationPlan) -> [String] { plan.steps.map { "\($0.subject): \($0.text)" } }

  private func answers(_ plan: MigrationPlan) -> [String] {
    plan.questions.compactMap { if case .asks(let question) = $0.risk { question.answer } else { nil } }
  }

  @Test("an unchanged model has no steps")
  func unchanged() throws {
    let model = [entry([.init("title", .string)])]
    #expect(try plan(model, model).steps == [])
  }

  @Test("a new attribute asks only if it is required, has no default, and there are rows")
  func newAttribute() throws {
    let before = [entry([])]
    func risks(_ attribute: AttributeDescription, _ counts: Counts?) throws -> [MigrationPlan.Risk] {
      try plan(before, [entry([attribute])], counts).steps.map(\.risk)
    }
    #expect(try risks(.init("stars", .int16, optional: true), Counts()) == [.none])
    #expect(try risks(.init("stars", .int16, default: .value(.integer(0))), Counts()) == [.none])
    #expect(try risks(.init("id", .uuid, default: .new), Counts()) == [.rewrites(rows: 10)])
    #expect(try risks(.init("stars", .int16), Counts(rowCount: 0)) == [.none])
    for counts in [Counts(), nil] {
      let plan = try plan(before, [entry([.init("stars", .int16)])], counts)
      #expect(answers(plan) == ["Write \"backfill\" or \"default\" at Entry.stars, or make it optional."])
    }
  }

  @Test("what is gone asks with the line to write, the likely rename first, unless no row has a value")
  func gone() throws {
    let before = [entry([.init("mood", .string, optional: true)])]
    let after = [entry([.init("feeling", .string, optional: true)])]
    let asked = try plan(before, after)
    #expect(
      told(asked) == ["Entry.feeling: string, new", "Entry.mood: has no place in this model, and there are 10 values"])
    #expect(
      answers(asked) == [
        "Write \"renamedFrom\": \"mood\" at Entry.feeling if it is now called so; write \"removed\": [\"mood\"] in Entry "
          + "if its values may go."
      ])
    #expect(try plan(before, after, Counts(valueCount: 0)).questions == [])
    let consenting = try plan(before, [entry([], removed: ["mood"])])
    #expect(consenting.steps.map(\.risk) == [.loses(count: 10)] && consenting.questions == [])
  }

  @Test("a narrowed type asks only if values do not fit and the model does not consent")
  func types() throws {
    let before = [entry([.init("amount", .double)])]
    let after = [entry([.init("amount", .decimal)])]
    #expect(try plan(before, after).steps.map(\.risk) == [.rewrites(rows: 10)])
    #expect(
      answers(try plan(before, after, Counts(misfitCount: 3))) == [
        "Write \"convert\": \"lossy\" at Entry.amount if they may go, with a \"backfill\" or \"default\" in their place, or "
          + "convert them in a step."
      ])
    // Consent is not asked for twice.
    let unfilled = [entry([.init("amount", .decimal, lossy: true)])]
    #expect(
      answers(try plan(before, unfilled, Counts(misfitCount: 3))) == [
        "Write a \"backfill\" or \"default\" at Entry.amount, which takes their place, or make it optional, or convert "
          + "them in a step."
      ])
    let lossy = [entry([.init("amount", .decimal, default: .value(.text("0")), lossy: true)])]
    #expect(try plan(before, lossy, Counts(misfitCount: 3)).steps.map(\.risk) == [.loses(count: 3)])
    #expect(try plan([entry([.init("n", .int16)])], [entry([.init("n", .int64)])]).steps.map(\.risk) == [.none])
  }

  @Test("an enum with other cases is told if values change or are lost")
  func cases() throws {
    func model(_ cases: [EnumDescription.Case], lossy: Bool = false) throws -> Model {
      let mood = AttributeDescription("mood", .enumeration("Mood"), optional: true, lossy: lossy)
      return try Model(
        ModelDescription(
          name: "Diary", enums: [EnumDescription("Mood", rawType: .string, cases: cases)], entities: [entry([mood])]))
    }
    let (sad, glad) = (EnumDescription.Case("sad", .text("sad")), EnumDescription.Case("glad", .text("glad")))
    func plan(_ current: Model, sad count: Int = 0) throws -> MigrationPlan {
      let counts = Counts(misfitCases: count == 0 ? [:] : [.text("sad"): count])
      return try MigrationPlan(Migration(from: model([sad, glad]), to: current), counts: counts)
    }
    #expect(try plan(model([glad, sad, .init("calm", .text("calm"))])).steps == [])
    #expect(try plan(model([glad])).questions == [])
    let asked = try plan(model([glad]), sad: 3)
    #expect(
      told(asked) == ["Entry.mood: other cases of Mood, and 3 values have no counterpart: sad (3 values)"])
    #expect(
      answers(asked) == [
        "Write \"renamedFrom\": \"sad\" at the case of Mood that they become, or \"convert\": \"lossy\" at Entry.mood if "
          + "they may go."
      ])
    let united = try plan(model([.init("glad", .text("glad"), renamedFrom: ["happy"])]), sad: 3)
    #expect(
      answers(united) == [
        "Write \"renamedFrom\": \"sad\" at the case of Mood that they become, in a list with its other former names, or "
          + "\"convert\": \"lossy\" at Entry.mood if they may go."
      ])
    let lossy = try plan(model([glad], lossy: true), sad: 3)
    #expect(lossy.steps.map(\.risk) == [.loses(count: 3)])
    #expect(told(lossy) == ["Entry.mood: other cases of Mood, without sad (3 values)"])
    let renamed = try plan(model([.init("blue", .text("blue"), renamedFrom: ["sad"]), glad]))
    #expect(told(renamed) == ["Entry.mood: other cases of Mood"] && renamed.steps.map(\.risk) == [.rewrites(rows: 10)])
  }

  @Test("a type that has nothing in common is a new attribute, and the loss of the former one")
  func never() throws {
    let plan = try plan([entry([.init("amount", .double)])], [entry([.init("amount", .uuid, optional: true)])])
    #expect(
      told(plan) == [
        "Entry.amount: double → uuid, optional",
        "Entry.amount: cannot become what is now called so, and there are 10 values",
      ])
    #expect(answers(plan) == ["Write \"convert\": \"lossy\" at Entry.amount if its values may go."])
  }

  @Test("an optional attribute may become required if every row has a value or there is a default")
  func required() throws {
    let before = [entry([.init("title", .string, optional: true)])]
    let after = [entry([.init("title", .string)])]
    #expect(try plan(before, after).questions == [])
    #expect(
      told(try plan(before, after, Counts(valueCount: 7))) == ["Entry.title: required, and 3 rows have no value"])
    let filled = [entry([.init("title", .string, default: .value(.text("")))])]
    #expect(try plan(before, filled, Counts(valueCount: 7)).steps.map(\.risk) == [.rewrites(rows: 10)])
  }

  @Test("a new unique key is blocked by rows with the same values, which are named")
  func uniqueKey() throws {
    let before = [entry([.init("title", .string)])]
    let after = [EntityDescription("Entry", attributes: [.init("title", .string)], uniqueKeys: [["title"]])]
    #expect(told(try plan(before, after)) == ["Entry.title: unique"])
    let blocked = try plan(before, after, Counts(misfitCount: 2))
    #expect(
      told(blocked) == ["Entry.title: unique, and 2 values are stored more than once: Entry/4 and Entry/9; …"])
    #expect(blocked.refusal(of: "x")?.code == .notUnique)
    #expect(try plan(after, after, Counts(misfitCount: 2)).steps == [])
  }

  @Test("a whole entity that is gone asks, and goes if the model says so")
  func entities() throws {
    let before = [entry([]), EntityDescription("Draft", attributes: [.init("text", .string)])]
    let asked = try plan(before, [entry([])])
    #expect(asked.questions.map(\.subject) == ["Draft"])
    #expect(answers(asked) == ["Write \"removed\": [\"Draft\"] in the model if its rows may go."])
    let consenting = try plan(before, [entry([])], removed: ["Draft"])
    #expect(consenting.steps.map(\.risk) == [.loses(count: 10)])
    let renamed = try plan(
      before, [entry([]), EntityDescription("Sketch", attributes: [.init("text", .string)], renamedFrom: ["Draft"])])
    #expect(told(renamed) == ["Sketch: renamed from Draft"])
  }
}
