import Testing
import TrellisModelFile

@Suite("Key paths in model files") struct FoundationPredicatesTests {
  private func parse(_ member: String) -> ModelFileResult {
    ModelFile.parse(Array(#"{ "model": "M"\#(member), "entities": { "A": {} } }"#.utf8), path: "M.model.json")
  }

  @Test("a model file may ask for classes that know their key paths, which is no part of the model")
  func asked() {
    let (with, without) = (parse(#", "foundationPredicates": true"#), parse(""))
    #expect(with.foundationPredicates && !without.foundationPredicates)
    #expect(!parse(#", "foundationPredicates": false"#).foundationPredicates)
    #expect(with.description == without.description && with.description != nil)
  }

  @Test("anything but true and false is refused at its place")
  func wrong() {
    let result = parse(#", "foundationPredicates": "yes""#)
    #expect(result.rendered().contains("M.model.json:1:41: error:"), "\(result.rendered())")
  }
}
