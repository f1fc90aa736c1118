import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

/// Values that have no counterpart: what the plan names, and what becomes of them.
@Suite("Values without a counterpart") struct MisfitTests {
  private static let stored = #"{ "type": "string", "cases": ["glad", "sad", "angry"] }"#
  private static let moods = ["glad", "sad", "sad", "angry", "sad", "angry"]

  private func model(_ cases: String, _ attribute: String) throws -> Model {
    try Model.read(
      "{ \"model\": \"M\", \"enums\": { \"Mood\": \(cases) }, \"entities\": { \"Entry\": { \"attributes\": { \"mood\": \(attribute) } } } }"
    )
  }

  private func filled(_ kind: ReopenedStore.Kind) throws -> ReopenedStore {
    let store = try ReopenedStore(kind)
    try store.open(model(Self.stored, "\"Mood?\"")) { entity in
      Self.moods.enumerated().map { PlainRecord(entity, key: Int64($0 + 1), [.text($1)]) }
        + [PlainRecord(entity, key: 7, [.null])]
    }
    return store
  }

  private func moods(_ contents: StoreContents) -> [StoredValue] {
    contents.rows.sorted { $0.key < $1.key }.map { $0.value.values["mood"] ?? .null }
  }

  @Test(
    "cases that are gone are named with their values, and the named line is enough",
    arguments: ReopenedStore.Kind.present)
  func goneCases(_ kind: ReopenedStore.Kind) throws {
    let store = try filled(kind)
    let current = try model(#"{ "type": "string", "cases": ["glad", "low"] }"#, "\"Mood?\"")
    let error = try #require(try store.refusal(current))
    #expect(error.code == .dataLoss)
    #expect(error.message.contains("5 values have no counterpart: sad (3 values), angry (2 values)."))
    #expect(error.message.contains("Write \"renamedFrom\": \"sad\" at the case of Mood that they become"))
    let one = try model(
      #"{ "type": "string", "cases": ["glad", { "name": "low", "renamedFrom": "sad" }] }"#, "\"Mood?\"")
    #expect(try #require(try store.refusal(one)).message.contains("2 values have no counterpart: angry (2 values)."))
    let united = try model(
      #"{ "type": "string", "cases": ["glad", { "name": "low", "renamedFrom": ["sad", "angry"] }] }"#, "\"Mood?\"")
    let found = try moods(store.open(united))
    #expect(found == [.text("glad")] + Array(repeating: .text("low"), count: 5) + [.null])
  }

  @Test("with consent, the plan tells which values go", arguments: ReopenedStore.Kind.present)
  func consent(_ kind: ReopenedStore.Kind) throws {
    let store = try filled(kind)
    let lossy = try model(
      #"{ "type": "string", "cases": ["glad", "low"] }"#, #"{ "type": "Mood?", "convert": "lossy" }"#)
    let plan = try #require(try store.configuration().plan(lossy))
    #expect(plan.steps.map(\.text) == ["other cases of Mood, without sad (3 values), angry (2 values)"])
    #expect(plan.steps.map(\.risk) == [.loses(count: 5)])
  }

  @Test(
    "what a backfill makes another value of is not lost, and what it makes null of is",
    arguments: ReopenedStore.Kind.present)
  func mapped(_ kind: ReopenedStore.Kind) throws {
    let cases = #"{ "type": "string", "cases": ["glad", "low", "hot"] }"#
    let store = try filled(kind)
    func current(_ backfill: String, lossy: Bool = false) throws -> Model {
      try model(
        cases, "{ \"type\": \"Mood?\", \"backfill\": \"\(backfill)\"\(lossy ? ", \"convert\": \"lossy\"" : "") }")
    }
    // Another value in the place of each is a loss all the same.
    let constant = try #require(try store.configuration().plan(current("low", lossy: true)))
    #expect(constant.steps.map(\.risk) == [.loses(count: 5)])
    let partly = try current("TERNARY(mood == 'sad', 'low', NULL)", lossy: true)
    #expect(try #require(try store.configuration().plan(partly)).steps.map(\.risk) == [.loses(count: 2)])
    let all = try current("TERNARY(mood == 'sad', 'low', 'hot')")
    let plan = try #require(try store.configuration().plan(all))
    #expect(plan.questions == [] && !plan.loses && plan.steps.map(\.risk) == [.rewrites(rows: 7)])
    let found = try moods(store.open(all))
    #expect(found == ["glad", "low", "low", "hot", "low", "hot"].map { .text($0) } + [.null])
  }

  @Test(
    "the first objects with a value that does not fit are named, and no value is", arguments: ReopenedStore.Kind.present
  )
  func objects(_ kind: ReopenedStore.Kind) throws {
    func model(_ type: String) throws -> Model {
      try Model.read(
        "{ \"model\": \"M\", \"entities\": { \"Entry\": { \"attributes\": { \"count\": \"\(type)\" } } } }")
    }
    let store = try ReopenedStore(kind)
    try store.open(model("string?")) { entity in
      (1...9).map { PlainRecord(entity, key: Int64($0), [.text($0 == 4 ? "4" : "secret \($0)")]) }
    }
    let error = try #require(try store.refusal(model("int64?")))
    let examples = "8 values have no counterpart: Entry/1, Entry/2, Entry/3, Entry/5, Entry/6, …."
    #expect(error.message.contains(examples) && !error.message.contains("secret"))
  }

  @Test(
    "a struct with another version is told with its values, and the store opens", arguments: ReopenedStore.Kind.present)
  func structs(_ kind: ReopenedStore.Kind) throws {
    func model(_ versions: String) throws -> Model {
      try Model.read(
        """
        { "model": "M", "codableTypes": ["Route", "Stop"], \(versions)
          "entities": { "Trip": { "attributes": { "route": "Route?", "stop": "Stop?" } } } }
        """)
    }
    let (first, second) = (try model(""), try model(#""codableVersions": { "Route": 2 },"#))
    #expect(second.description.codableVersions == ["Route": 2])
    #expect(try Model.read(second.description.canonicalJSON()).description == second.description)
    let store = try ReopenedStore(kind)
    try store.open(first) { entity in
      [PlainRecord(entity, key: 1, [.text("{}"), .text("{}")]), PlainRecord(entity, key: 2, [.null, .null])]
    }
    let plan = try #require(try store.configuration().plan(second))
    #expect(plan.questions == [] && plan.steps.map(\.risk) == [.warns(rows: 1)])
    #expect(plan.description.contains("Trip.route  Route 1 → 2, which 1 value has to fit"))
    #expect(plan.description.contains("is optional, or has a value in init(from:)."))
    #expect(try store.open(second).rows.count == 2)
    let without = try MigrationPlan(Migration(from: second, to: first))
    #expect(without.steps.map(\.text) == ["Route 2 → 1"] && without.steps.map(\.risk) == [.warns(rows: nil)])
    #expect(throws: ModelMessages.self) { try model(#""codableVersions": { "Rout": 2 },"#) }
    #expect(throws: ModelMessages.self) { try model(#""codableVersions": { "Route": 0 },"#) }
  }
}
