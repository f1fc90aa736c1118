import Foundation
import Testing
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

@Suite("The text of a model that a store carries") struct StoredModelTests {
  /// The canonical texts of all models of the tree.
  private static func texts() throws -> [[UInt8]] {
    var texts: [[UInt8]] = []
    for folder in ["Models", "Tests", "Sources"] {
      let folder = Folders.root.appending(path: folder).resolvingSymlinksInPath()
      let names = FileManager.default.enumerator(atPath: folder.path)
      while let name = names?.nextObject() as? String {
        guard name.hasSuffix(".model.json"), !name.contains(".build/") else { continue }
        let file = folder.appending(path: name)
        guard let description = ModelFile.parse(try Folders.bytes(file), path: "f").description else { continue }
        texts.append(Array(description.canonicalJSON().utf8))
      }
    }
    return texts
  }

  private func fault(_ text: String) throws -> StoredModelFault {
    try #require(throws: StoredModelFault.self) { try ModelDescription(storedText: Array(text.utf8)) }
  }

  @Test("every model of the tree comes back from its text")
  func models() throws {
    let texts = try Self.texts()
    #expect(texts.count >= 20)
    for text in texts {
      let description = try ModelDescription(storedText: text)
      #expect(Array(description.canonicalJSON().utf8) == text)
      #expect(ModelFile.parse(text, path: "f").description == description)
    }
  }

  @Test("names, patterns and predicates that are refused in a model file are read, as no code is made of them")
  func lenient() throws {
    let text = """
      { "model": "type", "enums": { "E": { "type": "string", "cases": [] } }, "entities": {
        "self": { "attributes": { "init": "string", "a b": { "type": "string", "pattern": "(((", "default": "x", "minLength": 9 },
          "n": { "type": "int16", "min": 70000, "default": "many", "backfill": [1] },
          "o": { "type": "string", "backfill": "((", "transient": true } },
          "relationships": { "others": { "destination": "self", "toMany": true, "deleteRule": "deny" } },
          "fetchRequests": { "f": { "predicate": "no predicate at all ((" } } } } }
      """
    #expect(parse(text).description == nil)
    let description = try ModelDescription(storedText: Array(text.utf8))
    #expect(description.name == "type" && description.entities[0].name == "self")
    #expect(description.entities[0].attributes.map(\.name) == ["init", "a b", "n", "o"])
    #expect(description.entities[0].attributes[1].rules.pattern == "(((")
    #expect(description.entities[0].attributes[2].rules.minimum == nil)
    #expect(description.entities[0].attributes[2].defaultValue == nil)
    #expect(description.entities[0].attributes.allSatisfy { $0.backfill == nil })
    #expect(description.entities[0].fetchRequests[0].predicate == "no predicate at all ((")
  }

  @Test("a mapping of JSON is read as it is written, even if it does not fit the model")
  func mappings() throws {
    let text = """
      { "model": "M", "entities": {
        "A": { "attributes": { "a": { "type": "int16", "json": { "path": "a[*", "date": "never", "take": "trimmed" } } },
          "relationships": { "b": { "destination": "A", "json": { "path": "$key", "reference": "none", "members": "add" } } },
          "json": { "key": ["none"], "entity": "[", "as": "" } } } }
      """
    #expect(parse(text).description == nil)
    let description = try ModelDescription(storedText: Array(text.utf8))
    let entity = description.entities[0]
    #expect(entity.json == EntityJSON(key: ["none"], entityPath: "[", entityValue: ""))
    #expect(entity.attributes[0].json == PropertyJSON("a[*", date: "never", take: [.trimmed]))
    #expect(entity.relationships[0].json == PropertyJSON("$key", reference: "none", members: .add))
    #expect(try ModelDescription(storedText: Array(description.canonicalJSON().utf8)) == description)
  }

  @Test(
    "what only a newer Trellis writes is said to be that",
    arguments: [
      #"{ "model": "M", "future": 1 }"#, #"{ "model": "M", "entities": { "A": { "keepInHistory": true } } }"#,
      #"{ "model": "M", "entities": { "A": { "attributes": { "a": { "type": "string", "computed": "x" } } } } }"#,
      #"{ "model": "M", "entities": { "A": { "attributes": { "a": "duration" } } } }"#,
      #"{ "model": "M", "entities": { "A": { "hooks": ["willArchive"] } } }"#,
    ])
  func newer(text: String) throws {
    let fault = try fault(text)
    #expect(fault.kind == .newerFormat, "\(fault)")
    #expect(fault.description.contains("line 1, column"))
  }

  @Test(
    "what is no model is damage",
    arguments: [
      "", "{", "[]", "{}", "커피", #"{ "model": 3 }"#, #"{ "model": "M", "model": "N" }"#,
      #"{ "model": "M", "entities": { "A": { "parent": "A" } } }"#,
      #"{ "model": "M", "entities": { "A": { "parent": "B" } } }"#,
      #"{ "model": "M", "entities": { "A": { "relationships": { "b": { "destination": "B" } } } } }"#,
      #"{ "model": "M", "entities": { "A": { "relationships": { "b": { "destination": "A", "inverse": "c" } } } } }"#,
      #"{ "model": "M", "entities": { "A": { "attributes": { "a": "string" }, "relationships": { "a": { "destination": "A" } } } } }"#,
      #"{ "model": "M", "entities": { "A": { "unique": ["a"] } } }"#,
    ])
  func damaged(text: String) throws {
    let fault = try fault(text)
    #expect(fault.kind == .damaged, "\(fault)")
  }

  @Test("what is too large or too deep is refused")
  func large() throws {
    #expect(try fault(String(repeating: "[", count: 100_000)).kind == .limit)
    #expect(try fault(String(repeating: " ", count: Limits.fileSize + 1)).kind == .limit)
    let parents = (1...100).map { "\"E\($0)\": { \"parent\": \"E\($0 - 1)\" }" }.joined(separator: ", ")
    #expect(try fault("{ \"model\": \"M\", \"entities\": { \"E0\": {}, \(parents) } }").kind == .limit)
  }

  /// `TRELLIS_STORED=100000` reads that many, and `TRELLIS_STORED_SEED` repeats a run.
  @Test("any change of a stored text is answered with a model or with a fault")
  func changes() throws {
    let rounds = TestSettings.number("TRELLIS_STORED", or: 1_000)
    let known: UInt64? = TestSettings.number("TRELLIS_STORED_SEED")
    let seed = known ?? TestSettings.seed()
    if known != nil { print("changes of stored models: TRELLIS_STORED=\(rounds) TRELLIS_STORED_SEED=\(seed)") }
    var changes = TextChanges(random: SeededGenerator(seed: seed))
    let texts = try Self.texts()
    for round in 0..<rounds {
      let text = changes.changed(texts)
      guard let description = try? ModelDescription(storedText: text) else { continue }
      if let other = ModelFile.parse(text, path: "f").description {
        #expect(other == description, "TRELLIS_STORED_SEED=\(seed), round \(round)")
      }
      #expect(throws: Never.self, "TRELLIS_STORED_SEED=\(seed), round \(round)") { try Model(description) }
      let canonical = Array(description.canonicalJSON().utf8)
      #expect(
        (try? ModelDescription(storedText: canonical)) == description, "TRELLIS_STORED_SEED=\(seed), round \(round)")
    }
  }
}

/// Changes texts by bytes, by pieces of others, and by exchanging words, which leaves the grammar whole more often.
private struct TextChanges {
  var random: SeededGenerator

  private static let pieces = [
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u0000", "\\ud800", "null", "true", "-1", "1e999",
    "99999999999999999999",
    "\0", "\u{FEFF}", "커피", "now", "new", "string?", "[string]", "\"parent\": \"A\",", "\"toMany\": true,",
    "\"ordered\": true,", "\"transient\": true,", "\"optional\": true,", "\"abstract\": true,", "\"inverse\": \"a\",",
    "\"default\": [1],", "\"unique\": [[\"a\"]],", "\"backfill\": \"now\",", "\"backfill\": \"a + 'b'\",",
    "\"convert\": \"lossy\",", "\"renamedFrom\": [\"a\", \"b\"],", "\"json\": true,", "\"json\": \"a[*\",",
    "\"json\": { \"key\": [\"a\"] },", "\"json\": { \"take\": \"number\", \"null\": \"keep\" },",
  ].map { Array($0.utf8) }

  mutating func changed(_ texts: [[UInt8]]) -> [UInt8] {
    guard var text = texts.randomElement(using: &random), let other = texts.randomElement(using: &random) else {
      return []
    }
    for _ in 0..<1 + random.below(4) { change(&text, other) }
    return text
  }

  private mutating func change(_ text: inout [UInt8], _ other: [UInt8]) {
    let place = Int.random(in: 0...text.count, using: &random)
    let end = min(text.count, place + random.below(13))
    switch random.below(6) {
    case 0: text.replaceSubrange(place..<end, with: Self.pieces.randomElement(using: &random) ?? [])
    case 1: text.removeSubrange(place..<end)
    case 2: if place < text.count { text[place] = UInt8.random(in: 0...255, using: &random) }
    case 3: text.insert(contentsOf: text[place..<end], at: Int.random(in: 0...text.count, using: &random))
    case 4: exchangeWords(&text, other)
    default:
      let from = Int.random(in: 0...other.count, using: &random)
      text.insert(contentsOf: other[from..<min(other.count, from + 60)], at: place)
    }
  }

  /// Puts a quoted word of one text into the place of one of another.
  private mutating func exchangeWords(_ text: inout [UInt8], _ other: [UInt8]) {
    guard let here = word(in: text), let there = word(in: other) else { return }
    text.replaceSubrange(here, with: other[there])
  }

  private mutating func word(in text: [UInt8]) -> Range<Int>? {
    let start = Int.random(in: 0...text.count, using: &random)
    guard let open = text[start...].firstIndex(of: UInt8(ascii: "\"")), open + 1 < text.count,
      let close = text[(open + 1)...].firstIndex(of: UInt8(ascii: "\""))
    else { return nil }
    return (open + 1)..<close
  }
}
