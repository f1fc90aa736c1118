import Foundation
import Testing
import TrellisGenerator
import TrellisModel
import TrellisModelFile

/// Both users of ``ReservedNames``: the checks on model files, which say where and what else to write, and the generator.
@Suite("Names that a model may use") struct NameAgreementTests {
  enum Role: String, CaseIterable {
    case entity, enumeration, codable, attribute, toOne, toMany, swiftName, enumCase, request

    /// A model with one thing of this name.
    func model(_ name: String) -> String {
      switch self {
      case .entity: #"{ "model": "M", "entities": { "\#(name)": {} } }"#
      case .enumeration:
        #"{ "model": "M", "enums": { "\#(name)": { "type": "string", "cases": ["a"] } }, "entities": {} }"#
      case .codable: #"{ "model": "M", "codableTypes": ["\#(name)"], "entities": {} }"#
      case .attribute: #"{ "model": "M", "entities": { "A": { "attributes": { "\#(name)": "string" } } } }"#
      case .toOne: relationship(name, #""optional": true"#)
      case .toMany: relationship(name, #""toMany": true"#)
      case .swiftName:
        #"{ "model": "M", "entities": { "A": { "attributes": { "x": { "type": "bool", "swiftName": "\#(name)" } } } } }"#
      case .enumCase: #"{ "model": "M", "enums": { "E": { "type": "int", "cases": ["\#(name)"] } }, "entities": {} }"#
      case .request: #"{ "model": "M", "entities": { "A": { "fetchRequests": { "\#(name)": {} } } } }"#
      }
    }

    private func relationship(_ name: String, _ rest: String) -> String {
      #"{ "model": "M", "entities": { "A": { "relationships": { "\#(name)": { "destination": "A", \#(rest) } } } } }"#
    }

    /// The same as a description, which no check has seen.
    func description(_ name: String) -> ModelDescription {
      switch self {
      case .entity: ModelDescription(name: "M", entities: [EntityDescription(name)])
      case .enumeration:
        ModelDescription(name: "M", enums: [EnumDescription(name, caseNames: ["a"])], entities: [])
      case .codable: ModelDescription(name: "M", codableTypes: [name], entities: [])
      case .attribute: model(EntityDescription("A", attributes: [AttributeDescription(name, .string)]))
      case .toOne:
        model(EntityDescription("A", relationships: [RelationshipDescription(name, to: "A", optional: true)]))
      case .toMany: model(EntityDescription("A", relationships: [RelationshipDescription(name, to: "A", toMany: true)]))
      case .swiftName: model(EntityDescription("A", attributes: [AttributeDescription("x", .bool, swiftName: name)]))
      case .enumCase:
        ModelDescription(name: "M", enums: [EnumDescription("E", caseNames: [name], numbers: [1])], entities: [])
      case .request: model(EntityDescription("A", fetchRequests: [FetchRequestDescription(name)]))
      }
    }

    private func model(_ entity: EntityDescription) -> ModelDescription {
      ModelDescription(name: "M", entities: [entity])
    }

    var isType: Bool { [.entity, .enumeration, .codable].contains(self) }
    var isCase: Bool { self == .enumCase }
  }

  @Test("the checks refuse a name exactly where the generator does, and say where", arguments: Role.allCases)
  func agreement(role: Role) throws {
    let names =
      role.isType ? try NameCandidates.types() : role.isCase ? try NameCandidates.all() : try NameCandidates.members()
    #expect(names.count > 100)
    for name in names.sorted() {
      let result = ModelFile.parse(Array(role.model(name).utf8), path: "M.model.json")
      let refusal = result.diagnostics.first { $0.severity == .error }
      let isGenerated = (try? generate(role.description(name), modelFileName: "M.model.json")) != nil
      #expect(isGenerated == (refusal == nil), "\(role) \(name)")
      if let refusal {
        #expect([.reservedName, .reservedCase].contains(refusal.code), "\(role) \(name): \(refusal.message)")
        #expect(
          refusal.position.column > 1 && refusal.message.contains("'\(name)'") || refusal.message.contains(".\(name)'"))
      }
    }
  }

  @Test("a name that another model of the target has is refused once, in one sentence with the other file's name")
  func neighbors() throws {
    let first = #"""
      { "model": "First", "codableTypes": ["Address", "Place"],
        "enums": { "Color": { "type": "string", "cases": ["a"] } }, "entities": { "Tag": {}, "Note": {} } }
      """#
    let second = #"""
      { "model": "FIRST", "codableTypes": ["Address", "Note"],
        "enums": { "Tag": { "type": "string", "cases": ["a"] } }, "entities": { "Color": {}, "Place": {}, "Page": {} } }
      """#
    let neighbor = try #require(ModelFile.Neighbor(Array(first.utf8), path: "Sources/App/First.model.json"))
    let result = ModelFile.parse(Array(second.utf8), path: "Second.model.json", besides: [neighbor])
    #expect(result.description == nil)
    #expect(result.diagnostics.allSatisfy { $0.code == .nameClash && $0.message.contains("'First.model.json'") })
    #expect(result.diagnostics.count == 5)
    let text = result.rendered()
    #expect(text.contains(":2:14: error: Enum 'Tag' has the name of entity 'Tag' in 'First.model.json'"))
    #expect(!text.contains("'Address'") && !text.contains("'Page'"))
    #expect(ModelFile.Neighbor(Array("{".utf8), path: "x") == nil)
  }

  /// `TRELLIS_RECORD=1` writes the models anew. `Tests/Packages/Consumer` compiles them.
  @Test("every name that may be used is in a model that is compiled", arguments: NameCandidates.Recorded.allCases)
  func compiled(recorded: NameCandidates.Recorded) throws {
    let file = Folders.root.appending(
      path: "Tests/Packages/Consumer/Sources/\(recorded.folder)/\(recorded.rawValue).model.json")
    let text = try recorded.text()
    #expect(ModelFile.parse(Array(text.utf8), path: "M.model.json").description != nil)
    guard (try? String(contentsOf: file, encoding: .utf8)) != text else { return }
    if CaseTests.isRecording { try Data(text.utf8).write(to: file) }
    Issue.record("\(recorded.rawValue).model.json lacks a name; record it with TRELLIS_RECORD=1 and build the package")
  }
}
