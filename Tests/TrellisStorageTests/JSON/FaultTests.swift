import Foundation
import Testing
import TrellisModel
@testable import TrellisJSON
import TrellisStorage
import TrellisTestSupport

@Suite("A document that is not right is refused with its place, and left alone") struct FaultTests {
  private let folder: TestFolder
  private let model: Model
  private let good: String
  private var path: String { folder.path("library.json") }

  init() throws {
    folder = try TestFolder()
    model = try Library.model()
    let store = try JSONStore(path: folder.path("library.json"), model: model)
    try store.insertGraph(model)
    store.close()
    good = try String(contentsOfFile: folder.path("library.json"), encoding: .utf8)
  }

  /// Opens the good document with one change in it.
  private func open(_ text: String) throws -> JSONStore {
    try text.write(toFile: path, atomically: false, encoding: .utf8)
    return try JSONStore(path: path, model: model)
  }

  /// Where a text begins, as messages say it.
  private func place(of part: String, in text: String) -> String {
    guard let start = text.range(of: part)?.lowerBound else { return "nowhere" }
    let before = text[..<start].split(separator: "\n", omittingEmptySubsequences: false)
    return "\(before.count):\((before.last?.unicodeScalars.count ?? 0) + 1)"
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    var name: String
    /// What is exchanged for what.
    var from: String
    var to: String
    /// Where the fault is found: at this text.
    var at: String
    var code: StoreError.Code
    var says: String

    init(
      _ name: String, _ from: String, _ to: String, at: String, _ code: StoreError.Code = .damaged, says: String
    ) {
      (self.name, self.from, self.to, self.at, self.code, self.says) = (name, from, to, at, code, says)
    }

    var testDescription: String { name }
  }

  static let faults = [
    Fault("a missing comma", "\"calm\"},", "\"calm\"}", at: "{\"_key\": 2", says: "a ',' or ']'"),
    Fault(
      "a trailing comma", "\"label\": \"novel\"}", "\"label\": \"novel\",}", at: "}\n    ],\n    \"Sample",
      says: "must go"),
    Fault("an unknown key", "\"label\": ", "\"labell\": ", at: "\"labell\"", says: "no stored property of this name"),
    Fault("an unknown key of the document", "\"pairs\"", "\"pears\"", at: "\"pears\"", says: "no key of this name"),
    Fault("an unknown entity", "\"Tag\": [", "\"Tags\": [", at: "\"Tags\": [", says: "no entity of this name"),
    Fault("an unknown relationship", "\"Book.tags\"", "\"Book.tag\"", at: "\"Book.tag\"", says: "no relationship"),
    Fault(
      "a missing required value", "\"label\": \"novel\"", "\"label\": null", at: "{\"_key\": 5", says: "not optional"),
    Fault("a missing key", "\"_key\": 5, ", "", at: "{\"label\"", says: "lacks its \"_key\""),
    Fault("a key that is no number", "\"_key\": 5,", "\"_key\": \"5\",", at: "\"5\"", says: "a whole number above 0"),
    Fault("a key twice", "\"_key\": 5,", "\"_key\": 4,", at: "4, \"label\"", .notUnique, says: "same \"_key\""),
    Fault(
      "a unique value twice", "\"Ursula \\\"U\\\"\"", "\"한강\"", at: "{\"_key\": 2", .notUnique, says: "same name"),
    Fault(
      "a property twice", "\"label\": \"novel\"", "\"label\": \"novel\", \"label\": \"x\"", at: "\"label\": \"x\"",
      says: "already in the object"),
    Fault("a text for a number", "\"pages\": 7", "\"pages\": \"7\"", at: "\"7\"", .unreadableValue, says: "Book.pages"),
    Fault(
      "a number out of range", "\"pages\": 7", "\"pages\": 3000000000", at: "3000000000", .unreadableValue,
      says: "2147483647"),
    Fault("a fraction", "\"pages\": 7", "\"pages\": 7.5", at: "7.5", .unreadableValue, says: "whole number"),
    Fault("a wrong date", "2026-01-21T12", "2026-02-31T12", at: "\"2026-02-31", .unreadableValue, says: "a date"),
    Fault("wrong Base64", "\"AQID\"", "\"AQI\"", at: "\"AQI\"", .unreadableValue, says: "Base64"),
    Fault("a wrong decimal", "\"9.95\"", "\"9,95\"", at: "\"9,95\"", .unreadableValue, says: "decimal"),
    Fault(
      "a dangling reference", "\"author\": 1", "\"author\": 9", at: "9, \"_author_order\"", .danglingReference,
      says: "no object of Author"),
    Fault(
      "a reference to another entity", "\"author\": 1", "\"author\": 5", at: "5, \"_author_order\"",
      .danglingReference, says: "no object of Author"),
    Fault(
      "a pair with nobody at its end", "\"to\": 5", "\"to\": 6", at: "{\"from\": 3", .danglingReference, says: "one end"
    ),
    Fault(
      "a pair in one direction", "{\"from\": 1, \"to\": 2},", "", at: "{\"from\": 2", says: "exchanged is missing"),
    Fault("a number too long", "0.1,", "1e999,", at: "1e999", .unreadableValue, says: "within the range"),
    Fault("a control character", "novel", "no\u{1}vel", at: "\u{1}", says: "control character"),
    Fault("a broken escape", "novel", "no\\xvel", at: "\\xvel", says: "no escape"),
    Fault("half a surrogate", "novel", "no\\ud800vel", at: "\\ud800", says: "surrogate"),
    Fault("text behind the end", "\n}\n", "\n}\n~", at: "~", says: "the end of the document"),
    Fault("another format", "\"trellis\": 1", "\"trellis\": 2", at: "2,", .newerFormat, says: "newer version"),
    Fault(
      "no document of ours", "\"trellis\": 1", "\"trellisX\": 1", at: "{", .foreignFile, says: "no document of Trellis"),
    Fault(
      "deep nesting", "[\"a\",\"b\"]", String(repeating: "[", count: 100_000), at: "", .limit, says: "levels deep"),
  ]

  @Test("each kind of mistake is named where it is", arguments: faults)
  func fault(_ fault: Fault) throws {
    let start = try #require(good.range(of: fault.from), "the sample lacks what is to be changed")
    let text = good.replacingCharacters(in: start, with: fault.to)
    let error = #expect(throws: StoreError.self) { try open(text) }
    let message = error?.message ?? ""
    #expect(error?.code == fault.code && message.contains(fault.says), "\(message)")
    if !fault.at.isEmpty {
      #expect(
        message.contains(":\(place(of: fault.at, in: text)): "), "\(message), not \(place(of: fault.at, in: text))")
    }
    #expect(!message.contains("novel") && !message.contains("한강"))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["library.json"])
  }

  @Test("edits by hand that are right are taken: white space, order, nulls, new objects, a byte order mark")
  func edits() throws {
    let before = try open(good).everything(model)
    let spaced = good.replacing(
      "{\"_key\": 4, \"title\": \"First\"", with: "\u{9}{ \"title\"\n:\r\n\"First\" , \"_key\" :4 "
    )
    .replacing("\"label\": \"novel\"", with: "\"\\u006cabel\": \"\\u006Eovel\"")
    .replacing("{\"_key\": 6, ", with: "{\"_key\": 6, \"the_url\": null, ")
    #expect(try open("\u{FEFF}" + spaced).everything(model) == before)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(good.utf8)) as? [String: Any])
    let shuffled = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .prettyPrinted])
    #expect(try open(String(decoding: shuffled, as: UTF8.self)).rows(model, "Author").count == 2)
    let longer = good.replacing(
      "{\"_key\": 5, \"label\": \"novel\"}",
      with: "{\"_key\": 5, \"label\": \"novel\"}, {\"_key\": 70, \"label\": \"x\"}")
    let store = try open(longer)
    #expect(try store.rows(model, "Tag").count == 2)
    #expect(try store.reserveKeys(1).lowerBound == 71)
  }

  @Test("a document whose values do not fit the model is refused, one stored alike is opened and rewritten")
  func otherModels() throws {
    var other = Library.description
    other.entities[2].attributes[0] = AttributeDescription("label", .int64)
    let error = #expect(throws: StoreError.self) { try JSONStore(path: path, model: Model(other)) }
    #expect(error?.code == .dataLoss)
    #expect(error?.message.contains("Tag.label: string → int64, and 1 value has no counterpart: Tag/") == true)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == good)

    var alike = Library.description
    alike.entities[2].doc = "What a book is about."
    let model = try Model(alike)
    let store = try JSONStore(path: path, model: model)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == good)
    try store.insert([Record(model, "Tag", 80, ["label": .text("a")])])
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains("What a book is about."))
    #expect(text.contains("  \"checksum\": \"\(alike.storedChecksum)\""))
    #expect(!text.contains("  \"checksum\": \"\(Library.description.storedChecksum)\""))
  }

  @Test("mutated documents are an error or open to something that is right; more by TRELLIS_FUZZ")
  func fuzz() throws {
    let rounds = TestSettings.number("TRELLIS_FUZZ", or: 1_000)
    let seed = TestSettings.seed()
    print("mutated documents, seed \(seed)")
    var random = Mutations(seed: seed)
    var opened = 0
    for _ in 0..<rounds {
      let text = random.mutated(Array(good.utf8))
      try Data(text).write(to: URL(filePath: path))
      do {
        let store = try JSONStore(path: path, model: model)
        opened += 1
        // What was opened can be read, written, and opened again.
        let found = try store.everything(model)
        let key = try store.reserveKeys(1).lowerBound
        try store.insert([Record(model, "Sample", key, [:])])
        store.close()
        var again = try JSONStore(path: path, model: model).everything(model)
        again["Sample"] = again["Sample"]?.filter { $0[0] != .integer(key) }
        #expect(again == found, "seed \(seed)")
      } catch let error as StoreError {
        #expect(!error.message.isEmpty && !error.remedy.isEmpty)
        let left = try Data(contentsOf: URL(filePath: path))
        #expect(left == Data(text) || text.isEmpty, "seed \(seed)")
      }
    }
    print("\(opened) of \(rounds) opened")
  }
}

extension ModelDescription {
  fileprivate var storedChecksum: String { checksum }
}

/// Random damage to a text: bytes flipped, parts cut, doubled, moved, numbers and marks exchanged.
struct Mutations: RandomNumberGenerator {
  private var numbers: SeededGenerator

  init(seed: UInt64) { numbers = SeededGenerator(seed: seed) }

  mutating func next() -> UInt64 { numbers.next() }

  private static let pieces = [
    "null", "true", "[", "]", "{", "}", ",", ":", "\"", "\\", "\\u0000", "\\ud800", "-", "0", "1e999",
    "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "1.0", "\u{FEFF}", "\"_key\": 1", "\u{0}", "\n", "//", "Infinity",
  ].map { Array($0.utf8) }

  mutating func mutated(_ text: [UInt8]) -> [UInt8] {
    var text = text
    for _ in 0..<Int.random(in: 1...3, using: &self) where !text.isEmpty { mutate(&text) }
    return text
  }

  private mutating func mutate(_ text: inout [UInt8]) {
    let place = Int.random(in: 0..<text.count, using: &self)
    let end = min(text.count, place + Int.random(in: 1...40, using: &self))
    switch Int.random(in: 0..<7, using: &self) {
    case 0: text[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
    case 1: text[place] = UInt8.random(in: 0...255, using: &self)
    case 2: text.removeSubrange(place..<end)
    case 3: text.insert(contentsOf: text[place..<end], at: Int.random(in: 0...text.count, using: &self))
    case 4: text.insert(contentsOf: Self.pieces.randomElement(using: &self) ?? [], at: place)
    case 5:
      text.replaceSubrange(place..<min(place + 1, text.count), with: Self.pieces.randomElement(using: &self) ?? [])
    default: if Int.random(in: 0..<4, using: &self) == 0 { text.removeSubrange(place...) } else { text[place] = 0x30 }
    }
  }
}
