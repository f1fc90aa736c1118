import Testing
import TrellisModel
import TrellisModelFile

@Suite("Mappings of JSON in hierarchies") struct JSONMappingCheckTests {
  private func animals(_ parent: String, _ child: String, _ grandchild: String = "{ \"parent\": \"Dog\" }") -> String {
    #"{ "model": "M", "entities": { "Animal": \#(parent), "Dog": \#(child), "Puppy": \#(grandchild) } }"#
  }

  @Test("a property may be mapped for the children alone, if its own entity is not mapped")
  func mappedChildren() {
    let parent = #"{ "attributes": { "a": { "type": "string", "json": "b" } } }"#
    #expect(codes(animals(parent, #"{ "parent": "Animal", "json": true }"#)) == [])
    #expect(codes(animals(parent, #"{ "parent": "Animal" }"#)) == ["json-mismatch"])
    #expect(codes(animals(parent, #"{ "parent": "Animal" }"#, #"{ "parent": "Dog", "json": {} }"#)) == [])
  }

  @Test("a style of a child that gives two inherited properties the same path is found, once")
  func styles() {
    let parent =
      #"{ "json": true, "attributes": { "bornAt": "date", "text": { "type": "string", "json": "born_at" } } }"#
    let child = #"{ "parent": "Animal", "json": { "style": "snake_case" } }"#
    #expect(codes(animals(parent, #"{ "parent": "Animal" }"#)) == [])
    #expect(codes(animals(parent, child)) == ["json-mismatch"])
    let unmapped = parent.replacing(#""json": true, "#, with: "")
    #expect(codes(animals(unmapped, child)) == ["json-mismatch"])
  }

  @Test("a key and the path to the entity's text are inherited")
  func inherited() {
    let parent = #"{ "json": { "entity": "kind" }, "attributes": { "a": "string" }, "unique": ["a"] }"#
    #expect(codes(animals(parent, #"{ "parent": "Animal", "json": { "key": "a", "as": "dog" } }"#)) == [])
    let relationship =
      #"{ "parent": "Animal", "relationships": { "next": { "destination": "Puppy", "inverse": "next", "optional": true, "#
      + #""json": { "take": "trimmed" } } } }"#
    let next =
      #"{ "parent": "Dog", "json": true, "relationships": "#
      + #"{ "next": { "destination": "Puppy", "inverse": "next", "optional": true, "json": { "take": "trimmed" } } } }"#
    #expect(codes(animals(parent, #"{ "parent": "Animal" }"#, next)) == ["json-mismatch"])
    let keyed = parent.replacing(#"{ "entity""#, with: #"{ "key": ["a"], "entity""#)
    #expect(codes(animals(keyed, #"{ "parent": "Animal" }"#, next)) == [])
    #expect(!codes(animals(keyed, relationship)).isEmpty)
  }

  @Test("10,000 mapped entities, in chains of 50, are checked")
  func many() {
    let text = (0..<Limits.entities).map { number in
      let parent = number % 50 == 0 ? "" : "\"parent\": \"E\(number - 1)\", "
      return """
        "E\(number)": { \(parent)"json": { "style": "\(number % 2 == 0 ? "snake_case" : "PascalCase")" }, "attributes": {
          "first\(number)": "string", "second\(number)": { "type": "int64", "json": "a.b\(number)[x=1].c" } } }
        """
    }.joined(separator: ",\n")
    let bytes = Array("{ \"model\": \"Big\", \"entities\": { \(text) } }".utf8)
    let time = ContinuousClock().measure { #expect(ModelFile.parse(bytes, path: "f").rendered() == "") }
    print("10,000 mapped entities, \(bytes.count) bytes: \(time)")
  }
}
