import Testing
import TrellisModelFile

@Suite("Names in removed") struct RemovedNameTests {
  private func codes(_ text: String) -> [String] {
    ModelFile.parse(Array(text.utf8), path: "M").diagnostics.filter { $0.severity == .error }.map(\.code.rawValue)
  }

  @Test("what has become abstract or transient may be removed, and what is stored may not")
  func inUse() {
    func model(_ isAbstract: Bool, _ isTransient: Bool) -> String {
      """
      {
        "model": "M", "removed": ["A"],
        "entities": {
          "A": { "abstract": \(isAbstract) },
          "B": { "parent": "A", "attributes": { "x": { "type": "int16?", "transient": \(isTransient) } }, "removed": ["x"] }
        }
      }
      """
    }
    #expect(codes(model(true, true)) == [])
    #expect(codes(model(false, true)) == ["rename-clash"])
    #expect(codes(model(true, false)) == ["rename-clash"])
  }
}
