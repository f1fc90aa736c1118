import Foundation
import Testing
import TrellisGenerator
import TrellisModel

@Suite("Enums of many cases") struct LargeEnumTests {
  @Test(
    "look raw values up in tables, with no switch over the cases",
    arguments: [EnumDescription.UnknownPolicy.preserve, .useDefault("c1"), .reject])
  func tables(unknown: EnumDescription.UnknownPolicy) throws {
    let names = (0..<3_000).map { "c\($0)" }
    for description in [
      EnumDescription("Large", caseNames: names, unknown: unknown),
      EnumDescription("Large", caseNames: names, numbers: names.indices.map { Int64($0) }, unknown: unknown),
    ] {
      let text = try generate(
        ModelDescription(name: "M", enums: [description], entities: []), modelFileName: "M.model.json")
      #expect(!text.contains("switch "))
      #expect(text.contains("private static let _rawValues"))
      // A case may be named `Swift`. It hides the module in expressions.
      #expect(!text.contains("Swift.Dictionary(") && !text.contains("Swift.zip("))
    }
  }

  @Test("one of few cases has a switch")
  func few() throws {
    let model = ModelDescription(name: "M", enums: [EnumDescription("Small", caseNames: ["a", "b"])], entities: [])
    #expect(try generate(model, modelFileName: "M.model.json").contains("switch rawValue {"))
  }
}
