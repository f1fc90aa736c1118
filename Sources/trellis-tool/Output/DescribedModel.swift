import TrellisModel

/// A model for other programs, as JSON: what entities have, with what they inherit. Every key is always there.
struct DescribedModel {
  private let model: Model
  private let spelling: ValueSpelling

  init(_ model: Model) {
    self.model = model
    spelling = ValueSpelling(model: model)
  }

  /// The whole model.
  func json() -> String {
    let description = model.description
    return Self.text(
      .lines([
        ("model", .text(model.name)), ("version", .orNull(description.version)), ("doc", .orNull(description.doc)),
        ("entities", .rows(model.entities.map(json))), ("enums", .rows(description.enums.map(json))),
        ("codableTypes", .texts(description.codableTypes)), ("history", description.history.canonical),
        ("keepHistory", Self.json(description.keepHistory)),
      ]))
  }

  func json(of entity: Entity) -> String { Self.text(json(entity)) }

  private static func text(_ json: CanonicalJSON) -> String {
    var text = ""
    json.write(into: &text, indent: 0)
    return text + "\n"
  }

  private static func json(_ limit: HistoryLimit?) -> CanonicalJSON {
    guard let limit else { return .verbatim("null") }
    return .object([("days", .orNull(limit.days)), ("transactions", .orNull(limit.transactions))])
  }

  // MARK: Entities

  private func json(_ entity: Entity) -> CanonicalJSON {
    let description = model.description.entities[entity.index]
    func names(_ properties: [Int]) -> CanonicalJSON { .texts(properties.map { entity.properties[$0].name }) }
    return .lines([
      ("name", .text(entity.name)), ("parent", .orNull(description.parent)), ("abstract", .flag(entity.isAbstract)),
      ("doc", .orNull(description.doc)),
      ("attributes", .rows(entity.properties.compactMap(\.attribute).map { json($0, of: entity) })),
      ("relationships", .rows(entity.properties.compactMap(\.relationship).map(json))),
      ("unique", .list(entity.uniqueKeys.map { names($0.properties) })),
      ("indexes", .list(entity.indexes.map { .texts($0.spelling(in: entity)) })),
      ("fetchRequests", .rows(description.fetchRequests.map(json))),
      ("hooks", .texts(description.hooks.map(\.rawValue))), ("json", description.json?.canonical ?? .verbatim("null")),
      ("history", model.history(of: entity.index).canonical),
      ("sync", .orNull(description.sync)),
    ])
  }

  private func json(_ attribute: Attribute, of entity: Entity) -> CanonicalJSON {
    let description = attribute.description
    let rules = description.rules
    func bound(_ value: StoredValue?) -> CanonicalJSON { .orNull(value.map { spelling.text($0, attribute.type) }) }
    return .object([
      ("name", .text(attribute.name)), ("declaredBy", .text(model.entities[attribute.entity].name)),
      ("type", .text(attribute.description.typeSpelling)), ("optional", .flag(attribute.isOptional)),
      ("default", .orNull(description.defaultValue.map { spelling.text($0, attribute.type) })),
      ("min", bound(rules.minimum)), ("max", bound(rules.maximum)), ("minLength", .orNull(rules.minimumLength)),
      ("maxLength", .orNull(rules.maximumLength)), ("pattern", .orNull(rules.pattern)),
      ("unique", .flag(entity.uniqueKeys.contains { $0.properties == [attribute.index] })),
      ("transient", .flag(description.isTransient && description.derivation == nil)),
      ("derived", .orNull(description.derivation)), ("stored", .flag(description.storesDerivation)),
      ("searchable", .flag(description.isSearchable)),
      ("externalStorage", .flag(description.isExternal)), ("doc", .orNull(description.doc)),
      ("json", description.json?.canonical(isRelationship: false) ?? .verbatim("null")),
      ("keepInHistory", .flag(description.isKeptInHistory)), ("sync", .orNull(description.sync)),
    ])
  }

  private func json(_ relationship: Relationship) -> CanonicalJSON {
    let description = relationship.description
    return .object([
      ("name", .text(relationship.name)), ("declaredBy", .text(model.entities[relationship.entity].name)),
      ("destination", .text(description.destination)), ("inverse", .orNull(description.inverse)),
      ("toMany", .flag(relationship.isToMany)), ("ordered", .flag(relationship.isOrdered)),
      ("optional", .flag(description.isOptional)), ("minCount", .orNull(description.minimumCount)),
      ("maxCount", .orNull(description.maximumCount)), ("deleteRule", .text(relationship.deleteRule.rawValue)),
      ("transient", .flag(description.isTransient)), ("doc", .orNull(description.doc)),
      ("json", description.json?.canonical(isRelationship: true) ?? .verbatim("null")),
      ("sync", .orNull(description.sync)),
    ])
  }

  private func json(_ request: FetchRequestDescription) -> CanonicalJSON {
    .object([
      ("name", .text(request.name)), ("predicate", .orNull(request.predicate)),
      ("sort", .texts(request.sort.map(\.spelling))), ("limit", .orNull(request.limit)),
      ("offset", .orNull(request.offset)), ("prefetch", .texts(request.prefetch)), ("doc", .orNull(request.doc)),
    ])
  }

  // MARK: Enums

  private func json(_ enumeration: EnumDescription) -> CanonicalJSON {
    .lines([
      ("name", .text(enumeration.name)), ("type", .text(enumeration.rawType == .integer ? "int" : "string")),
      ("unknown", .text(enumeration.unknown.spelling)), ("doc", .orNull(enumeration.doc)),
      (
        "cases",
        .rows(
          enumeration.cases.map {
            .object([("name", .text($0.name)), ("value", Self.json($0.rawValue)), ("doc", .orNull($0.doc))])
          })
      ),
    ])
  }

  /// A stored value of an enum, which is an integer or a text.
  private static func json(_ value: StoredValue) -> CanonicalJSON {
    switch value {
    case .integer(let number): .verbatim(String(number))
    case .text(let text): .text(text)
    default: .verbatim("null")
    }
  }
}

extension CanonicalJSON {
  fileprivate static func orNull(_ text: String?) -> CanonicalJSON { text.map { .text($0) } ?? .verbatim("null") }

  fileprivate static func orNull(_ decision: SyncDecision?) -> CanonicalJSON {
    decision?.canonical ?? .verbatim("null")
  }

  fileprivate static func orNull(_ number: Int?) -> CanonicalJSON { .verbatim(number.map { String($0) } ?? "null") }

  fileprivate static func flag(_ flag: Bool) -> CanonicalJSON { .verbatim(flag ? "true" : "false") }

  fileprivate static func texts(_ texts: [String]) -> CanonicalJSON { .list(texts.map { .text($0) }) }
}
