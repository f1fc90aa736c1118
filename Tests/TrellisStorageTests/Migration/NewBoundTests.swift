import Foundation
import Testing
import TrellisJSON
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

@Suite("New rules and stored rows") struct NewBoundTests {
  private let home: TestFolder

  init() throws { home = try TestFolder() }

  private func configuration(_ isDocument: Bool) -> StoreConfiguration {
    isDocument ? .json(at: home.file("store.json")) : .sqlite(at: home.file("store.db"))
  }

  private func model(
    _ rules: AttributeRules = AttributeRules(), type: AttributeType = .string, parts: RelationshipDescription? = nil,
    adding: [AttributeDescription] = []
  ) throws -> Model {
    let parts = parts ?? RelationshipDescription("parts", to: "Part", inverse: "whole", toMany: true, optional: true)
    return try Model(
      ModelDescription(
        name: "M",
        entities: [
          EntityDescription(
            "Whole", attributes: [.init("text", type, rules: rules)] + adding, relationships: [parts]),
          EntityDescription(
            "Part", relationships: [RelationshipDescription("whole", to: "Whole", inverse: "parts", optional: true)]),
        ]))
  }

  /// Wholes with the keys from 1 and as many parts as their numbers say.
  private func fill(_ texts: [String], parts: [Int], _ isDocument: Bool) throws {
    let model = try model()
    let store = try configuration(isDocument).open(model)
    _ = try store.reserveKeys(100)
    let request = SaveRequest()
    let wholes = texts.enumerated().map {
      TestRecord(model.entities[0], key: Int64($0 + 1), ["text": .text($1)])
    }
    var key: Int64 = 50
    let members = parts.enumerated().flatMap { number, count in
      (0..<count).map { _ in
        key += 1
        return TestRecord(model.entities[1], key: key, ["whole": .integer(Int64(number + 1))])
      }
    }
    request.inserts = [.init(entity: 0, records: wholes), .init(entity: 1, records: members)]
    try store.connect().save(request)
    store.close()
  }

  private func told(_ model: Model, _ isDocument: Bool) throws -> [String]? {
    try configuration(isDocument).plan(model)?.steps.map { "\($0.subject): \($0.text)" }
  }

  @Test("a plan tells the rows that break a new rule, though nothing has to be migrated", arguments: [false, true])
  func values(isDocument: Bool) throws {
    try fill(["a", "abcdef", "abcdefg", ""], parts: [0, 0, 0, 0], isDocument)
    #expect(
      try told(model(AttributeRules(maxLength: 5)), isDocument) == ["Whole.text: maxLength 5, and 2 rows break it"])
    #expect(
      try told(model(AttributeRules(maxLength: 6)), isDocument) == ["Whole.text: maxLength 6, and 1 row breaks it"])
    #expect(
      try told(model(AttributeRules(minLength: 1, pattern: "[a-f]*")), isDocument)
        == ["Whole.text: minLength 1, pattern, and 2 rows break them"])
    #expect(try told(model(AttributeRules(maxLength: 7)), isDocument) == nil)
  }

  @Test("rows that break a new rule are no question, and are kept", arguments: [false, true])
  func kept(isDocument: Bool) throws {
    try fill(["abcdef"], parts: [0], isDocument)
    let model = try model(AttributeRules(maxLength: 5), adding: [.init("more", .string, optional: true)])
    let plan = try #require(try configuration(isDocument).plan(model))
    #expect(plan.questions == [] && !plan.loses)
    #expect(plan.steps.contains { $0.risk == .warns(rows: 1) })
    let store = try configuration(isDocument).open(model)
    defer { store.close() }
    var texts: [StoredValue] = []
    try store.connect().fetch(StoreRequest(entity: 0)) { texts.append($0.value(0, .text)) }
    #expect(texts == [.text("abcdef")])
  }

  @Test("values in another type are told by what they become", arguments: [false, true])
  func converted(isDocument: Bool) throws {
    try fill(["7", "-1", "300"], parts: [0, 0, 0], isDocument)
    let rules = AttributeRules(min: .integer(0), max: .integer(99))
    #expect(
      try told(model(rules, type: .int64), isDocument) == [
        "Whole.text: string → int64", "Whole.text: min, max, and 2 rows break them",
      ])
  }

  @Test("a plan tells the objects with too few or too many partners", arguments: [false, true])
  func partners(isDocument: Bool) throws {
    try fill(["a", "b", "c", "d"], parts: [0, 1, 2, 3], isDocument)
    func parts(_ least: Int?, _ most: Int?, optional: Bool) throws -> Model {
      try model(
        parts: RelationshipDescription(
          "parts", to: "Part", inverse: "whole", toMany: true, minCount: least, maxCount: most, optional: optional))
    }
    #expect(try told(parts(1, nil, optional: false), isDocument) == ["Whole.parts: minCount 1, and 1 row breaks it"])
    #expect(
      try told(parts(2, 2, optional: true), isDocument) == [
        "Whole.parts: minCount 2, maxCount 2, and 2 rows break them"
      ])
    #expect(try told(parts(nil, 3, optional: true), isDocument) == nil)
  }

  @Test("without a store a plan tells that rows may break the rule, and a rule that is not stricter is not told")
  func withoutStore() throws {
    func steps(_ former: AttributeRules, _ current: AttributeRules) throws -> [MigrationPlan.Step] {
      try MigrationPlan(Migration(from: model(former), to: model(current))).steps
    }
    let rules = AttributeRules(minLength: 2, maxLength: 5)
    #expect(try steps(rules, AttributeRules(maxLength: 6)) == [])
    let stricter = try steps(rules, AttributeRules(minLength: 2, maxLength: 4))
    #expect(stricter.map(\.text) == ["maxLength 4, and rows may break it"])
    #expect(stricter.map(\.risk) == [.warns(rows: nil)])
  }
}
