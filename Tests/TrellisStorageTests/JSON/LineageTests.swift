import Foundation
import Testing
import TrellisModel
@testable import TrellisJSON
import TrellisStorage
import TrellisTestSupport

@Suite("What a document says it uses, and which models it had") struct LineageTests {
  private let folder: TestFolder
  private var path: String { folder.path("shop.json") }

  init() throws { folder = try TestFolder() }

  private func model(_ doc: String? = nil, version: String? = nil, name: String = "Shop") throws -> Model {
    try Model(
      ModelDescription(
        name: name, version: version, doc: doc,
        entities: [EntityDescription("Item", attributes: [AttributeDescription("name", .string)])]))
  }

  /// Opens the document, saves one more object to it, and closes it.
  private func insert(_ key: Int64, _ model: Model) throws {
    let store = try JSONStore(path: path, model: model)
    defer { store.close() }
    let request = SaveRequest()
    request.inserts = [
      .init(entity: 0, records: [try Record(model, "Item", key, ["name": .text("\(key)")])])
    ]
    try store.connect().save(request)
  }

  private var text: String { get throws { try String(contentsOfFile: path, encoding: .utf8) } }

  private func replace(_ part: String, by other: String) throws {
    let changed = try text.replacingOccurrences(of: part, with: other)
    #expect(changed != (try text))
    try changed.write(toFile: path, atomically: false, encoding: .utf8)
  }

  private func document() throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test("a document that had one model says nothing of features and models")
  func plain() throws {
    try insert(1, try model())
    #expect(try !text.contains("\"features\"") && !text.contains("\"models\""))
  }

  @Test("a save with another text of the model keeps the former one, and nothing is kept twice")
  func former() throws {
    let (first, second) = (try model("One.", version: "1"), try model("Two."))
    for (number, model) in [first, second, second, first, second].enumerated() { try insert(Int64(number + 1), model) }
    let document = try document()
    #expect((document["features"] as? [String: [String]]) == ["compatible": ["models"]])
    let models = try #require(document["models"] as? [[String: Any]])
    #expect(models.count == 1)
    #expect(models[0]["checksum"] as? String == first.checksum)
    #expect(models[0]["version"] as? String == "1")
    #expect((models[0]["replaced"] as? String)?.hasSuffix("Z") == true)
    let description = try #require(models[0]["description"] as? [String: Any])
    #expect(description["doc"] as? String == "One.")
    let store = try JSONStore(path: path, model: second)
    #expect(try store.connect().count(StoreRequest(entity: 0)) == 5)
    store.close()
  }

  @Test("a model of another name is refused though it is stored alike")
  func otherName() throws {
    try insert(1, try model())
    let error = try #require(throws: StoreError.self) { try insert(2, try model(name: "Market")) }
    #expect(error.code == .otherModel)
    #expect(error.message.contains("Shop") && error.message.contains("Market"))
  }

  @Test("a word that is not known is ignored, lets the document be read only, or closes it, as its list says")
  func unknown() throws {
    let model = try model()
    try insert(1, model)
    try replace("\"nextKey\"", by: "\"features\": {\"compatible\": [\"sparkle\"]},\n  \"nextKey\"")
    try insert(2, model)
    #expect(try text.contains("\"features\": {\"compatible\": [\"sparkle\"]}"))

    // What a newer Trellis has put there would be lost by a save.
    try replace("\"nextKey\"", by: "\"sparks\": [1, {\"a\": 2}],\n  \"nextKey\"")
    try expectReadOnly("sparkle", model)
    try replace("\"sparks\": [1, {\"a\": 2}],\n  ", by: "")
    try replace("\"compatible\": [\"sparkle\"]", by: "\"readOnlyCompatible\": [\"history\"]")
    try expectReadOnly("history", model)

    try replace("readOnlyCompatible", by: "incompatible")
    let before = try text
    let error = try #require(throws: StoreError.self) { try insert(3, model) }
    #expect(error.code == .newerFormat && error.message.contains("history"), "\(error)")
    #expect(try text == before)
  }

  private func expectReadOnly(_ word: String, _ model: Model) throws {
    let before = try text
    let error = try #require(throws: StoreError.self) { try insert(3, model) }
    #expect(error.code == .readOnly && error.message.contains(word), "\(error)")
    let store = try JSONStore(path: path, model: model)
    #expect(try store.connect().count(StoreRequest(entity: 0)) == 2)
    store.close()
    #expect(try text == before)
  }

  @Test(
    "what is no list of words, or no model, is refused with its place",
    arguments: [
      "\"features\": []", "\"features\": {\"compatible\": \"models\"}", "\"features\": {\"compatible\": [\"A b\"]}",
      "\"features\": {\"other\": []}", "\"models\": {}", "\"models\": [1]", "\"models\": [{}]",
      "\"models\": [{\"checksum\": \"a\"}]", "\"models\": [{\"checksum\": \"a\", \"description\": {}, \"more\": 1}]",
      "\"models\": [{\"checksum\": \"a\", \"description\": {}, \"replaced\": \"yesterday\"}]",
    ])
  func damaged(section: String) throws {
    let model = try model()
    try insert(1, model)
    try replace("\"nextKey\"", by: section + ",\n  \"nextKey\"")
    let before = try text
    let error = try #require(throws: StoreError.self) { try insert(2, model) }
    #expect(error.code == .damaged && error.message.contains("shop.json:5:"), "\(error)")
    #expect(try text == before)
  }
}
