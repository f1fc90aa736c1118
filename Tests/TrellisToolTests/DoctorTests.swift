import Foundation
import Testing
import TrellisTestSupport

@Suite("trellis doctor") struct DoctorTests {
  private static let model = """
    {
      "model": "Shop", "enums": { "Kind": { "type": "string", "cases": ["tea", "cup"] } },
      "entities": {
        "Shelf": { "relationships": { "goods": { "destination": "Good", "inverse": "shelf", "toMany": true } } },
        "Good": {
          "attributes": {
            "name": { "type": "string", "maxLength": 30, "default": "a", "pattern": "[a-z]+" },
            "price": { "type": "decimal", "min": 0, "default": 1 }, "stock": { "type": "int16", "max": 9, "default": 1 },
            "kind": { "type": "Kind", "default": "tea" }, "tags": { "type": "[string]", "default": [] }
          },
          "relationships": { "shelf": { "destination": "Shelf", "inverse": "goods" } }
        }
      }
    }
    """

  @Test("what another program has left is one line for each kind, with the number of objects and the first keys")
  func groups() throws {
    let folder = try ToolFolder()
    try folder.write(Self.model, to: "Shop.model.json")
    #expect(try folder.run("seed", "Shop.model.json", "s.sqlite", "20").status == 0)
    #expect(try folder.run("doctor", "s.sqlite").status == 0)
    let other = try OtherProgram(folder.folder.file("s.sqlite"))
    let keys = try other.texts("SELECT _id FROM Good ORDER BY _id")
    try #require(keys.count == 20)
    try other.run("UPDATE Good SET name = 'UPPER', stock = 10 WHERE _id <= \(keys[9])")
    try other.run("UPDATE Good SET price = '-1', shelf = NULL WHERE _id = \(keys[10])")
    try other.run("UPDATE Good SET price = 'NaN', kind = 'pot', tags = '{a,b}' WHERE _id >= \(keys[18])")
    let outcome = try folder.run("doctor", "s.sqlite")
    #expect(outcome.status == 1)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    let broken = lines.suffix(from: (lines.firstIndex(of: "broken") ?? 0) + 1)
    let first = "10 objects, \(keys[0]), \(keys[1]), \(keys[2]), …: The value must"
    let last = "2 objects, \(keys[18]), \(keys[19]): The value cannot be read: the stored"
    for (property, words) in [
      ("Good.name: \(first) have the form", "[broken-rule]"), ("Good.stock: \(first) be at most 9", "[broken-rule]"),
      ("Good/\(keys[10]).price: The value must be at least 0", "[broken-rule]"),
      ("Good/\(keys[10]).shelf: It must be set", "[missing-value]"), ("Good.price: \(last)", "[unreadable-value]"),
      ("Good.kind: \(last)", "[unreadable-value]"), ("Good.tags: \(last)", "[unreadable-value]"),
    ] {
      #expect(
        broken.contains { $0.hasPrefix("  \(property)") && $0.hasSuffix(words) }, "\(property)\n\(outcome.output)")
    }
    #expect(broken.count == 7, "\(outcome.output)")
    // As JSON, each object is there.
    let json = try folder.run("doctor", "--json", "s.sqlite").output
    #expect(json.components(separatedBy: "\"code\":").count - 1 == 28)
  }
}
