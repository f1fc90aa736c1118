import Foundation
import Testing
import TrellisDiagram
import TrellisModel

/// With `TRELLIS_RECORD_GOLDEN=1` in the environment the files are written again, and the tests fail so that the new files are looked
/// at.
@Suite("Pictures of the sample models") struct GoldenTests {
  private static let folder = SomeModels.root.appending(path: "Tests/TrellisDiagramTests/Golden")

  @Test("are the ones that are kept", arguments: ["Diary", "Dex", "InnerInterview", "ReceiptMind"])
  func samples(_ name: String) throws {
    let diagram = Diagram(try SomeModels.sample(name))
    try compare(diagram.svg(), "\(name).svg")
    try compare(diagram.mermaid(), "\(name).mmd")
    try compare(diagram.dot(), "\(name).dot")
  }

  /// Everything that a picture can show.
  @Test("of a model with a hierarchy, one-way and own relationships is the one that is kept")
  func zoo() throws {
    let diagram = Diagram(try Self.zoo.resolved())
    try compare(diagram.svg(), "Zoo.svg")
    try compare(diagram.mermaid(), "Zoo.mmd")
    try compare(diagram.dot(), "Zoo.dot")
  }

  private static let zoo = ModelDescription(
    name: "Zoo", enums: [EnumDescription("Diet", caseNames: ["plants", "meat"], numbers: [1, 2])],
    codableTypes: ["Size"],
    entities: [
      EntityDescription(
        "Animal", isAbstract: true,
        attributes: [
          AttributeDescription("name", .string), AttributeDescription("diets", .array(.enumeration("Diet"))),
          AttributeDescription("age", .double, transient: true, default: .value(.real(0))),
        ],
        relationships: [
          RelationshipDescription("keeper", to: "Person", inverse: "animals", optional: true),
          RelationshipDescription("friends", to: "Animal", inverse: "friends", toMany: true),
          RelationshipDescription("cage", to: "Cage", inverse: "animals"),
        ], uniqueKeys: [["name", "cage"]]),
      EntityDescription("Lion", parent: "Animal"),
      EntityDescription(
        "Bird", parent: "Animal", attributes: [AttributeDescription("span", .codable("Size"), optional: true)]),
      EntityDescription("Parrot", parent: "Bird", attributes: [AttributeDescription("words", .array(.string))]),
      EntityDescription(
        "Person", attributes: [AttributeDescription("pk", .uuid, default: .new)],
        relationships: [
          RelationshipDescription(
            "animals", to: "Animal", inverse: "keeper", deleteRule: .deny, toMany: true, minCount: 1, maxCount: 9),
          RelationshipDescription("home", to: "Cage", deleteRule: .noAction, optional: true),
          RelationshipDescription("favorites", to: "Animal", toMany: true, ordered: true, maxCount: 3),
        ], uniqueKeys: [["pk"]]),
      EntityDescription(
        "Cage",
        relationships: [
          RelationshipDescription("animals", to: "Animal", inverse: "cage", deleteRule: .cascade, toMany: true),
          RelationshipDescription("left", to: "Cage", inverse: "right", optional: true),
          RelationshipDescription("right", to: "Cage", inverse: "left", optional: true),
        ]),
    ])

  private func compare(_ text: String, _ name: String) throws {
    let file = Self.folder.appending(path: name)
    if ProcessInfo.processInfo.environment["TRELLIS_RECORD_GOLDEN"] != nil {
      try text.write(to: file, atomically: true, encoding: .utf8)
      Issue.record("\(name) was recorded: look at it and run again without TRELLIS_RECORD_GOLDEN")
      return
    }
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    #expect(text.split(separator: "\n") == lines, "differs from \(name)")
  }
}

@Suite("A picture as text for other programs") struct TextTests {
  @Test("names that Mermaid takes for its own words are quoted, and so are those with other characters")
  func mermaidNames() throws {
    let names = ["Order", "End", "Title", "To", "Class", "a b\"c%"]
    let model = try ModelDescription(name: "M", entities: names.map { EntityDescription($0) }).resolved()
    #expect(
      Diagram(model).mermaid() == "erDiagram\n  Order\n  \"End\"\n  \"Title\"\n  \"To\"\n  \"Class\"\n  \"a b_c_\"\n")
  }

  @Test("names in DOT are escaped")
  func dotNames() throws {
    let model = try ModelDescription(name: "a\"b\\\n", entities: [EntityDescription("x<y>&\"")]).resolved()
    let text = Diagram(model).dot()
    #expect(text.hasPrefix("digraph \"a\\\"b\\\\ \" {\n"))
    #expect(text.contains("<b>x&lt;y&gt;&amp;&quot;</b>"))
  }
}
