import Testing
import Trellis
import TrellisModel
import TrellisModelFile

@Suite("What is as large as may be is taken, what is one larger is refused") struct LimitTests {
  private func isRefused(_ text: String, _ code: String) -> Bool {
    ModelFile.parse(Array(text.utf8), path: "f").diagnostics.contains { $0.code.rawValue == code }
  }

  private func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

  @Test("the depth of a model file")
  func modelDepth() {
    func nested(_ depth: Int) -> String { times(depth, "[") + times(depth, "]") }
    #expect(!isRefused(nested(Limits.depth), "too-deep"))
    #expect(isRefused(nested(Limits.depth + 1), "too-deep"))
  }

  @Test("the properties of an entity")
  func properties() {
    func model(_ count: Int) -> String {
      let attributes = (0..<count).map { "\"p\($0)\": \"string\"" }.joined(separator: ", ")
      return "{ \"model\": \"M\", \"entities\": { \"A\": { \"attributes\": { \(attributes) } } } }"
    }
    #expect(!isRefused(model(Limits.properties), "too-many"))
    #expect(isRefused(model(Limits.properties + 1), "too-many"))
  }

  @Test("the cases of an enum")
  func cases() {
    func model(_ count: Int) -> String {
      let names = (0..<count).map { "\"c\($0)\"" }.joined(separator: ",")
      return "{ \"model\": \"M\", \"enums\": { \"A\": { \"type\": \"string\", \"cases\": [\(names)] } } }"
    }
    #expect(!isRefused(model(Limits.enumCases), "too-many"))
    #expect(isRefused(model(Limits.enumCases + 1), "too-many"))
  }

  @Test("the size of a model file")
  func modelSize() {
    func model(_ size: Int) -> String { "{ \"model\": \"M\" }" + times(size - 16, " ") }
    #expect(!isRefused(model(Limits.fileSize), "file-too-large"))
    #expect(isRefused(model(Limits.fileSize + 1), "file-too-large"))
  }

  @Test("the depth of a pattern")
  func patternDepth() throws {
    func nested(_ depth: Int) -> String { times(depth, "(") + "a" + times(depth, ")") }
    _ = try Pattern(nested(Pattern.depthLimit))
    #expect(throws: PatternError.self) { try Pattern(nested(Pattern.depthLimit + 1)) }
  }

  @Test("the digits of a decimal")
  func digits() {
    #expect(DecimalText.canonical(times(DecimalText.maximumDigits, "7")) != nil)
    #expect(DecimalText.canonical(times(DecimalText.maximumDigits + 1, "7")) == nil)
  }

  @Test("the length of a text with a rule, in scalars")
  func textLength() throws {
    let container = try PersistentContainer(model: .club, store: .memory, log: nil)
    let context = container.newContext()
    let person = Person(in: context, name: times(20, "가"))
    try context.save()
    person.name = times(21, "가")
    #expect(throws: ValidationError.self) { try context.save() }
  }
}
