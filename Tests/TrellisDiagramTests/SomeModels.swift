import Foundation
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

/// Models to draw.
enum SomeModels {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static func sample(_ name: String) throws -> Model {
    try model(Array(Data(contentsOf: root.appending(path: "Models/\(name)/\(name).model.json")))).resolved()
  }

  /// The largest model of ``all()``, in entities. Long runs draw those of several hundred, too.
  private static let largest = TestSettings.number("TRELLIS_DIAGRAM_ENTITIES", or: 40)

  /// The valid models of the repository: those of samples and tests, and those in the pages.
  ///
  /// - Parameter most: The greatest number of entities, unless a long run is wanted.
  static func all(atMost most: Int = .max) throws -> [(name: String, model: Model)] {
    var found: [(String, Model)] = []
    for folder in ["Models", "Tests", "Docs"] {
      let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
      for case let file as URL in files ?? .init() {
        let bytes = [UInt8]((try? Data(contentsOf: file)) ?? Data())
        if file.path.hasSuffix(".model.json") {
          if let model = try? model(bytes).resolved() { found.append((file.lastPathComponent, model)) }
        } else if file.pathExtension == "md" {
          for block in String(decoding: bytes, as: UTF8.self).components(separatedBy: "```json\n").dropFirst() {
            let text = block.components(separatedBy: "\n```")[0]
            if let model = try? model(Array(text.utf8)).resolved() { found.append((file.lastPathComponent, model)) }
          }
        }
      }
    }
    let most = largest > 40 ? largest : min(most, largest)
    return found.filter { $0.1.entities.count <= most }.sorted { $0.0 < $1.0 }
  }

  struct NoModel: Error {}

  private static func model(_ bytes: [UInt8]) throws -> ModelDescription {
    guard let description = ModelFile.parse(bytes, path: "M.model.json").description else { throw NoModel() }
    return description
  }

  /// A model by chance: every kind of relationship and hierarchies, dense as well as sparse.
  static func random(entities count: Int, relationships: Int, using generator: inout SeededGenerator)
    -> ModelDescription
  {
    var entities = (0..<count).map { EntityDescription("Entity\($0)") }
    for number in entities.indices {
      entities[number].isAbstract = generator.below(8) == 0
      if number > 0, generator.below(5) == 0 { entities[number].parent = entities[generator.below(number)].name }
      for place in 0..<generator.below(7) {
        let type = AttributeType.scalars[generator.below(AttributeType.scalars.count)]
        let name = "a\(number)x\(place)" + String(repeating: "n", count: generator.below(12))
        entities[number].attributes.append(AttributeDescription(name, type, optional: generator.below(2) == 0))
        if generator.below(8) == 0 { entities[number].uniqueKeys.append([name]) }
      }
    }
    for number in 0..<relationships { connect(&entities, number, &generator) }
    return ModelDescription(name: "Random", entities: entities)
  }

  private static func connect(
    _ entities: inout [EntityDescription], _ number: Int, _ generator: inout SeededGenerator
  ) {
    let first = generator.below(entities.count)
    // Many relationships have an end at one of few entities.
    let second = generator.below(3) == 0 ? generator.below(min(entities.count, 3)) : generator.below(entities.count)
    let name = "r\(number)"
    var here = end(name, to: entities[second].name, &generator)
    switch generator.below(8) {
    case 0: entities[first].relationships.append(here)
    case 1 where first == second:
      here.inverse = name
      entities[first].relationships.append(here)
    default:
      here.inverse = name + "Back"
      var there = end(name + "Back", to: entities[first].name, &generator)
      there.inverse = name
      entities[first].relationships.append(here)
      entities[second].relationships.append(there)
    }
  }

  private static func end(
    _ name: String, to destination: String, _ generator: inout SeededGenerator
  ) -> RelationshipDescription {
    let isToMany = generator.below(2) == 0
    return RelationshipDescription(
      name, to: destination, deleteRule: DeleteRule.allCases[generator.below(4)], toMany: isToMany,
      ordered: isToMany && generator.below(2) == 0, minCount: isToMany && generator.below(3) == 0 ? 1 : nil,
      maxCount: isToMany && generator.below(3) == 0 ? 1_000 : nil, optional: generator.below(2) == 0)
  }
}

extension ModelDescription {
  func resolved() throws -> Model { try Model(self) }
}
