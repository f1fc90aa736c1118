import TrellisModel

/// How the objects of an entity are mapped to JSON documents, with what the entity inherits.
struct DescribedMapping {
  private let style: EntityJSON.Style
  private let key: [String]
  private let path: String?
  private let value: String?

  /// The mapping; nil if the entity is not mapped.
  init?(of entity: Entity, in model: Model) {
    var lineage: [EntityJSON?] = []
    var next: Int? = entity.index
    while let number = next {
      lineage.append(model.description.entities[number].json)
      next = model.entities[number].parent
    }
    let mappings = lineage.compactMap { $0 }
    guard !mappings.isEmpty else { return nil }
    style = mappings.lazy.compactMap(\.style).first ?? .camelCase
    key = mappings.lazy.map(\.key).first { !$0.isEmpty } ?? []
    path = mappings.lazy.compactMap(\.entityPath).first
    value = path == nil ? nil : model.description.entities[entity.index].json?.entityValue ?? entity.name
  }

  /// `key number, snake_case, "canine" at type.name`
  var text: String {
    var parts = [key.isEmpty ? "no key" : "key \(key.joined(separator: " and "))", style.rawValue]
    if let path, let value { parts.append("\"\(value)\" at \(path)") }
    return parts.joined(separator: ", ")
  }

  /// Where a property lies in documents, and what happens on the way; empty if it is not mapped.
  func text(of property: Property) -> String {
    switch property {
    case .attribute(let attribute):
      let json = attribute.description.json
      guard !attribute.description.isTransient, json?.isMapped ?? true else { return "" }
      return text(json ?? PropertyJSON(), attribute.name)
    case .relationship(let relationship):
      guard let json = relationship.description.json, json.isMapped else { return "" }
      return text(json, relationship.name)
    }
  }

  private func text(_ json: PropertyJSON, _ name: String) -> String {
    var parts = [json.path ?? style.spelling(of: name)]
    if let date = json.date { parts.append("date \(date)") }
    if let reference = json.reference { parts.append("reference \(reference)") }
    if !json.take.isEmpty { parts.append("take \(json.take.map(\.rawValue).joined(separator: " "))") }
    if json.members != .replace { parts.append("members \(json.members.rawValue)") }
    if json.keepsOnNull { parts.append("null keep") }
    if json.emptyIsNull { parts.append("empty null") }
    return parts.joined(separator: ", ")
  }
}
