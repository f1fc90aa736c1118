import Testing
import TrellisGenerator
import TrellisSchema

@Suite("Keywords as names") struct KeywordTests {
  @Test(
    "stand in backticks where they are declared, and not where they label an argument",
    arguments: ["var", "let", "inout"])
  func labels(word: String) throws {
    let model = ModelDescription(
      name: "M", entities: [EntityDescription("Thing", attributes: [AttributeDescription(word, .string)])])
    let text = try GeneratedFile(model, modelFileName: "M.model.json").text
    #expect(text.contains("(in context: ManagedObjectContext, `\(word)`: Swift.String)"))
    #expect(text.contains("Snapshot(objectID: .unassigned, \(word): `\(word)`)"))
  }
}
