import Foundation
import Testing
import TrellisJSON
import TrellisRuntime

@Suite("Imports of many faulty objects") struct FaultyLineTests {
  private static let model = """
    { "model": "M", "entities": { "User": { "json": { "key": "id" }, "attributes": { "id": "int64", "age": "int16?" },
      "unique": ["id"], "relationships": {
        "kids": { "destination": "Kid", "inverse": "parent", "toMany": true, "deleteRule": "cascade", "json": true } } },
      "Kid": { "json": { "key": "name" }, "attributes": { "name": "string", "age": "int16?",
        "outer": { "type": "int64?", "json": "^.id" } }, "unique": ["name"],
        "relationships": { "parent": { "destination": "User", "inverse": "kids" } } } } }
    """

  /// Documents with a number of faults of one kind.
  private static let documents: [(name: String, lines: Bool, document: @Sendable (Int) -> String)] = [
    ("no JSON", true, { Array(repeating: #"{"id": 1,, "age": 2}"#, count: $0).joined(separator: "\n") }),
    ("wrong values", true, { (0..<$0).map { #"{"id": \#($0), "age": "x"}"# }.joined(separator: "\n") }),
    ("absent keys", false, { "[" + Array(repeating: #"{"age": 1}"#, count: $0).joined(separator: ",\n") + "]" }),
    (
      "wrong nested values", false,
      { #"{"id": 1, "kids": ["# + (0..<$0).map { #"{"name": "\#($0)", "age": "x"}"# }.joined(separator: ",\n") + "]}" }
    ),
    (
      "values of an enclosing object", false,
      { #"{"kids": ["# + (0..<$0).map { #"{"name": "\#($0)", "age": "x"}"# }.joined(separator: ",") + #"], "id": 1}"# }
    ),
  ]

  @Test("cost time in proportion to their number", arguments: documents.indices)
  func linear(_ number: Int) throws {
    let (name, lines, document) = Self.documents[number]
    func seconds(_ count: Int) throws -> Double {
      let text = document(count)
      return try (0..<2).map { _ in
        let shelf = try DynamicShelf(Self.model)
        let start = clock()
        let report = try shelf.context.importJSON(
          entity: 0, from: Data(text.utf8), layout: lines ? .lines : .document)
        #expect(report.rejected.count == count)
        return Double(clock() - start) / Double(CLOCKS_PER_SEC)
      }.min() ?? 0
    }
    // Eight times the faults: some eight times the time, where the square would be 64 times.
    let (few, many) = (try seconds(400), try seconds(3_200))
    #expect(many < max(few, 0.01) * 24, "\(name): \(few) s, \(many) s")
  }

  @Test("each fault has its own place")
  func places() throws {
    let shelf = try DynamicShelf(Self.model)
    let text = "{\"id\": 1}\n" + Array(repeating: "{\"id\": 2, \"age\": \"x\"}\n{]\n", count: 1_500).joined()
    for pieces in [1_000, 1 << 20] {
      let report = try shelf.context.importJSON(entity: 0, from: Data(text.utf8), layout: .lines, pieces: pieces)
      let wrong = report.rejected.filter { $0.code == .badValue }
      let broken = report.rejected.filter { $0.code == .badSyntax }
      #expect(wrong.map { $0.place?.line } == (0..<1_500).map { $0 * 2 + 2 })
      #expect(broken.map { $0.place?.line } == (0..<1_500).map { $0 * 2 + 3 })
      #expect(wrong.allSatisfy { $0.place?.column == 18 && $0.place?.pointer == "/age" })
      #expect(broken.allSatisfy { $0.place?.column == 2 && $0.place?.pointer == "" })
    }
  }
}
