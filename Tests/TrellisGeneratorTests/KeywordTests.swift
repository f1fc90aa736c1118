import Testing
import TrellisGenerator
import TrellisModel

@Suite("Keywords as names") struct KeywordTests {
  @Test(
    "stand in backticks where Swift would read them as its own",
    arguments: ["var", "let", "inout"])
  func labels(word: String) throws {
    let model = ModelDescription(
      name: "M", entities: [EntityDescription("Thing", attributes: [AttributeDescription(word, .string)])])
    let text = try GeneratedFile(model, modelFileName: "M.model.json").text
    #expect(text.contains("(in context: TrellisRuntime.ManagedObjectContext, `\(word)`: Swift.String)"))
    let label = word == "inout" ? "`inout`" : word
    #expect(text.contains("Snapshot(objectID: .unassigned, \(label): `\(word)`)"))
  }
}
