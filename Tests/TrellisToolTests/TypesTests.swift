import Foundation
import Testing
import TrellisTestSupport

@testable import TrellisTool

@Suite("trellis types") struct TypesTests {
  /// `TRELLIS_RECORD=1` writes the files in `Types` anew; a test that recorded something fails.
  @Test("writes the types of each language as it did", arguments: ["typescript", "kotlin", "json-schema", "openapi"])
  func languages(_ language: String) throws {
    let folder = try ToolFolder()
    let model = ToolFolder.root.appending(path: "Tests/TrellisToolTests/Types/Media.model.json").path
    let outcome = try folder.run("types", model, "--language", language)
    #expect(outcome.status == 0 && outcome.errors == "")
    let file = ToolFolder.root.appending(path: "Tests/TrellisToolTests/Types/\(language).txt")
    if TestSettings.number("TRELLIS_RECORD") == 1 {
      guard outcome.output != (try? String(contentsOf: file, encoding: .utf8)) else { return }
      try outcome.output.write(to: file, atomically: true, encoding: .utf8)
      Issue.record("recorded anew: look at it and run again without TRELLIS_RECORD")
    } else {
      #expect(try String(contentsOf: file, encoding: .utf8) == outcome.output, "differs from Types/\(language).txt")
    }
  }

  private static let words = """
    { "model": "Todo",
      "enums": { "Unit": { "type": "string", "cases": ["m", "M", { "name": "companion", "value": "\\u000c$x" }] },
        "Kind": { "type": "string", "cases": ["x"] } },
      "entities": {
        "List": { "json": { "key": "id" }, "doc": "All of lists/*.json and */ more.",
          "attributes": { "id": "int64", "tags": { "type": "[string]", "default": [] }, "unit": "Unit",
            "path": { "type": "string", "doc": "A pattern such as images/*.png" }, "companion": "string" },
          "relationships": { "items": { "destination": "Item", "inverse": "list", "toMany": true, "json": true } }, "unique": ["id"] },
        "Item": { "json": { "key": "id" },
          "attributes": { "id": "int64", "kind": { "type": "Kind", "json": "sort" }, "n": { "type": "string?", "json": "kind.name" },
            "u1": { "type": "string?", "json": "image_url" }, "u2": { "type": "string?", "json": "imageUrl" },
            "v1": { "type": "string?", "json": "a_b.x" }, "v2": { "type": "string?", "json": "aB.y" },
            "w1": { "type": "string?", "json": "item.class" }, "w2": { "type": "string?", "json": "item.list.string.x" },
            "w3": { "type": "string?", "json": "item.item.y" }, "w4": { "type": "string?", "json": "XY" },
            "w5": { "type": "string?", "json": "xY" } },
          "relationships": { "list": { "destination": "List", "inverse": "items", "optional": true } }, "unique": ["id"] },
        "Array": { "json": { "key": "id" }, "attributes": { "id": "int64" }, "unique": ["id"] },
        "Record": { "json": { "key": "id" }, "attributes": { "id": "int64" }, "unique": ["id"] }
      } }
    """

  @Test("names that a language has already, or that become equal, are others in Kotlin")
  func kotlinNames() throws {
    let folder = try ToolFolder()
    try folder.write(Self.words, to: "M.model.json")
    let outcome = try folder.run("types", "M.model.json", "--language", "kotlin")
    #expect(outcome.status == 0, "\(outcome.errors)")
    for line in [
      "enum class Unit_ {", "  @SerialName(\"m\") M,", "  @SerialName(\"M\") M_,",
      "  @SerialName(\"\\u000c\\$x\") Companion", "/** All of lists/ *.json and * / more. */", "data class List_(",
      "  val tags: List<String>,", "  val unit: Unit_,", "  /** A pattern such as images/ *.png */",
      "  val sort: Kind,",
      "  val kind: Kind_,", "  data class Kind_(", "  @SerialName(\"image_url\") val imageUrl: String?,",
      "  @SerialName(\"imageUrl\") val imageUrl_: String?,", "  @SerialName(\"a_b\") val aB: AB,",
      "  @SerialName(\"aB\") val aB_: AB_,", "  val item: Item_,", "    val `class`: String?,", "    val list: List_",
      "  @SerialName(\"xY\") val xY_: String?",
    ] { #expect(outcome.output.contains(line), "\(line) is not in \(outcome.output)") }
  }

  @Test("names that TypeScript has already are others there, and the text compiles if there is a compiler")
  func typeScriptNames() throws {
    let folder = try ToolFolder()
    try folder.write(Self.words, to: "M.model.json")
    let outcome = try folder.run("types", "M.model.json", "--language", "typescript")
    for line in [
      "export interface Array_ {", "export interface Record_ {", "export interface List {", "tags: Array<string>;",
    ] {
      #expect(outcome.output.contains(line), "\(line) is not in \(outcome.output)")
    }
    #expect(!outcome.output.contains("export interface Array {"))
  }

  @Test(
    "a name is legal and unique in its scope",
    arguments: [
      (["a", "a", "a"], ["a", "a_", "a__"]), (["a b", "aB", "a-b"], ["aB", "aB_", "aB__"]),
      (["", "_", "é"], ["value", "value_", "value__"]),
      (["1", "2x", "1"], ["_1", "_2x", "_1_"]), (["XY", "xY"], ["XY", "xY_"]), (["list", "List"], ["list", "List_"]),
      (["Companion", "companion"], ["Companion_", "companion"]), (["$ b", "b"], ["b", "b_"]),
      (["aé", "a"], ["a", "a_"]),
    ] as [([String], [String])])
  func scopes(_ texts: [String], _ names: [String]) {
    var scope = LanguageScope(reserving: ["Companion"], .ofAccessors)
    #expect(texts.map { scope.name($0, isType: false) } == names)
  }

  @Test(
    "the names of types are legal and unique whatever their letters",
    arguments: [
      (["list", "List", "LIST"], ["List_", "List__", "LIST"]),
      (["kind", "Kind", "KIND"], ["Kind", "Kind_", "KIND__"]),
      (["", "1"], ["Value", "_1"]), (["any", "unit", "nothing"], ["Any_", "Unit_", "Nothing_"]),
    ] as [([String], [String])])
  func typeNames(_ texts: [String], _ names: [String]) {
    var scope = LanguageScope(reserving: KotlinWriter.reserved, .ofLetters)
    let found = texts.map { scope.name($0, isType: true) }
    #expect(Set(found.map { $0.lowercased() }).count == found.count)
    #expect(KotlinWriter.reserved.isDisjoint(with: found))
    #expect(found == names)
  }

  @Test("random names are legal and unique in each scope")
  func randomNames() {
    let seed = TestSettings.seed("TRELLIS_TYPES_SEED")
    var random = SeededGenerator(seed: seed)
    let letters = Array("aAbB_1$ é.List")
    for isType in [true, false] {
      var scope = LanguageScope(reserving: KotlinWriter.reserved, isType ? .ofLetters : .ofAccessors)
      var names: Set<String> = []
      for _ in 0..<500 {
        let text = String((0..<random.below(5)).map { _ in letters[random.below(letters.count)] })
        let name = scope.name(text, isType: isType)
        let isNew = names.insert(isType ? name.lowercased() : name.prefix(1).uppercased() + name.dropFirst()).inserted
        #expect(isNew, "TRELLIS_TYPES_SEED=\(seed): \(text) \(name)")
        #expect(name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil, "TRELLIS_TYPES_SEED=\(seed): \(name)")
        #expect(!KotlinWriter.reserved.contains(name))
      }
    }
  }

  @Test("a model without a mapping, and a language that there is not, are told")
  func refusals() throws {
    let folder = try ToolFolder()
    try folder.write(#"{ "model": "M", "entities": { "A": { "attributes": { "b": "string" } } } }"#, to: "M.model.json")
    let bare = try folder.run("types", "M.model.json", "--language", "kotlin")
    #expect(bare.status == 1 && bare.errors.contains("no entity of 'M' has a mapping to JSON"))
    #expect(
      try folder.run("types", "M.model.json", "--language", "cobol").errors.contains("is none of typescript, kotlin"))
    #expect(try folder.run("types", "M.model.json").errors.contains("--language is needed"))
  }
}
