import TrellisModel

/// Checks that what `"json"` says fits the model: paths and formats are well written, keys are unique keys, and each
/// value can be read as the type of its property.
enum JSONMappings {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    guard draft.hasMappings else { return }
    let mappings = MappingLookup(draft)
    let entities = EntityMappings(mappings: mappings, findings: findings)
    for number in draft.entities.indices { entities.check(number) }
    entities.checkValues()
    for number in draft.entities.indices {
      let pass = PropertyMappings(entity: number, mappings: mappings, findings: findings)
      for attribute in draft.entities[number].attributes { pass.check(attribute) }
      for relationship in draft.entities[number].relationships { pass.check(relationship) }
    }
    var paths = MappedPaths(mappings: mappings, findings: findings)
    for number in draft.entities.indices { paths.check(number) }
  }
}

extension Draft {
  fileprivate var hasMappings: Bool {
    entities.contains { entity in
      entity.json != nil || entity.attributes.contains { $0.json != nil }
        || entity.relationships.contains { $0.json != nil }
    }
  }
}

/// What entities have and inherit of a mapping.
private struct MappingLookup {
  let draft: Draft
  /// Whether an entity or an ancestor of it is mapped.
  private(set) var isMapped: [Bool]
  /// Whether a descendant of an entity is mapped.
  private(set) var hasMappedDescendant: [Bool]
  private(set) var hasChildren: [Bool]

  init(_ draft: Draft) {
    self.draft = draft
    isMapped = draft.entities.map { entity in
      entity.json != nil || entity.ancestors.contains { draft.entities[$0].json != nil }
    }
    hasMappedDescendant = draft.entities.map { _ in false }
    hasChildren = hasMappedDescendant
    for entity in draft.entities {
      for ancestor in entity.ancestors {
        hasChildren[ancestor] = true
        if entity.json != nil { hasMappedDescendant[ancestor] = true }
      }
    }
  }

  func lineage(_ entity: Int) -> [Int] { [entity] + draft.entities[entity].ancestors }

  func name(_ entity: Int) -> String { draft.entities[entity].name.value }

  private func nearest<Value>(_ entity: Int, _ value: (EntityJSON) -> Value?) -> Value? {
    for candidate in lineage(entity) {
      if let found = draft.entities[candidate].json.flatMap({ value($0.mapping) }) { return found }
    }
    return nil
  }

  func style(of entity: Int) -> EntityJSON.Style { nearest(entity) { $0.style } ?? .camelCase }

  func key(of entity: Int) -> [String] { nearest(entity) { $0.key.isEmpty ? nil : $0.key } ?? [] }

  func hasEntityPath(_ entity: Int) -> Bool { nearest(entity) { $0.entityPath } != nil }

  /// The unique keys that an entity declares and inherits.
  func uniqueKeys(of entity: Int) -> [[String]] {
    lineage(entity).flatMap { draft.entities[$0].uniqueKeys.map { $0.value.map(\.value) } }
  }

  /// The place of an entity's property of this name, inherited ones included.
  func property(_ name: String, of entity: Int) -> PropertyLookup.Found? {
    for candidate in lineage(entity) {
      if let place = draft.entities[candidate].properties[name] {
        return PropertyLookup.Found(entity: candidate, place: place)
      }
    }
    return nil
  }
}

extension Findings {
  /// Reads a path; reports one that is badly written.
  fileprivate func path(_ text: String, of owner: String, at offset: Int) -> JSONPath? {
    do throws(JSONPathFault) {
      return try JSONPath(text)
    } catch {
      self.error(.badJSONPath, at: offset, "The path \(text.quoted) of \(owner) is none: \(error.message).")
      return nil
    }
  }
}

// MARK: - Entities

/// The check of what `"json"` of an entity says.
private struct EntityMappings {
  let mappings: MappingLookup
  let findings: Findings

  private var draft: Draft { mappings.draft }

  func check(_ number: Int) {
    guard let json = draft.entities[number].json else { return }
    checkKey(json, of: number)
    checkPath(json, of: number)
    guard json.mapping.entityValue != nil, !mappings.hasEntityPath(number) else { return }
    findings.error(
      .jsonMismatch, at: json.place(of: "as"),
      "'as' of entity '\(mappings.name(number))' is the text that a document has for it, but neither it nor an ancestor says "
        + "where; add \"entity\" with the path to this text to the ancestor of all, or take it out.")
  }

  // MARK: Key

  private func checkKey(_ json: JSONDraft<EntityJSON>, of number: Int) {
    let names = Self.keyNames(json)
    guard !names.isEmpty else { return }
    let lookup = PropertyLookup(draft: draft, findings: findings)
    let user = "'key' of entity '\(mappings.name(number))'"
    let found = names.compactMap { lookup.property($0.value, of: number, user: user, at: $0.offset) }
    guard found.count == names.count else { return }
    let keys = mappings.uniqueKeys(of: number)
    guard keys.contains(where: { $0.sorted() == json.mapping.key.sorted() }) else {
      return reportNoUniqueKey(json, of: number, keys)
    }
    for (name, property) in zip(names, found) { checkKeyProperty(property, name, user) }
  }

  private static func keyNames(_ json: JSONDraft<EntityJSON>) -> [Located<String>] {
    guard let node = json.node.object?["key"]?.value else { return [] }
    return (node.array ?? [node]).compactMap { element in element.string.map { Located($0, at: element.offset) } }
  }

  private func reportNoUniqueKey(_ json: JSONDraft<EntityJSON>, of number: Int, _ keys: [[String]]) {
    let declaration = "[\(json.mapping.key.map { "\"\($0)\"" }.joined(separator: ", "))]"
    let others = keys.prefix(8).map { $0.map { "'\($0)'" }.joined(separator: " with ") }.joined(separator: ", ")
    let remedy = keys.isEmpty ? "" : ", or name the properties of one: \(others)"
    findings.error(
      .jsonMismatch, at: json.place(of: "key"),
      "'key' of entity '\(mappings.name(number))' is no unique key of it; add \(declaration) to its \"unique\"\(remedy)."
    )
  }

  private func checkKeyProperty(_ property: PropertyLookup.Found, _ name: Located<String>, _ user: String) {
    switch property.place {
    // A to-one relationship of a key may be that to the object that encloses this one.
    case .relationship: return
    case .attribute(let index):
      guard let json = draft.entities[property.entity].attributes[index].json, !json.mapping.isMapped else { return }
      let path = draft.path(property.entity, name.value)
      findings.error(
        .jsonMismatch, at: name.offset,
        "\(user) names '\(path)', which is not read from documents; take out its \"json\": false, or choose another key.",
        notes: [("it is said here", json.node.offset)])
    }
  }

  // MARK: Hierarchies

  private func checkPath(_ json: JSONDraft<EntityJSON>, of number: Int) {
    guard let text = json.mapping.entityPath else { return }
    let place = json.place(of: "entity")
    let owner = "'entity' of entity '\(mappings.name(number))'"
    let inherits = draft.entities[number].parent.map { mappings.hasEntityPath($0) } ?? false
    if !mappings.hasChildren[number], !inherits {
      findings.error(
        .jsonMismatch, at: place,
        "\(owner) is the path to a text that tells its children apart, but it has none; take it out.")
    }
    guard let path = findings.path(text, of: owner, at: place) else { return }
    let isPlain = path.steps.allSatisfy { if case .name = $0 { true } else { false } }
    if !isPlain {
      findings.error(
        .badJSONPath, at: place,
        "The path \(text.quoted) of \(owner) leads through more than keys; write keys with dots between them, such as "
          + "'type.name'.")
    }
  }

  /// Checks that no two entities of a hierarchy have the same text.
  func checkValues() {
    struct Claim: Hashable {
      let root: Int
      let text: String
    }
    var claims: [Claim: Int] = [:]
    for (number, entity) in draft.entities.enumerated() where mappings.hasEntityPath(number) {
      let text = entity.json?.mapping.entityValue ?? entity.name.value
      let claim = Claim(root: entity.ancestors.last ?? number, text: text)
      guard let first = claims[claim] else {
        claims[claim] = number
        continue
      }
      // Names differ, so at least one of the two texts is written out.
      let (here, there) = entity.json?.mapping.entityValue == nil ? (first, number) : (number, first)
      let other = draft.entities[there]
      let isWritten = other.json?.mapping.entityValue != nil
      findings.error(
        .jsonMismatch, at: draft.entities[here].json?.place(of: "as") ?? entity.name.offset,
        "Entities '\(other.name.value)' and '\(mappings.name(here))' both have the text \(text.quoted) in documents; choose "
          + "another 'as' for one of them.",
        notes: [
          (
            isWritten ? "the other is here" : "'\(other.name.value)' has its name as its text",
            (isWritten ? other.json?.place(of: "as") : nil) ?? other.name.offset
          )
        ])
    }
  }
}

// MARK: - Properties

/// The check of what `"json"` of an entity's properties says.
private struct PropertyMappings {
  let entity: Int
  let mappings: MappingLookup
  let findings: Findings

  private var draft: Draft { mappings.draft }

  func check(_ attribute: AttributeDraft) {
    guard let json = attribute.json else { return }
    let owner = "attribute '\(draft.path(entity, attribute.name.value))'"
    // What else is said of a derived attribute is reported elsewhere.
    guard attribute.derivation == nil else { return }
    guard mayBeMapped(json, owner, isTransient: attribute.description.isTransient), attribute.hasType else { return }
    checkPath(json, owner, attribute.description.type)
    checkDate(json, owner, attribute.description.type)
    checkTake(json, owner, of: attribute.description, isReference: false)
  }

  func check(_ relationship: RelationshipDraft) {
    guard let json = relationship.json else { return }
    let owner = "relationship '\(draft.path(entity, relationship.name.value))'"
    guard mayBeMapped(json, owner, isTransient: relationship.description.isTransient) else { return }
    checkPath(json, owner, relationship.description)
    if json.node.object?["members"] != nil, !relationship.description.isToMany {
      findings.error(
        .jsonMismatch, at: json.place(of: "members"),
        "\(owner.capitalizedFirst) leads to one object at most, but 'members' is for to-many relationships; take it out."
      )
    }
    checkDestination(json, owner, relationship)
  }

  /// Whether the property is read from documents; reports a mapping that has no meaning at all.
  private func mayBeMapped(_ json: JSONDraft<PropertyJSON>, _ owner: String, isTransient: Bool) -> Bool {
    if isTransient {
      findings.reportTransient(owner, "json", at: json.node.offset)
      return false
    }
    guard mappings.isMapped[entity] || mappings.hasMappedDescendant[entity] else {
      let name = mappings.name(entity)
      findings.error(
        .jsonMismatch, at: json.node.offset,
        "\(owner.capitalizedFirst) has \"json\", but its entity is not mapped; add \"json\": true to '\(name)', or take it out "
          + "here.", notes: [("entity '\(name)' is here", draft.entities[entity].name.offset)])
      return false
    }
    return json.mapping.isMapped
  }

  private func report(_ json: JSONDraft<PropertyJSON>, _ key: String, _ message: String) {
    findings.error(.jsonMismatch, at: json.place(of: key), message)
  }

  // MARK: Paths

  private func checkPath(_ json: JSONDraft<PropertyJSON>, _ owner: String, _ type: AttributeType) {
    guard let text = json.mapping.path,
      let path = findings.path(text, of: owner, at: json.place(of: "path")), path.isPlural
    else { return }
    if case .array = type { return }
    report(
      json, "path",
      "The path \(text.quoted) of \(owner) leads to several values, but its type '\(type.spelling)' is no list of scalars; "
        + "lead to one value, such as \(path.singular.text.quoted), or change the type.")
  }

  private func checkPath(_ json: JSONDraft<PropertyJSON>, _ owner: String, _ relationship: RelationshipDescription) {
    guard let text = json.mapping.path,
      let path = findings.path(text, of: owner, at: json.place(of: "path"))
    else { return }
    for (step, spelling) in [(JSONPath.Step.enclosing, "^"), (.key, "$key"), (.value, "$value")]
    where path.steps.contains(step) {
      return report(
        json, "path",
        "The path \(text.quoted) of \(owner) has '\(spelling)', which is for attributes alone; lead to a value inside the object."
      )
    }
    guard path.isPlural, !relationship.isToMany else { return }
    report(
      json, "path",
      "The path \(text.quoted) of \(owner) leads to several values, but the relationship to one object at most; lead to one "
        + "value, such as \(path.singular.text.quoted), or add \"toMany\": true.")
  }

  // MARK: Dates

  private func checkDate(_ json: JSONDraft<PropertyJSON>, _ owner: String, _ type: AttributeType) {
    guard let text = json.mapping.date else { return }
    guard type == .date else {
      return report(
        json, "date",
        "\(owner.capitalizedFirst) is of type '\(type.spelling)', but 'date' is for 'date' alone; take it out.")
    }
    do throws(JSONDateFault) {
      _ = try JSONDateFormat(text)
    } catch {
      let closest = findings.suggestions.clause(for: text, among: JSONDateFormat.names)
      let names = JSONDateFormat.names.map { "'\($0)'" }.joined(separator: ", ")
      let others = text.contains("yyyy") ? "." : "; a format is \(names) or a pattern such as 'yyyy-MM-dd'."
      report(
        json, "date",
        "The format \(text.quoted) of \(owner) is none"
          + (closest.isEmpty ? ": \(error.message)\(others)" : closest))
    }
  }

  // MARK: Take

  /// Checks that the changes of a value can follow each other and give a value of the attribute's type.
  ///
  /// - Parameter isReference: Whether the value refers to an object by the attribute. Its text is read as any type.
  private func checkTake(
    _ json: JSONDraft<PropertyJSON>, _ owner: String, of attribute: AttributeDescription, isReference: Bool
  ) {
    guard let last = json.mapping.take.last else { return }
    for (word, next) in zip(json.mapping.take, json.mapping.take.dropFirst()) where word == .number && next != .text {
      return report(
        json, "take",
        "'take' of \(owner) has '\(next.rawValue)', which changes a text, after 'number', which gives a number; put "
          + "'number' last.")
    }
    let (reads, type) = (forms(of: attribute.type, json.mapping.date), attribute.type.spelling)
    if json.mapping.take.dropLast().contains(.bool) || attribute.type == .bool && last != .bool {
      report(json, "take", "'take' of \(owner) needs 'bool', which gives true or false, as its last word; put it last.")
    } else if last == .bool {
      if attribute.type == .bool { return }
      report(
        json, "take",
        "'take' of \(owner) gives true or false, but values of type '\(type)' are neither; take out 'bool'.")
    } else if reads.isEmpty {
      report(
        json, "take",
        "'take' of \(owner) changes texts and numbers, but values of type '\(type)' are neither; take it out.")
    } else if last == .number, !reads.contains(.number) {
      report(
        json, "take",
        "'take' of \(owner) gives a number, but values of type '\(type)' are read from texts; take out 'number'.")
    } else if last != .number, !isReference, !reads.contains(.text) {
      let all = (json.mapping.take.filter { $0 != .text } + [.number]).map { "\"\($0.rawValue)\"" }
      let words = all.count == 1 ? all[0] : "[\(all.joined(separator: ", "))]"
      report(
        json, "take",
        "'take' of \(owner) gives a text, but values of type '\(type)' are read from numbers; write \"take\": \(words)."
      )
    }
  }

  private enum Form {
    case text, number
  }

  /// What values of a type are read from, as far as it can be changed on the way.
  private func forms(of type: AttributeType, _ format: String?) -> Set<Form> {
    switch type {
    case .string, .url, .uuid: [.text]
    case .integer, .float, .double: [.number]
    case .decimal: [.text, .number]
    case .date: format == "seconds" || format == "milliseconds" ? [.number] : [.text]
    case .enumeration(let name):
      draft.enumNumbers[name].map { draft.enums[$0].rawType == .integer } ?? false ? [.number] : [.text]
    case .bool, .data, .array, .codable: []
    }
  }

  // MARK: Destinations

  private func checkDestination(_ json: JSONDraft<PropertyJSON>, _ owner: String, _ relationship: RelationshipDraft) {
    let destination = relationship.destination
    let name = mappings.name(destination)
    if let reference = json.mapping.reference {
      return checkReference(Located(reference, at: json.place(of: "reference")), json, owner, destination)
    }
    guard mappings.isMapped[destination] else {
      return findings.error(
        .jsonMismatch, at: json.node.offset,
        "\(owner.capitalizedFirst) is mapped, but its destination '\(name)' is not; add \"json\": true to '\(name)', or a "
          + "\"reference\" here that names an attribute with a unique key.",
        notes: [("entity '\(name)' is here", draft.entities[destination].name.offset)])
    }
    if draft.entities[destination].isAbstract?.value ?? false, !mappings.hasEntityPath(destination) {
      findings.error(
        .jsonMismatch, at: json.node.offset,
        "\(owner.capitalizedFirst) leads to the abstract entity '\(name)', and nothing in a document tells its children apart; "
          + "add \"entity\" with the path to such a text to \"json\" of '\(name)', or a \"reference\" here.",
        notes: [("entity '\(name)' is here", draft.entities[destination].name.offset)])
    }
    checkTakeOfKey(json, owner, destination)
  }

  private func checkReference(
    _ reference: Located<String>, _ json: JSONDraft<PropertyJSON>, _ owner: String, _ destination: Int
  ) {
    let lookup = PropertyLookup(draft: draft, findings: findings)
    let user = "'reference' of \(owner)"
    guard let found = lookup.property(reference.value, of: destination, user: user, at: reference.offset) else {
      return
    }
    let path = draft.path(found.entity, reference.value)
    guard case .attribute(let index) = found.place else {
      return report(
        json, "reference", "\(user) names '\(path)', which is a relationship; name an attribute with a unique key.")
    }
    guard mappings.uniqueKeys(of: destination).contains([reference.value]) else {
      let name = mappings.name(destination)
      return findings.error(
        .jsonMismatch, at: reference.offset,
        "\(user) names '\(path)', which several objects may share; add [\"\(reference.value)\"] to \"unique\" of '\(name)', or "
          + "name an attribute that is a unique key.",
        notes: [("'\(path)' is here", draft.entities[found.entity].attributes[index].name.offset)])
    }
    checkTake(json, owner, of: draft.entities[found.entity].attributes[index].description, isReference: true)
  }

  /// Checks the changes of a value that refers to an object by its key.
  private func checkTakeOfKey(_ json: JSONDraft<PropertyJSON>, _ owner: String, _ destination: Int) {
    guard !json.mapping.take.isEmpty else { return }
    let key = mappings.key(of: destination)
    if key.count == 1, let found = mappings.property(key[0], of: destination), case .attribute(let index) = found.place
    {
      let attribute = draft.entities[found.entity].attributes[index]
      if attribute.hasType { checkTake(json, owner, of: attribute.description, isReference: true) }
      return
    }
    report(
      json, "take",
      "'take' of \(owner) changes the value that refers to an object, but '\(mappings.name(destination))' has no key of one "
        + "attribute to refer to; add \"reference\" with the name of such an attribute, or take it out.")
  }
}

extension JSONPath {
  /// The path to the first of several values.
  fileprivate var singular: JSONPath {
    JSONPath(
      steps.map { step in
        switch step {
        case .elements: .element(0)
        case .entries: .name("name")
        default: step
        }
      })
  }
}

// MARK: - Paths of an entity

/// Checks that no two properties of an entity are read from the same place.
private struct MappedPaths {
  private struct Mapped {
    let entity: Int
    let thing: String
    let name: Located<String>
    /// The offset of the path, or of the name that stands for it.
    let place: Int
  }

  private struct Scope: Hashable {
    let entity: Int
    let style: EntityJSON.Style
  }

  private struct Pair: Hashable {
    let first: Int
    let second: Int
  }

  private let mappings: MappingLookup
  private let findings: Findings
  /// The properties of an entity in a style, by the texts of their paths. Of two with the same path, the first.
  private var scopes: [Scope: [(text: String, property: Mapped)]] = [:]
  private var firsts: [Scope: [String: Mapped]] = [:]
  private var reported: Set<Pair> = []

  init(mappings: MappingLookup, findings: Findings) {
    self.mappings = mappings
    self.findings = findings
  }

  mutating func check(_ number: Int) {
    guard mappings.isMapped[number] else { return }
    let style = mappings.style(of: number)
    let lineage = mappings.lineage(number)
    // What is inherited was compared with each other already, unless it was not mapped or was spelled differently.
    let parent = mappings.draft.entities[number].parent
    let isNew = parent.map { !mappings.isMapped[$0] || mappings.style(of: $0) != style } ?? true
    for entity in lineage { read(Scope(entity: entity, style: style)) }
    for (place, entity) in lineage.enumerated() where place == 0 || isNew {
      for (text, property) in scopes[Scope(entity: entity, style: style)] ?? [] {
        for other in lineage[place...] {
          guard let first = firsts[Scope(entity: other, style: style)]?[text] else { continue }
          if first.name.offset != property.name.offset { report(property, first, text) }
        }
      }
    }
  }

  private mutating func read(_ scope: Scope) {
    guard scopes[scope] == nil else { return }
    let entity = mappings.draft.entities[scope.entity]
    var all: [(text: String, property: Mapped)] = []
    for attribute in entity.attributes where !attribute.description.isTransient {
      add("attribute", attribute.name, attribute.json, scope, &all)
    }
    for relationship in entity.relationships where !relationship.description.isTransient {
      // A path for attributes alone was reported.
      guard let json = relationship.json, !(json.mapping.path ?? "").contains(where: { "^$".contains($0) }) else {
        continue
      }
      add("relationship", relationship.name, json, scope, &all)
    }
    scopes[scope] = all
    firsts[scope] = Dictionary(all.map { ($0.text, $0.property) }, uniquingKeysWith: { first, _ in first })
  }

  private func add(
    _ thing: String, _ name: Located<String>, _ json: JSONDraft<PropertyJSON>?, _ scope: Scope,
    _ all: inout [(text: String, property: Mapped)]
  ) {
    guard json?.mapping.isMapped ?? true else { return }
    let property = Mapped(
      entity: scope.entity, thing: thing, name: name,
      place: json?.mapping.path == nil ? name.offset : json?.place(of: "path") ?? name.offset)
    guard let path = json?.mapping.path else {
      return all.append((JSONPath([.name(scope.style.spelling(of: name.value))]).text, property))
    }
    // A path that is badly written was reported.
    if let path = try? JSONPath(path) { all.append((path.text, property)) }
  }

  private mutating func report(_ property: Mapped, _ first: Mapped, _ text: String) {
    let pair = Pair(
      first: min(first.name.offset, property.name.offset), second: max(first.name.offset, property.name.offset))
    guard reported.insert(pair).inserted else { return }
    let path = mappings.draft.path(property.entity, property.name.value)
    let firstPath = mappings.draft.path(first.entity, first.name.value)
    findings.error(
      .jsonMismatch, at: property.place,
      "\(property.thing.capitalizedFirst) '\(path)' is read from \(text.quoted), and so is \(first.thing) '\(firstPath)'; give "
        + "one of them another path, or \"json\": false.", notes: [("'\(firstPath)' is here", first.place)])
  }
}
