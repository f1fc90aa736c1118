import TrellisDynamic
import TrellisModel
@_spi(Generated) import TrellisRuntime

/// An object as JSON of bounded size, with its version.
enum ObjectRow {
  /// The greatest number of bytes of a value, and of scalars of a text that is cut.
  private static let (mostBytes, mostLetters) = (4_000, 1_000)
  /// The greatest number of members that are named in a list of objects, and in one object.
  static let (fewMembers, manyMembers) = (20, 100)

  /// - Parameters:
  ///   - properties: The properties that are shown; nil for all but the relationships to many.
  ///   - members: The greatest number of members that are named.
  static func text(_ object: DynamicObject, _ properties: [Property]?, members: Int) throws -> String {
    var found = [("_object", JSONText.quoted("\(object)")), ("_version", "\(object.storedVersion)")]
    var cut: [String] = []
    for property in try properties ?? object.ownEntity().properties {
      if let relationship = property.relationship, relationship.isToMany {
        if properties == nil || relationship.isTransient { continue }
        let keys = try object.memberKeys(relationship.name)
        found.append((property.name, try names(keys.prefix(members), of: relationship, object)))
        if keys.count > members { cut.append(property.name) }
        continue
      }
      guard let value = try ObjectJSON.value(of: property, of: object, members: false) else { continue }
      let isShort = value.utf8.count <= mostBytes
      found.append((property.name, isShort ? value : try shortened(property, of: object)))
      if !isShort { cut.append(property.name) }
    }
    if !cut.isEmpty { found.append(("_cut", JSONText.list(cut.map(JSONText.quoted)))) }
    return JSONText.object(found)
  }

  /// The names of members, which are loaded in one request.
  static func names(_ keys: some Collection<Int64>, of relationship: Relationship, _ object: DynamicObject) throws
    -> String
  {
    let members = try object.managedObjectContext?.objects(Array(keys), entity: relationship.destination) ?? [:]
    return JSONText.list(keys.compactMap { members[$0] as? DynamicObject }.map { JSONText.quoted("\($0)") })
  }

  /// The beginning of a text; null for other values, whose parts say nothing.
  private static func shortened(_ property: Property, of object: DynamicObject) throws -> String {
    guard let attribute = property.attribute, attribute.type == .string,
      case .text(let text) = try object.value(attribute.name)
    else { return "null" }
    return JSONText.quoted(String(String.UnicodeScalarView(text.unicodeScalars.prefix(mostLetters))))
  }
}
