import Testing
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

@Suite("Words of sync") struct SyncWordTests {
  @Test("each word is read and written, and is no part of the storage signature")
  func words() throws {
    let file = Folders.good.appending(path: "Synced.model.json")
    var model = try #require(ModelFile.parse(Folders.bytes(file), path: "f").description)
    let product = model.entities[0]
    #expect(product.sync == .latest)
    #expect(product.attributes.map(\.sync) == [.latest, .sum, .replica, .server, nil, nil])
    #expect(product.relationships.map(\.sync) == [.server])
    let text = model.canonicalJSON()
    #expect(text.contains(#""stock": { "type": "int32", "sync": { "conflict": "sum" } }"#))
    #expect(parse(text).description == model)
    #expect(try ModelDescription(storedText: Array(text.utf8)) == model)
    let signature = try Model(model).storageSignature
    model.entities[0].sync = nil
    for place in product.attributes.indices { model.entities[0].attributes[place].sync = nil }
    model.entities[0].relationships[0].sync = nil
    #expect(try Model(model).storageSignature == signature)
    #expect(!model.canonicalJSON().contains("sync"))
  }

  @Test("a word of a field replaces that of its composite")
  func fields() throws {
    let text = """
      {
        "model": "M", "history": "values",
        "composites": { "Money": { "attributes": {
          "amount": { "type": "decimal", "sync": { "conflict": "sum" } },
          "currency": { "type": "string", "sync": { "conflict": "server" } } } } },
        "entities": { "A": { "attributes": {
          "price": { "type": "Money", "fields": { "currency": { "sync": { "conflict": "replica" } } } } } } }
      }
      """
    let description = try #require(parse(text).description)
    let model = try Model(description)
    let attributes = model.entities[0].properties.compactMap(\.attribute)
    #expect(attributes.map(\.name) == ["price.amount", "price.currency"])
    #expect(attributes.map(\.description.sync) == [.sum, .replica])
    #expect(parse(description.canonicalJSON()).description == description)
  }

  @Test(
    "a model without a history of values has no word of sync",
    arguments: [
      ("", #""A": { "sync": { "conflict": "server" } }"#, "write \"history\": \"values\" in the model"),
      (#""history": true,"#, #""A": { "sync": { "conflict": "server" } }"#, "write \"history\": \"values\""),
      (
        #""history": "values","#, #""A": { "sync": { "conflict": "server" } }, "B": { "history": true }"#,
        "change this 'history' to \"values\""
      ),
    ])
  func history(_ model: String, _ entities: String, _ remedy: String) {
    let messages = parse("{ \"model\": \"M\", \(model) \"entities\": { \(entities) } }").diagnostics.map(\.message)
    #expect(messages.count == 1)
    #expect(messages.first?.contains(remedy) == true, "\(messages)")
  }

  @Test("a history of values at each root is one of the model")
  func roots() {
    let text = """
      { "model": "M", "entities": {
        "A": { "history": "values", "sync": { "conflict": "server" } }, "B": { "history": "values" } } }
      """
    #expect(parse(text).diagnostics.map(\.message) == [])
  }
}
