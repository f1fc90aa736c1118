import Testing
import TrellisGenerator
import TrellisModel

@Suite("Key paths in generated code") struct KeyPathTests {
  private let model = ModelDescription(
    name: "M",
    entities: [
      EntityDescription(
        "Base",
        attributes: [
          AttributeDescription("default", .string),
          AttributeDescription("memo", .string, optional: true, transient: true),
        ]),
      EntityDescription("Child", parent: "Base", attributes: [AttributeDescription("size", .int64)]),
      EntityDescription("Other", attributes: [AttributeDescription("id", .uuid)]),
    ])

  private func text(foundationPredicates: Bool) throws -> String {
    try generate(model, modelFileName: "M.model.json", foundationPredicates: foundationPredicates)
  }

  @Test("each class lists its own and inherited stored properties, and its identity")
  func table() throws {
    let text = try text(foundationPredicates: true)
    let child = """
        private static let _ChildKeyPaths = TrellisRuntime.KeyPathTable([
          \\Child.objectID: TrellisRuntime.KeyPathTable.identity,
          \\Child.id: TrellisRuntime.KeyPathTable.identity,
          \\Child.`default`: 0,
          \\Child.size: 2,
        ])
      """
    #expect(text.contains(child))
    let other = """
          \\Other.objectID: TrellisRuntime.KeyPathTable.identity,
          \\Other.id: 0,
      """
    #expect(text.contains(other))
    #expect(!text.contains("\\Base.memo"))
  }

  @Test("a model that does not ask for them has none")
  func none() throws { #expect(try !text(foundationPredicates: false).contains("KeyPath")) }
}
