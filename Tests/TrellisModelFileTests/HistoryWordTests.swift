import Foundation
import Testing
import TrellisModel
import TrellisModelFile

@Suite("Words of a history") struct HistoryWordTests {
  private func messages(_ model: String, _ entities: String) -> [String] {
    parse("{ \"model\": \"M\", \(model) \"entities\": { \(entities) } }").diagnostics.map(\.message)
  }

  @Test("each word is read, and is no part of the storage signature")
  func words() throws {
    let file = Folders.good.appending(path: "Recorded.model.json")
    var model = try #require(ModelFile.parse(Folders.bytes(file), path: "f").description)
    #expect(model.history == .values && model.keepHistory == HistoryLimit(days: 30, transactions: 100_000))
    #expect(model.entities.map(\.history) == [nil, nil, .changes, .off, .values])
    #expect(
      model.entities.map { $0.attributes.filter(\.isKeptInHistory).map(\.name) } == [
        ["title"], ["sentOn"], ["key"], [], [],
      ])
    let text = model.canonicalJSON()
    #expect(text.contains("\"history\": \"values\",\n  \"keepHistory\": { \"days\": 30, \"transactions\": 100000 },"))
    #expect(text.contains(#""title": { "type": "string", "keepInHistory": true }"#))
    #expect(text.contains(#""number": "int64""#))
    let signature = try Model(model).storageSignature
    (model.history, model.keepHistory) = (.off, nil)
    for entity in model.entities.indices {
      model.entities[entity].history = nil
      for place in model.entities[entity].attributes.indices {
        model.entities[entity].attributes[place].isKeptInHistory = false
      }
    }
    #expect(try Model(model).storageSignature == signature)
    #expect(!model.canonicalJSON().lowercased().contains("history"))
  }

  @Test("what the model says goes for each hierarchy whose root says nothing else")
  func inheritance() throws {
    let file = Folders.good.appending(path: "Recorded.model.json")
    let model = try Model(#require(ModelFile.parse(Folders.bytes(file), path: "f").description))
    #expect(model.entities.map { model.history(of: $0.index) } == [.values, .values, .changes, .off, .values])
    #expect(model.hasHistory)
  }

  @Test("one limit is enough, and none is refused", arguments: [#""days": 1"#, #""transactions": 2147483647"#])
  func limits(_ limit: String) throws {
    #expect(messages("\"history\": true, \"keepHistory\": { \(limit) },", "") == [])
    let text = "{ \"model\": \"M\", \"history\": true, \"keepHistory\": { \(limit) }, \"entities\": { \"A\": {} } }"
    let description = try #require(parse(text).description)
    #expect(parse(description.canonicalJSON()).description == description)
    #expect(
      messages("\"history\": true, \"keepHistory\": {},", "") == [
        "'keepHistory' of the model has no limit; give it \"days\", \"transactions\" or both, or take it out."
      ])
  }

  @Test(
    "what is no limit is refused",
    arguments: [
      ("[]", "wrong-type"), ("30", "wrong-type"), (#"{ "days": 0 }"#, "bad-count"), (#"{ "days": -1 }"#, "bad-count"),
      (#"{ "days": 1.5 }"#, "bad-count"), (#"{ "transactions": 0 }"#, "bad-count"),
      (#"{ "transactions": 2147483648 }"#, "bad-count"), (#"{ "transactions": 1e99 }"#, "bad-count"),
      (#"{ "days": null }"#, "wrong-type"), (#"{ "day": 1 }"#, "unknown-key"),
    ])
  func badLimits(_ limit: String, _ code: String) {
    #expect(codes("{ \"model\": \"M\", \"history\": true, \"keepHistory\": \(limit), \"entities\": {} }") == [code])
  }

  @Test("a limit needs a history of some entity")
  func limitAlone() {
    let limit = "\"keepHistory\": { \"days\": 30 },"
    let way = "write \"history\": true or \"values\" in the model or in an entity, or take out 'keepHistory'."
    #expect(messages(limit, "\"A\": {}") == ["The model has 'keepHistory', but no entity has a history; \(way)"])
    #expect(messages(limit, "") == ["The model has 'keepHistory', but no entity has a history; \(way)"])
    #expect(messages("\"history\": false, \(limit)", "\"A\": {}").count == 1)
    #expect(messages(limit, #""A": { "history": true }, "B": {}"#) == [])
    #expect(messages("\"history\": true, \(limit)", #""A": { "history": false }, "B": {}"#) == [])
    #expect(messages("\"history\": true, \(limit)", #""A": { "history": false }"#).count == 1)
  }

  @Test("a value of an entity without a history cannot be kept, whoever declares it")
  func noHistory() {
    let kept = #""attributes": { "a": { "type": "string", "keepInHistory": true } }"#
    let child = "\"B\": { \"parent\": \"A\", \(kept) }"
    #expect(messages("\"history\": true,", "\"A\": { \(kept) }") == [])
    #expect(messages("", "\"A\": { \"history\": true }, \(child)") == [])
    #expect(messages("\"history\": \"values\",", "\"A\": {}, \(child)") == [])
    #expect(messages("", "\"A\": {}, \(child)").count == 1)
    #expect(messages("\"history\": true,", "\"A\": { \"history\": false }, \(child)").count == 1)
    #expect(messages("\"history\": false,", "\"A\": { \"history\": \"values\" }, \(child)") == [])
  }

  @Test("a history in the wrong place is the only thing that is said about it")
  func misplaced() {
    let kept = #""attributes": { "a": { "type": "string", "keepInHistory": true } }"#
    let model = "\"keepHistory\": { \"days\": 1 },"
    #expect(messages(model, "\"A\": {}, \"B\": { \"parent\": \"A\", \"history\": true, \(kept) }").count == 1)
    #expect(
      messages(
        model, "\"A\": {}, \"B\": { \"parent\": \"A\", \"history\": true }, \"C\": { \"parent\": \"B\", \(kept) }"
      )
      .count == 1)
  }

  @Test("a stored model is read without these checks")
  func stored() throws {
    let text = """
      { "model": "M", "keepHistory": { "days": 1 }, "entities": {
        "A": { "attributes": { "a": { "type": "string", "keepInHistory": true } } },
        "B": { "parent": "A", "history": true } } }
      """
    #expect(try ModelDescription(storedText: Array(text.utf8)).keepHistory == HistoryLimit(days: 1))
  }
}
