import Trellis
import TrellisModel
import TrellisTestSupport

/// The model under test, read once.
struct Rules: Sendable {
  let shapes: Shapes
  /// The number of each shape's property, as generated code knows it.
  let properties: [Int]
  /// Where the store keeps each shape.
  let homes: [RelationshipStorage]

  init(_ objectModel: ObjectModel = .rules) throws {
    LinkFindings.demandNone()
    let model = try Model(objectModel.description)
    let shapes = Shapes(model.description)
    self.shapes = shapes
    let found = shapes.all.map { model.entity(named: $0.entity)?.property(named: $0.name) }
    properties = found.map { $0?.index ?? -1 }
    homes = found.map { $0?.relationship?.home ?? .transient }
  }
}

extension RelationshipStorage {
  /// Whether the object's own row holds the reference.
  var isColumn: Bool { if case .column = self { true } else { false } }
}
