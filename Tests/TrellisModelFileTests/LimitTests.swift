import Testing
import TrellisModel
import TrellisModelFile

@Suite("Limits") struct LimitTests {
  private func entities(_ count: Int, _ body: (Int) -> String) -> String {
    "{ \"model\": \"Big\", \"entities\": { " + (0..<count).map { "\"E\($0)\": \(body($0))" }.joined(separator: ", ")
      + " } }"
  }

  @Test("a file of more than 16 MiB is refused unread")
  func fileSize() {
    let result = ModelFile.parse([UInt8](repeating: UInt8(ascii: " "), count: Limits.fileSize + 1), path: "f")
    #expect(result.diagnostics.map(\.code) == [.fileTooLarge])
  }

  @Test("10,000 related entities are checked")
  func manyEntities() {
    let text = entities(Limits.entities) { number in
      let (next, previous) = ((number + 1) % Limits.entities, (number + Limits.entities - 1) % Limits.entities)
      return """
        { "attributes": { "name": { "type": "string", "default": "x", "minLength": 1 }, "count": "int64?" },
          "relationships": {
            "next": { "destination": "E\(next)", "inverse": "previous", "optional": true },
            "previous": { "destination": "E\(previous)", "inverse": "next", "optional": true } },
          "unique": ["name"] }
        """
    }
    let bytes = Array(text.utf8)
    let time = ContinuousClock().measure { #expect(ModelFile.parse(bytes, path: "f").rendered() == "") }
    print("10,000 entities, \(bytes.count) bytes: \(time)")
  }

  @Test("10,001 entities are refused")
  func tooManyEntities() {
    #expect(codes(entities(Limits.entities + 1) { _ in "{}" }) == ["too-many"])
  }

  @Test("a file full of errors is answered with 100 of them and the number of the rest")
  func manyErrors() {
    let text = entities(Limits.entities) { number in
      #"{ "relationships": { "a": { "destination": "F\#(number)", "inverse": "b" }, "b": { "destination": "Nothing" } } }"#
    }
    let bytes = Array(text.utf8)
    let result = ModelFile.parse(bytes, path: "f")
    let lines = result.rendered().split(separator: "\n")
    #expect(lines.count == 101)
    #expect(lines.last == "f:1:1: note: and 19900 more")
  }

  @Test("a name with line breaks, or without end, does not break the lines of messages")
  func strangeNames() {
    let long = String(repeating: "x", count: 1_000_000)
    let result = parse(
      #"{ "model": "M", "entities": { "A\nerror: B": { "parent": "\n" }, "\#(long)": { "parent": "\#(long)2" } } }"#)
    let lines = result.rendered().split(separator: "\n")
    #expect(lines.count == result.diagnostics.count && lines.allSatisfy { $0.hasPrefix("M.model.json:1:") })
    #expect(lines.allSatisfy { $0.utf8.count < 3_000 })
  }

  @Test("defaults of 100,000 attributes whose enum has 10,000 cases are read")
  func manyDefaults() {
    let cases = (0..<Limits.enumCases).map { "\"c\($0)\"" }.joined(separator: ",")
    let attributes = (0..<500).map { "\"a\($0)\":{\"type\":\"E\",\"default\":\"c9999\"}" }.joined(separator: ",")
    let entities = (0..<200).map { "\"A\($0)\":{\"attributes\":{\(attributes)}}" }.joined(separator: ",")
    let bytes = Array(
      #"{"model":"M","enums":{"E":{"type":"string","cases":[\#(cases)]}},"entities":{\#(entities)}}"#.utf8)
    let time = ContinuousClock().measure { #expect(ModelFile.parse(bytes, path: "f").rendered() == "") }
    print("100,000 attributes, \(bytes.count) bytes: \(time)")
  }

  @Test("1,001 properties are refused, inherited ones included")
  func properties() {
    let half = (0..<600).map { "\"p\($0)\": \"string\"" }.joined(separator: ", ")
    let rest = (600..<1_001).map { "\"p\($0)\": \"string\"" }.joined(separator: ", ")
    #expect(
      codes(
        #"{ "model": "M", "entities": { "A": { "attributes": { \#(half) } }, "#
          + #""B": { "parent": "A", "attributes": { \#(rest) } } } }"#) == ["too-many"])
    #expect(codes(#"{ "model": "M", "entities": { "A": { "attributes": { \#(half), \#(rest) } } } }"#) == ["too-many"])
  }

  @Test("10,001 cases are refused")
  func cases() {
    let names = (0...Limits.enumCases).map { "\"c\($0)\"" }.joined(separator: ",")
    #expect(codes(#"{ "model": "M", "enums": { "A": { "type": "string", "cases": [\#(names)] } } }"#) == ["too-many"])
  }

  @Test("a chain of 64 entities may be, one of 65 not")
  func parents() {
    func chain(_ count: Int) -> String { entities(count) { $0 == 0 ? "{}" : "{ \"parent\": \"E\($0 - 1)\" }" } }
    #expect(codes(chain(64)) == [])
    #expect(codes(chain(65)) == ["parent-chain-too-long"])
    #expect(codes(chain(10_000)) == ["parent-chain-too-long"])
  }

  @Test("a field in 8 composites may be, one in 9 not")
  func composites() {
    func model(_ depth: Int) -> String {
      let composites = (1...depth).map { number in
        let type = number == depth ? "string" : "C\(number + 1)"
        return #""C\#(number)": { "attributes": { "a": "\#(type)" } }"#
      }
      let list = composites.joined(separator: ", ")
      return #"{ "model": "M", "composites": { \#(list) }, "entities": { "A": { "attributes": { "a": "C1" } } } }"#
    }
    #expect(codes(model(8)) == [])
    #expect(codes(model(9)) == ["too-deep"])
  }

  @Test("a circle of 10,000 parents is reported once")
  func circle() {
    #expect(codes(entities(10_000) { "{ \"parent\": \"E\(($0 + 1) % 10_000)\" }" }) == ["parent-cycle"])
  }

  @Test("a name of 255 bytes may be, one of 256 not")
  func names() {
    func model(_ count: Int) -> String { #"{ "model": "M\#(String(repeating: "x", count: count - 1))" }"# }
    #expect(codes(model(255)) == [])
    #expect(codes(model(256)) == ["name-too-long"])
  }

  @Test("patterns that would take the reader too far are refused")
  func patterns() {
    for pattern in [String(repeating: "(", count: 900), String(repeating: "a", count: 5_000)] {
      #expect(
        codes(
          #"{ "model": "M", "entities": { "A": { "attributes": { "a": { "type": "string", "pattern": "\#(pattern)" } } } } }"#
        )
          == ["invalid-pattern"])
    }
  }

  @Test(
    "a default is matched against patterns that take for ever elsewhere, and the answer is right",
    .timeLimit(.minutes(60)))
  func slowPatterns() {
    let letters = String(repeating: "a", count: 60)
    for (pattern, last) in [("(a+)+", ""), ("(a|a)*", ""), ("a*a*a*a*a*a*a*a*a*b", "b"), ("(a+){10,}", "")] {
      func codes(_ text: String) -> [String] {
        parse(
          #"{ "model": "M", "entities": { "A": { "attributes": { "a": { "type": "string", "#
            + #""pattern": "\#(pattern)", "default": "\#(text)" } } } } }"#
        ).diagnostics.map(\.code.rawValue)
      }
      #expect(codes(letters + last) == [], "\(pattern)")
      #expect(codes(letters + "!") == ["default-breaks-rule"], "\(pattern)")
    }
  }
}
