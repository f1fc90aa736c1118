import TrellisDynamic
import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage

extension DynamicObject {
  var rowVersion: Int64 { storedVersion }

  /// The entity and the key, and a text by which people know the object.
  var title: String { label(length: 60).map { "\($0) (\(self))" } ?? "\(self)" }
}

extension Entity {
  /// The attributes with a column.
  var storedAttributes: [Attribute] { properties.compactMap(\.attribute).filter { $0.column != nil } }
  var relationships: [Relationship] { properties.compactMap(\.relationship).filter { !$0.isTransient } }
}

extension Site {
  /// A link to an object, with a text by which people know it.
  func link(to object: DynamicObject) -> HTML {
    "<a href=\"\(address(of: object))\">\(object.label(length: 60) ?? "\(object)")</a>"
  }
}
