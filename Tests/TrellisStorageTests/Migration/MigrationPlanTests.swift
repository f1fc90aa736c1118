import Testing
import TrellisModel
import TrellisStorage

@Suite("The plan of a migration") struct MigrationPlanTests {
  private struct Counts: MigrationCounts {
    var rowCount = 10
    var valueCount = 10
    var misfitCount = 0

    func rows(of entity: Int) -> Int { rowCount }
    func values(of property: Int, in entity: Int) -> Int { valueCount }
    func misfits(of property: Int, in entity: Int, _ conversion: ValueConversion) -> Int { misfitCount }
  }

  private func plan(
    _ before: [EntityDescription], _ after: [EntityDescription], removed: [String] = [], _ counts: Counts? = Counts()
  ) throws -> MigrationPlan {
    let stored = try Model(ModelDescription(name: "Diary", entities: before))
    let current = try Model(ModelDescription(name: "Diary", entities: after, removed: removed))
    return try MigrationPlan(ModelMatch(from: stored, to: current), counts: counts)
  }

  private func entry(_ attributes: [AttributeDescription], removed: [String] = []) -> EntityDescription {
    EntityDescription("Entry", attributes: attributes, removed: removed)
  }

  private func told(_ plan: MigrationPlan) -> [String] { plan.steps.map { "\($0.subject): \($0.text)" } }

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
    #expect(try risks(.init("stars", .int16, default: .value(.integer(0))), Counts()) == [.rewrites(rows: 10)])
    #expect(try risks(.init("stars", .int16), Counts(rowCount: 0)) == [.none])
    #expect(try risks(.init("stars", .int16), Counts()) == [.asks("write \"default\" at Entry.stars")])
    #expect(try risks(.init("stars", .int16), nil) == [.asks("write \"default\" at Entry.stars")])
  }

  @Test("what is gone asks with the line to write, the likely rename first, unless no row has a value")
  func gone() throws {
    let before = [entry([.init("mood", .string, optional: true)])]
    let after = [entry([.init("feeling", .string, optional: true)])]
    let asked = try plan(before, after)
    #expect(told(asked) == ["Entry.feeling: string, new", "Entry.mood: has no place in this model, and 10 rows have one"])
    #expect(
      asked.questions.map(\.risk) == [
        .asks(
          "write \"renamedFrom\": \"mood\" at feeling if it is now called so, or write \"removed\": [\"mood\"] in Entry "
            + "if it may go")
      ])
    #expect(try plan(before, after, Counts(valueCount: 0)).questions == [])
    let consenting = try plan(before, [entry([], removed: ["mood"])])
    #expect(consenting.steps.map(\.risk) == [.loses(values: 10)] && consenting.questions == [])
  }

  @Test("a narrowed type asks only if values do not fit, and what has nothing in common is impossible")
  func types() throws {
    let before = [entry([.init("amount", .double)])]
    let after = [entry([.init("amount", .decimal)])]
    #expect(try plan(before, after).steps.map(\.risk) == [.rewrites(rows: 10)])
    #expect(try plan(before, after, Counts(misfitCount: 3)).questions.count == 1)
    #expect(try plan(before, [entry([.init("amount", .uuid)])]).steps.map(\.risk) == [.impossible])
    #expect(try plan([entry([.init("n", .int16)])], [entry([.init("n", .int64)])]).steps.map(\.risk) == [.none])
  }

  @Test("an optional attribute may become required if every row has a value or there is a default")
  func required() throws {
    let before = [entry([.init("title", .string, optional: true)])]
    let after = [entry([.init("title", .string)])]
    #expect(try plan(before, after).questions == [])
    #expect(
      try plan(before, after, Counts(valueCount: 7)).questions.map(\.risk) == [
        .asks("write \"default\" at Entry.title: 3 rows have no value")
      ])
    let filled = [entry([.init("title", .string, default: .value(.text("")))])]
    #expect(try plan(before, filled, Counts(valueCount: 7)).steps.map(\.risk) == [.rewrites(rows: 3)])
  }

  @Test("a whole entity that is gone asks, and goes if the model says so")
  func entities() throws {
    let before = [entry([]), EntityDescription("Draft", attributes: [.init("text", .string)])]
    #expect(try plan(before, [entry([])]).questions.map(\.subject) == ["Draft"])
    let consenting = try plan(before, [entry([])], removed: ["Draft"])
    #expect(consenting.steps.map(\.risk) == [.loses(values: 10)])
    let renamed = try plan(
      before, [entry([]), EntityDescription("Sketch", attributes: [.init("text", .string)], renamedFrom: ["Draft"])])
    #expect(told(renamed) == ["Sketch: renamed from Draft"])
  }
}
