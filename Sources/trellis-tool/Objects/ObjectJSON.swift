import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisRuntime

/// An object as JSON: its name under `_object`, its values in the forms of a document, partners by name.
enum ObjectJSON {
  /// - Parameter members: Whether the members of to-many relationships are included.
  static func text(_ object: DynamicObject, members: Bool) throws -> String {
    var found = [(key: "_object", value: JSONText.quoted("\(object)"))]
    for property in try object.ownEntity().properties {
      guard let value = try value(of: property, of: object, members: members) else { continue }
      found.append((property.name, value))
    }
    return JSONText.object(found)
  }

  /// The value of a property; nil for members that are not asked for, and for what is in memory only.
  static func value(of property: Property, of object: DynamicObject, members: Bool) throws -> String? {
    switch property {
    case .attribute(let attribute):
      guard attribute.column != nil else { return nil }
      return ValueJSON.text(try object.value(attribute.name), of: attribute) ?? "null"
    case .relationship(let relationship):
      if relationship.isTransient { return nil }
      guard relationship.isToMany else {
        return try ObjectText.partnerName(of: object, relationship).map(JSONText.quoted) ?? "null"
      }
      guard members else { return nil }
      return JSONText.list(try object.members(relationship.name).map { JSONText.quoted("\($0)") })
    }
  }
}
