import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisTestSupport

@Suite("Mutated documents") struct MutatedDocumentTests {
  private static let count = TestSettings.number("TRELLIS_IMPORT_MUTATIONS", or: 400)
  private static let seed = TestSettings.number("TRELLIS_IMPORT_SEED", or: UInt64(20_261_125))

  private static let documents = [
    #"""
    [{"id": 1, "full_name": "Kim", "life": {"born": "31.01.1990"}, "seen": 17, "contact": {"e-mail": "k@e.org",
      "address": {"street": "Sea 1"}}, "labels": [{"text": "a"}], "scores": [1, 2], "genre": "poetry",
      "marks": [{"value": 4.5, "source": {"name": "press"}}], "prizes": [{"name": "Sun"}], "active": false, "fee": 12.5,
      "site": "https://e.org/", "token": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "photo": "SGk=", "phones": {"home": "1"},
      "works": [{"isbn": "x", "title": "X", "kind": {"name": "book"}, "pages": 10, "publisher": {"url": "/p/sun"}},
                {"kind": {"name": "poem"}, "isbn": "y", "title": "Y", "lines": 4}], "friend_ids": [2, 1], "mentor": 2},
     {"id": 2, "full_name": "Lee", "mentor": {"id": 3, "full_name": "Ann"}, "works": [], "phones": {}, "genre": null},
     {"id": 4, "full_name": "Bo", "mentor": null, "friend_ids": [1, 2, 3, 4], "works": [{"isbn": "z", "title": "Z",
      "kind": {"name": "book"}}]}]
    """#,
    "{\"id\": 1, \"full_name\": \"a\", \"mentor\": 2}\n{\"id\": 2, \"full_name\": \"b\", \"works\": [{\"isbn\": \"x\", \"title\": \"t\", \"kind\": {\"name\": \"poem\"}}]}\n{\"id\": 1, \"active\": false}\n",
  ]

  /// Pieces that mean something somewhere.
  private static let pieces = [
    "null", "true", "-1", "1e400", "\"\"", "{}", "[]", "{", "]", ",", ":", "\\u0000", "\\ud800", "70000",
    "99999999999999999999", "\"book\"", "{\"id\": 1}", "[null]", "1", "2", "\u{FEFF}", "é", "\"id\": 3,", "\n",
  ]

  @Test("whatever the text is, the store stays right, and each problem has a place that exists")
  func mutated() throws {
    var random = SeededGenerator(seed: Self.seed)
    var rejected = 0
    for number in 0..<Self.count {
      let original = Self.documents[number % Self.documents.count]
      let layout: JSONLayout = number % Self.documents.count == 1 ? .lines : .document
      let bytes = mutate(Array(original.utf8), &random)
      let shelf = try Shelf()
      try shelf.take(
        #"[{"id": 2, "full_name": "old", "works": [{"isbn": "x", "title": "o", "kind": {"name": "book"}}]}]"#)
      let before = try shelf.picture()
      let policy = MergePolicy.allCases.randomElement(using: &random) ?? .objectTrump
      let isWhole = Bool.random(using: &random)
      var failures: [JSONImportFailure] = []
      do {
        let report = try shelf.context.importJSON(
          Author.self, from: Data(bytes), layout: layout, mergePolicy: policy,
          rejecting: isWhole ? .everything : .objects)
        failures = report.rejected + report.unresolved
      } catch let error as JSONImportError {
        failures = error.failures
        #expect(isWhole, "\(note(number, bytes)): \(error)")
        #expect(try shelf.picture() == before, "\(note(number, bytes))")
      }
      rejected += failures.count
      #expect(!shelf.context.hasChanges, "\(note(number, bytes))")
      let problems = try shelf.container.check()
      #expect(problems.isEmpty, "\(note(number, bytes)): \(problems)")
      for failure in failures { check(failure, bytes, layout, note(number, bytes)) }
    }
    print("mutated documents: seed \(Self.seed), \(Self.count) documents, \(rejected) problems told")
    #expect(rejected > 0)
  }

  private func note(_ number: Int, _ bytes: [UInt8]) -> String {
    "seed \(Self.seed), document \(number): \(String(decoding: bytes, as: UTF8.self))"
  }

  private func mutate(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let place = Int.random(in: 0..<max(1, bytes.count), using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: if !bytes.isEmpty { bytes[place] = UInt8.random(in: 0...255, using: &random) }
      case 1: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...12, using: &random)))
      case 2:
        bytes.insert(
          contentsOf: Array((Self.pieces.randomElement(using: &random) ?? "").utf8), at: min(place, bytes.count))
      case 3: replaceValue(&bytes, from: place, &random)
      default: if Int.random(in: 0..<8, using: &random) == 0 { bytes = Array(bytes[..<place]) }
      }
    }
    return bytes
  }

  /// Puts another value where one begins, so that the text often stays JSON.
  private func replaceValue(_ bytes: inout [UInt8], from place: Int, _ random: inout SeededGenerator) {
    guard let colon = bytes[min(place, bytes.count)...].firstIndex(of: UInt8(ascii: ":")) else { return }
    let start = colon + 1
    let end = bytes[start...].firstIndex { [UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")].contains($0) }
    bytes.replaceSubrange(
      start..<(end ?? bytes.count), with: Array((Self.pieces.randomElement(using: &random) ?? "0").utf8))
  }

  private func check(_ failure: JSONImportFailure, _ bytes: [UInt8], _ layout: JSONLayout, _ note: String) {
    guard let place = failure.place else { return #expect(Bool(false), "\(failure) has no place; \(note)") }
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    #expect(place.line >= 1 && place.line <= lines.count, "\(place); \(note)")
    guard place.line >= 1, place.line <= lines.count else { return }
    #expect(place.column >= 1 && place.column <= lines[place.line - 1].count + 1, "\(place); \(note)")
    let text = layout == .lines ? Data(lines[place.line - 1]) : Data(bytes)
    guard failure.code != .badSyntax,
      let value = try? JSONSerialization.jsonObject(with: text, options: .fragmentsAllowed)
    else { return }
    #expect(resolves(place.pointer, in: value), "\(failure); \(note)")
  }

  private func resolves(_ pointer: String, in value: Any) -> Bool {
    var value = value
    for part in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
      let key = part.replacingOccurrences(of: "~1", with: "/").replacingOccurrences(of: "~0", with: "~")
      if let object = value as? [String: Any], let next = object[key] {
        value = next
      } else if let list = value as? [Any], let position = Int(key), list.indices.contains(position) {
        value = list[position]
      } else {
        return false
      }
    }
    return true
  }
}
