import TrellisModel

/// How the objects of an entity are mapped to JSON documents, with what the entity inherits.
struct DescribedMapping {
  private let style: EntityJSON.Style
  /// The properties by which an import finds an object; empty if it always inserts one.
  let key: [String]
  /// The path to the text that tells the entity.
  let path: String?
  /// The text that stands for the entity.
  let value: String?

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
    if path != nil { parts.append(entityText) }
    return parts.joined(separator: ", ")
  }

  /// What tells the entity: `"canine" at type.name`.
  var entityText: String { path.flatMap { path in value.map { "\"\($0)\" at \(path)" } } ?? "nothing" }

  /// Where a property lies in documents; nil if it is not mapped.
  func place(of property: Property) -> String? {
    let json: PropertyJSON?
    switch property {
    case .attribute(let attribute):
      json = attribute.description.json ?? PropertyJSON()
      if attribute.description.isTransient { return nil }
    case .relationship(let relationship): json = relationship.description.json
    }
    guard let json, json.isMapped else { return nil }
    return json.path
      ?? property.name.split(separator: ".").map { style.spelling(of: String($0)) }.joined(separator: ".")
  }

  /// Where a property lies in documents, and what happens on the way; empty if it is not mapped.
  func text(of property: Property) -> String {
    guard let place = place(of: property) else { return "" }
    let json =
      switch property {
      case .attribute(let attribute): attribute.description.json ?? PropertyJSON()
      case .relationship(let relationship): relationship.description.json ?? PropertyJSON()
      }
    var parts = [place]
    if let date = json.date { parts.append("date \(date)") }
    if let reference = json.reference { parts.append("reference \(reference)") }
    if !json.take.isEmpty { parts.append("take \(json.take.map(\.rawValue).joined(separator: " "))") }
    if json.members != .replace { parts.append("members \(json.members.rawValue)") }
    if json.keepsOnNull { parts.append("null keep") }
    if json.emptyIsNull { parts.append("empty null") }
    return parts.joined(separator: ", ")
  }
}
