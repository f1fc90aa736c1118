import TrellisDynamic
import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage

extension DynamicObject {
  var key: Int64 { _key }
  var rowVersion: Int64 { storedVersion }

  /// The entity and the key, and a text by which people know the object.
  var title: String { label.map { "\($0) (\(entityName)#\(key))" } ?? "\(entityName)#\(key)" }

  /// The first text of the object that is not empty, of a unique key if there is one; nil if it has none.
  var label: String? {
    guard let entity else { return nil }
    let keyed = Set(entity.uniqueKeys.flatMap(\.properties))
    let texts = entity.properties.compactMap(\.attribute).filter { $0.type == .string && $0.column != nil }
    let ordered = texts.filter { keyed.contains($0.index) } + texts.filter { !keyed.contains($0.index) }
    for attribute in ordered {
      guard case .text(let text) = value(of: attribute), !text.isEmpty else { continue }
      return ValueText.shortened(text, 60)
    }
    return nil
  }
}

extension Entity {
  /// The attributes with a column.
  var storedAttributes: [Attribute] { properties.compactMap(\.attribute).filter { $0.column != nil } }
  var relationships: [Relationship] { properties.compactMap(\.relationship).filter { !$0.isTransient } }
}

extension Site {
  /// A link to an object, with a text by which people know it.
  func link(to object: DynamicObject) -> HTML {
    "<a href=\"\(address(of: object))\">\(object.label ?? "\(object.entityName)#\(object.key)")</a>"
  }
}
