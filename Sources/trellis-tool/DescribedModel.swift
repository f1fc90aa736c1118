import Foundation
import TrellisModel

/// A model for other programs: what entities have, with what they inherit. Every key is always there.
struct DescribedModel: Encodable {
  private let model: String
  private let version: OrNull<String>
  private let doc: OrNull<String>
  private let entities: [DescribedEntity]
  private let enums: [DescribedEnum]
  private let codableTypes: [String]

  init(_ model: Model) {
    self.model = model.name
    version = OrNull(model.description.version)
    doc = OrNull(model.description.doc)
    entities = model.entities.map { DescribedEntity($0, model) }
    enums = model.description.enums.map { DescribedEnum($0, ValueSpelling(model: model)) }
    codableTypes = model.description.codableTypes
  }

  func json() -> String { Self.text(self) }

  func json(ofEntity number: Int) -> String { Self.text(entities[number]) }

  private static func text(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    // Nothing here can fail to encode: there are texts, integers and flags only.
    return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) + "\n" } ?? ""
  }
}

/// A value whose key is written even if there is none.
struct OrNull<Value: Encodable>: Encodable {
  private let value: Value?

  init(_ value: Value?) { self.value = value }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let value { try container.encode(value) } else { try container.encodeNil() }
  }
}

private struct DescribedEnum: Encodable {
  struct Case: Encodable {
    let name: String
    let value: String
    let doc: OrNull<String>
  }

  let name: String
  let type: String
  let unknown: String
  let doc: OrNull<String>
  let cases: [Case]

  init(_ enumeration: EnumDescription, _ spelling: ValueSpelling) {
    name = enumeration.name
    type = enumeration.rawType == .integer ? "int" : "string"
    unknown = enumeration.unknown.spelling
    doc = OrNull(enumeration.doc)
    cases = enumeration.cases.map {
      let value: String
      if case .text(let text) = $0.rawValue { value = text } else { value = spelling.text($0.rawValue, .int64) }
      return Case(name: $0.name, value: value, doc: OrNull($0.doc))
    }
  }
}

private struct DescribedEntity: Encodable {
  struct Attribute: Encodable {
    let name: String
    let declaredBy: String
    let type: String
    let optional: Bool
    let `default`: OrNull<String>
    let rules: [String]
    let doc: OrNull<String>
  }

  struct Relationship: Encodable {
    let name: String
    let declaredBy: String
    let destination: String
    let inverse: OrNull<String>
    let toMany: Bool
    let ordered: Bool
    let optional: Bool
    let minCount: OrNull<Int>
    let maxCount: OrNull<Int>
    let deleteRule: String
    let doc: OrNull<String>
  }

  struct Request: Encodable {
    let name: String
    let predicate: OrNull<String>
    let sort: [String]
    let limit: OrNull<Int>
    let offset: OrNull<Int>
    let prefetch: [String]
    let doc: OrNull<String>
  }

  let name: String
  let parent: OrNull<String>
  let abstract: Bool
  let doc: OrNull<String>
  let attributes: [Attribute]
  let relationships: [Relationship]
  let unique: [[String]]
  let indexes: [[String]]
  let searchable: [String]
  let fetchRequests: [Request]
  let hooks: [String]

  init(_ entity: Entity, _ model: Model) {
    let description = model.description.entities[entity.index]
    let spelling = ValueSpelling(model: model)
    name = entity.name
    parent = OrNull(description.parent)
    abstract = entity.isAbstract
    doc = OrNull(description.doc)
    attributes = entity.properties.compactMap(\.attribute).map { attribute in
      Attribute(
        name: attribute.name, declaredBy: model.entities[attribute.entity].name, type: attribute.type.spelling,
        optional: attribute.isOptional,
        default: OrNull(attribute.description.defaultValue.map { spelling.text($0, attribute.type) }),
        rules: attribute.ruleTexts(
          spelling, isUnique: entity.uniqueKeys.contains { $0.properties == [attribute.index] }),
        doc: OrNull(attribute.description.doc))
    }
    relationships = entity.properties.compactMap(\.relationship).map { relationship in
      Relationship(
        name: relationship.name, declaredBy: model.entities[relationship.entity].name,
        destination: relationship.description.destination, inverse: OrNull(relationship.description.inverse),
        toMany: relationship.isToMany, ordered: relationship.isOrdered, optional: relationship.description.isOptional,
        minCount: OrNull(relationship.description.minimumCount),
        maxCount: OrNull(relationship.description.maximumCount), deleteRule: relationship.deleteRule.rawValue,
        doc: OrNull(relationship.description.doc))
    }
    unique = entity.uniqueKeys.map { $0.properties.map { entity.properties[$0].name } }
    indexes = entity.indexes.map { index in
      index.elements.map { ($0.isDescending ? "-" : "") + entity.properties[$0.property].name }
    }
    searchable = entity.properties.compactMap(\.attribute).filter(\.description.isSearchable).map(\.name)
    fetchRequests = description.fetchRequests.map { request in
      Request(
        name: request.name, predicate: OrNull(request.predicate), sort: request.sort.map(\.spelling),
        limit: OrNull(request.limit), offset: OrNull(request.offset), prefetch: request.prefetch,
        doc: OrNull(request.doc))
    }
    hooks = description.hooks.map(\.rawValue)
  }
}
