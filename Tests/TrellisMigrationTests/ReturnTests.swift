import Testing
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

@testable import TrellisStorage

@Suite("Models that return, and other models") struct ReturnTests {
  private func model(_ attributes: String, version: String? = nil, removed: String = "[]") throws -> Model {
    let version = version.map { "\"version\": \"\($0)\", " } ?? ""
    return try Model.read(
      "{ \"model\": \"M\", \(version)\"entities\": { \"A\": { \"attributes\": { \(attributes) }, \"removed\": \(removed) } } }"
    )
  }

  @Test(
    "a model that is a former one again needs another version, and former programs stay refused",
    arguments: ReopenedStore.Kind.present)
  func returned(_ kind: ReopenedStore.Kind) throws {
    // Programs on a server could live with one that only adds.
    let first = try model(#""t": "string?", "n": "int16?""#)
    let second = try model(#""t": "string?", "u": "string?", "n": "int32?""#)
    let store = try ReopenedStore(kind)
    try store.open(first) { [PlainRecord($0, key: 1, [.text("a"), .null])] }
    try store.open(second) { [PlainRecord($0, key: 2, [.text("b"), .text("c"), .null])] }
    let refusal = try #require(try store.refusal(first))
    #expect(refusal.code == .newerModel)
    #expect((refusal.message + refusal.remedy).contains("another \"version\" in its model file"))
    let third = try model(#""t": "string?", "n": "int16?""#, version: "3")
    #expect(try store.refusal(third)?.code == .dataLoss)
    let consenting = try model(#""t": "string?", "n": "int16?""#, version: "3", removed: #"["u"]"#)
    #expect(try store.open(consenting).rows.values.map(\.values["t"]).count == 2)
    #expect(try store.refusal(second)?.code == .newerModel)
    // What is stored alike opens, as ever, and does not take the newer model's place.
    try store.open(first)
    #expect(try store.refusal(second)?.code == .newerModel)
    // The same once more.
    let fourth = try model(#""t": "string?", "u": "string?", "n": "int32?""#, version: "4")
    try store.open(fourth)
    for former in [first, consenting] { #expect(try store.refusal(former)?.code == .newerModel) }
    try store.open(second)
    #expect(try store.refusal(consenting)?.code == .newerModel)
  }

  @Test(
    "a store of another model says so in its first words, and tells nothing of its storage",
    arguments: ReopenedStore.Kind.present)
  func otherModel(_ kind: ReopenedStore.Kind) throws {
    let entities = (0..<28).map { "\"Posting\($0)\": { \"attributes\": { \"a\": \"string\" } }" }.joined(
      separator: ", ")
    let feed = try Model.read("{ \"model\": \"Feed\", \"entities\": { \(entities) } }")
    let memos = try Model.read(
      #"{ "model": "Memos", "entities": { "Memo": { "attributes": { "text": "string" } } } }"#)
    let store = try ReopenedStore(kind)
    try store.open(feed)
    let error = try #require(try store.refusal(memos))
    #expect(error.code == .otherModel)
    #expect(error.message.contains("has the model Feed, and this program Memos"))
    #expect(!error.message.contains("Posting") && !(error.message + error.remedy).contains("\"model\": \"Feed\""))
  }

  @Test(
    "a model with another name migrates with the line that the refusal names", arguments: ReopenedStore.Kind.present)
  func renamedModel(_ kind: ReopenedStore.Kind) throws {
    func text(_ name: String, _ more: String) -> String {
      "{ \"model\": \"\(name)\", \"entities\": { \"Memo\": { \"attributes\": { \"text\": \"string\"\(more) } } } }"
    }
    let store = try ReopenedStore(kind)
    try store.open(Model.read(text("Notes", ""))) { [PlainRecord($0, key: 1, [.text("a")])] }
    let error = try #require(try store.refusal(Model.read(text("Memos", #", "mood": "string?""#))))
    #expect(error.code == .otherModel)
    #expect((error.message + error.remedy).contains("\"model\": \"Notes\""))
    let renamed = try Model.read(text("Notes", #", "mood": "string?""#))
    #expect(try store.open(renamed).rows[1]?.values["text"] == .text("a"))
  }

  // MARK: Former and new names

  private static let forms = [
    // Both names, as two attributes of their own.
    #"{ "model": "L", "entities": { "Dose": { "attributes": { "programmed": "double?", "scheduled": "double?" } } } }"#,
    // The former name is used again.
    #"{ "model": "L", "entities": { "Dose": { "attributes": { "programmed": { "type": "double?", "renamedFrom": "scheduled" }, "scheduled": "double?" } } } }"#,
    #"{ "model": "L", "entities": { "Dose": { "attributes": { "scheduled": "double?" } } } }"#,
    #"{ "model": "L", "entities": { "Dose": { "attributes": { "programmed": "double?" } } } }"#,
    #"{ "model": "L", "entities": { "Dose": { "attributes": { "programmed": { "type": "double?", "renamedFrom": "scheduled" } } } } }"#,
    // Two former names that a store may have at once.
    #"{ "model": "L", "entities": { "Dose": { "attributes": { "rate": { "type": "double?", "renamedFrom": ["programmed", "scheduled"] } } } } }"#,
    // Swapped.
    #"{ "model": "L", "entities": { "Dose": { "attributes": { "programmed": { "type": "double?", "renamedFrom": "scheduled" }, "scheduled": { "type": "double?", "renamedFrom": "programmed" } } } } }"#,
    #"{ "model": "L", "entities": { "Dose": { "attributes": { "scheduled": { "type": "double?", "renamedFrom": "programmed" } } } } }"#,
    #"{ "model": "L", "entities": { "Dose": { "attributes": { "programmed": { "type": "double?", "transient": true } } } } }"#,
    // A new property beside, to which a name that is claimed already must not be proposed.
    #"{ "model": "L", "entities": { "Dose": { "attributes": { "programmed": { "type": "double?", "renamedFrom": "scheduled" }, "basal": "double?" } } } }"#,
  ]

  @Test("from each form to each other one, the check accepts the lines that the plan names, and they are enough")
  func namedLines() throws {
    for (old, storedText) in Self.forms.enumerated() {
      let stored = try Model.read(storedText)
      let width = stored.entities[0].columns.count
      for (new, text) in Self.forms.enumerated() {
        let memory = MemoryStore(stored)
        _ = try memory.reserveKeys(10)
        let request = SaveRequest()
        let values = (0..<width).map { StoredValue.real(Double($0 + 1)) }
        request.inserts.append(.init(entity: 0, records: [PlainRecord(stored.entities[0], key: 1, values)]))
        _ = try memory.save(request)
        var text = text
        for _ in 0..<4 {
          let current = try Model.read(text)
          let plan = try StateMigration(Migration(from: stored, to: current), of: memory.snapshot(), now: 0)
            .plan(allowsLoss: false)
          guard let question = plan.questions.first, case .asks(let asked) = question.risk else { break }
          if let (_, former, name) = asked.answer.firstMatch(of: /"renamedFrom": "(\w+)" at Dose\.(\w+)/)?.output {
            #expect(throws: Never.self) { try Model.read(Self.renaming(String(former), to: String(name), in: text)) }
          }
          let name = try #require(asked.answer.firstMatch(of: /"removed": \["(\w+)"\] in Dose/)?.1, "\(question)")
          text = Self.adding(String(name), to: text)
        }
        let current = try Model.read(text)
        let plan = try StateMigration(Migration(from: stored, to: current), of: memory.snapshot(), now: 0)
          .plan(allowsLoss: false)
        #expect(plan.questions == [], "form \(old) to \(new): \(text)")
      }
    }
  }

  /// Writes a former name at a property.
  private static func renaming(_ former: String, to name: String, in text: String) -> String {
    let written = "\"\(name)\": { \"type\": \"double?\", \"renamedFrom\": "
    if text.contains(written + "[") { return text.replacing(written + "[", with: "\(written)[\"\(former)\", ") }
    if let range = text.firstRange(of: written) {
      let other = text[range.upperBound...].dropFirst().prefix { $0 != "\"" }
      return text.replacing("\(written)\"\(other)\"", with: "\(written)[\"\(former)\", \"\(other)\"]")
    }
    return text.replacing("\"\(name)\": \"double?\"", with: "\(written)\"\(former)\" }")
  }

  /// Writes a name into `removed`.
  private static func adding(_ name: String, to text: String) -> String {
    if text.contains("\"removed\": [") { return text.replacing("\"removed\": [", with: "\"removed\": [\"\(name)\", ") }
    return text.replacing("\"Dose\": { ", with: "\"Dose\": { \"removed\": [\"\(name)\"], ")
  }
}
