import TrellisModel

extension Entity {
  /// The attributes that the entity itself declares.
  var ownAttributes: [Attribute] { properties.compactMap(\.attribute).filter { $0.entity == index } }

  /// The relationships that the entity itself declares.
  var ownRelationships: [Relationship] { properties.compactMap(\.relationship).filter { $0.entity == index } }

  /// The keys that the entity itself declares.
  var ownKeys: [UniqueKey] { uniqueKeys.filter { $0.entity == index } }

  /// Whether an attribute alone is a key.
  func isUnique(_ attribute: Attribute) -> Bool { ownKeys.contains { $0.properties == [attribute.index] } }
}
