import TrellisSchema

/// Checks that the type of each attribute is a scalar, a list of scalars, an enum of the model or one of its `Codable`
/// types.
enum AttributeTypes {
  private static let scalars = Dictionary(uniqueKeysWithValues: AttributeType.scalars.map { ($0.spelling, $0) })

  /// Names of the types in other systems.
  private static let otherNames = [
    "int": "int64", "integer": "int64", "long": "int64", "number": "double", "text": "string", "boolean": "bool",
    "datetime": "date", "timestamp": "date", "binary": "data", "blob": "data", "bytes": "data", "guid": "uuid",
    "uri": "url", "real": "double", "short": "int16",
  ]

  static func check(_ draft: inout Draft, _ findings: Findings) {
    let codableTypes = Set(draft.codableTypes.map(\.value))
    for entity in draft.entities.indices {
      for attribute in draft.entities[entity].attributes.indices {
        let name = draft.entities[entity].attributes[attribute].typeName
        guard let type = type(name.value, draft, codableTypes) else {
          report(name, of: draft.path(entity, draft.entities[entity].attributes[attribute].name.value), draft, findings)
          continue
        }
        draft.entities[entity].attributes[attribute].description.type = type
        draft.entities[entity].attributes[attribute].hasType = true
      }
    }
  }

  private static func type(_ name: String, _ draft: Draft, _ codableTypes: Set<String>) -> AttributeType? {
    if let scalar = scalars[name] { return scalar }
    if let element = name.listElement { return scalars[element].map { .array($0) } }
    if draft.enumNumbers[name] != nil { return .enumeration(name) }
    return codableTypes.contains(name) ? .codable(name) : nil
  }

  private static func report(_ name: Located<String>, of path: String, _ draft: Draft, _ findings: Findings) {
    let remedy =
      name.value.listElement.map { listRemedy($0, findings) } ?? remedy(for: name.value, draft, findings)
    findings.error(
      .unknownType, at: name.offset, "The type \(name.value.quoted) of attribute '\(path)' is unknown; \(remedy)")
  }

  private static func listRemedy(_ element: String, _ findings: Findings) -> String {
    if let scalar = otherNames[element.lowercased()]
      ?? closest(to: element, AttributeType.scalars.map(\.spelling), findings)
    {
      return "did you mean '[\(scalar)]'?"
    }
    return "a list holds values of \(AttributeType.scalars.map(\.spelling).listed), none of them optional."
  }

  private static func remedy(for name: String, _ draft: Draft, _ findings: Findings) -> String {
    if draft.entityNumbers[name] != nil { return "'\(name)' is an entity: declare it under \"relationships\"." }
    if let scalar = otherNames[name.lowercased()], draft.enumNumbers[name] == nil { return "did you mean '\(scalar)'?" }
    let names =
      AttributeType.scalars.map(\.spelling) + draft.enums.map(\.name.value) + draft.codableTypes.map(\.value)
    if let closest = closest(to: name, names, findings) { return "did you mean '\(closest)'?" }
    return "it may be \(AttributeType.scalars.map(\.spelling).listed), an enum of the model, or a struct of yours that "
      + "\"codableTypes\" lists."
  }

  private static func closest(to name: String, _ names: [String], _ findings: Findings) -> String? {
    findings.suggestions.closest(to: name, among: names)
  }
}

extension String {
  /// The text between square brackets.
  fileprivate var listElement: String? {
    hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : nil
  }
}
