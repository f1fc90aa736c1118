import TrellisJSON
import TrellisModel

/// The names of columns, by the mapping of the model.
struct ColumnNames {
  /// The names for all that an object has in a row.
  private(set) var names: [String] = []
  /// The properties that have no column, with the reason.
  private(set) var leftOut: [(property: String, reason: String)] = []

  /// The names for objects of an entity and its descendants: those of the entity in the order of the model, then others.
  init(of entity: EntityMap, in map: JSONMap) {
    if let path = entity.entityPath { add(Self.name(path)) }
    for number in entity.entity.subtree {
      guard let own = map.entities[number] else { continue }
      for property in own.entity.properties { add(property, own, map) }
    }
  }

  private mutating func add(_ name: String) {
    if !names.contains(name) { names.append(name) }
  }

  private mutating func leaveOut(_ property: String, _ reason: String) {
    if !leftOut.contains(where: { $0.property == property }) { leftOut.append((property, reason)) }
  }

  private mutating func add(_ property: Property, _ own: EntityMap, _ map: JSONMap) {
    switch property {
    case .attribute(let attribute):
      guard let field = own.fields.first(where: { $0.attribute === attribute }) else { return }
      guard let name = field.columnName else {
        return leaveOut(attribute.name, "its value lies outside of the object")
      }
      // The fields tell whether there is a value, unless all of them may be nil.
      if let group = own.entity.optionalGroups.first(where: { $0.presence == attribute.index }), !group.required.isEmpty
      {
        return
      }
      add(name)
    case .relationship(let relationship):
      guard let link = own.links.first(where: { $0.relationship === relationship }) else { return }
      let found = Self.names(of: link, map, depth: 0)
      if found.isEmpty {
        leaveOut(
          relationship.name,
          relationship.isToMany
            ? "its members have no key of one property"
            : "'\(map.model.entities[relationship.destination].name)' has no key")
      }
      for name in found { add(name) }
    }
  }

  /// The columns that tell which partner an object has; none if nothing tells it.
  private static func names(of link: LinkMap, _ map: JSONMap, depth: Int) -> [String] {
    guard let name = link.columnName else { return [] }
    if link.reference != nil { return [name] }
    guard !link.relationship.isToMany, !link.isReference, depth < 8,
      let partner = map.entities[link.relationship.destination], partner.key != nil
    else { return [] }
    // An object that comes later in the input must be of the same entity.
    var found = partner.entityPath.map { ["\(name).\(Self.name($0))"] } ?? []
    for part in partner.keyParts {
      var names: [String] = []
      switch part {
      case .field(let number): names = [partner.fields[number].columnName].compactMap(\.self)
      case .partner(let property):
        if let inner = partner.links.first(where: { $0.relationship.index == property }) {
          names = Self.names(of: inner, map, depth: depth + 1)
        }
      }
      if names.isEmpty { return [] }
      found += names.map { "\(name).\($0)" }
    }
    return found
  }

  static func name(_ path: [[UInt8]]) -> String {
    JSONPath(path.map { .name(String(decoding: $0, as: UTF8.self)) }).text
  }
}

extension FieldMap {
  /// The name of the column; nil if the value lies outside of the object.
  var columnName: String? { path.columnName }
}

extension LinkMap {
  var columnName: String? { path.columnName }
}

extension JSONPath {
  /// The path without the brackets at its end; nil for a path that leads out of the object.
  fileprivate var columnName: String? {
    switch steps.first {
    case .key, .value, .enclosing, nil: return nil
    case .name, .entries, .elements, .element, .matching: break
    }
    return steps.last == .elements && steps.count > 1 ? JSONPath(Array(steps.dropLast())).text : text
  }
}
