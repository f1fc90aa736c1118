import Trellis
import TrellisSchema

/// The model under test, read once.
struct Rules: Sendable {
  let shapes: Shapes
  /// The number of each shape's property, as generated code knows it.
  let properties: [Int]

  init() throws {
    let model = try Model(ObjectModel.rules.description)
    let shapes = Shapes(model.description)
    self.shapes = shapes
    properties = shapes.all.map { model.entity(named: $0.entity)?.property(named: $0.name)?.index ?? -1 }
  }
}
