import TrellisModel

/// What changes for documents of others: for those that are imported, and for the readers of exports.
extension ModelComparison {
  mutating func addDocumentChanges() {
    for entity in old.entities where DescribedMapping(of: entity, in: old) != nil {
      guard let number = match.successors[entity.index], DescribedMapping(of: new.entities[number], in: new) != nil
      else {
        addBoth(.breaking, "mapping-removed", entity.name, "is not in documents any more")
        continue
      }
    }
    for entity in new.entities {
      guard let mapping = DescribedMapping(of: entity, in: new) else { continue }
      guard let origin = match.origins[entity.index], let former = DescribedMapping(of: old.entities[origin], in: old)
      else {
        addBoth(.safe, "mapping-added", entity.name, "is in documents now")
        continue
      }
      addDocumentChanges(old.entities[origin], former, entity, mapping)
    }
  }

  private mutating func addBoth(
    _ impact: ModelChange.Impact, _ code: String, _ subject: String, _ message: String
  ) {
    add(.importing, impact, code, subject, message)
    add(.exporting, impact, code, subject, message)
  }

  private mutating func addDocumentChanges(
    _ entity: Entity, _ former: DescribedMapping, _ successor: Entity, _ mapping: DescribedMapping
  ) {
    if former.path != mapping.path || former.value != mapping.value {
      addBoth(
        .breaking, "entity-value", entity.name,
        "is told in documents by \(mapping.entityText), and was by \(former.entityText)")
    }
    let key = former.key.map { name in
      entity.property(named: name).flatMap { match.successor(of: $0.index, in: entity.index) }
        .map { successor.properties[$0].name } ?? name
    }
    if key != mapping.key {
      add(
        .importing, .breaking, "key-changed", entity.name,
        "objects are found by \(mapping.keyWords), and were by \(former.keyWords)")
    }
    for (property, successor) in properties(entity, successor) {
      addDocumentChanges("\(entity.name).\(property.name)", property, former, successor, mapping)
    }
    for property in additions(entity, successor) {
      guard let place = mapping.place(of: property) else { continue }
      addAddition("\(successor.name).\(property.name)", property, place)
    }
  }

  private mutating func addAddition(_ subject: String, _ property: Property, _ place: String) {
    add(.exporting, .safe, "value-added", subject, "\(place) is new")
    let isNeeded =
      switch property {
      case .attribute(let attribute): !attribute.isOptional && attribute.description.defaultValue == nil
      case .relationship(let relationship): relationship.isRequired
      }
    add(
      .importing, isNeeded ? .breaking : .safe, isNeeded ? "value-needed" : "value-added", subject,
      isNeeded ? "new objects need \(place), which former documents do not have" : "\(place) is read")
  }

  private mutating func addDocumentChanges(
    _ subject: String, _ property: Property, _ former: DescribedMapping, _ successor: Property?,
    _ mapping: DescribedMapping
  ) {
    guard property.attribute?.role != .presence else { return }
    let place = former.place(of: property)
    guard let successor, let newPlace = mapping.place(of: successor) else {
      guard let place else { return }
      add(.exporting, .breaking, "value-removed", subject, "\(place) is gone")
      add(.importing, .aware, "value-removed", subject, "\(place) is not read any more")
      return
    }
    guard let place else { return addAddition(subject, successor, newPlace) }
    if place != newPlace {
      add(.exporting, .breaking, "place-changed", subject, "is at \(newPlace), and was at \(place)")
      add(.importing, .breaking, "place-changed", subject, "is read at \(newPlace), and was at \(place)")
    }
    switch (property, successor) {
    case (.attribute(let old), .attribute(let new)): addDocumentChanges(subject, old, new)
    case (.relationship(let old), .relationship(let new)): addDocumentChanges(subject, old, new)
    default: addBoth(.breaking, "form-changed", subject, "is of another kind")
    }
  }

  // MARK: Values

  private mutating func addDocumentChanges(_ subject: String, _ old: Attribute, _ new: Attribute) {
    let (before, after) = (DocumentForm(old), DocumentForm(new))
    if before != after {
      let words = "\(new.description.typeSpelling) instead of \(old.description.typeSpelling)"
      add(
        .importing, after.takes(before) ? .safe : .breaking, "form-changed", subject,
        "\(words)\(after.takes(before) ? "" : ", so other values are rejected")")
      add(
        .exporting, before.takes(after) ? .safe : before.kind == after.kind ? .aware : .breaking, "form-changed",
        subject,
        words)
    }
    let json = (old.description.json ?? PropertyJSON(), new.description.json ?? PropertyJSON())
    if old.type == .date, new.type == .date, json.0.date != json.1.date {
      addBoth(
        .breaking, "date-format", subject, "dates are \(json.1.date ?? "iso8601"), and were \(json.0.date ?? "iso8601")"
      )
    }
    if json.0.take != json.1.take || json.0.keepsOnNull != json.1.keepsOnNull
      || json.0.emptyIsNull != json.1.emptyIsNull
    {
      add(.importing, .aware, "reading-changed", subject, "values are read otherwise")
    }
    if old.isOptional != new.isOptional {
      add(
        .importing, new.isOptional ? .safe : .breaking, new.isOptional ? "became-optional" : "became-required", subject,
        new.isOptional ? "may be null" : "null is rejected")
      add(
        .exporting, new.isOptional ? .breaking : .safe, new.isOptional ? "became-optional" : "became-required", subject,
        new.isOptional ? "may be null, which readers of former documents have never met" : "is never null")
    }
    if !old.isOptional, !new.isOptional, old.description.defaultValue != nil, new.description.defaultValue == nil {
      add(.importing, .breaking, "value-needed", subject, "new objects need it, as it has no default any more")
    }
    addRuleChanges(subject, old, new)
    addCaseChanges(subject, old, new)
  }

  private mutating func addRuleChanges(_ subject: String, _ old: Attribute, _ new: Attribute) {
    guard old.type == new.type else { return }
    let (before, after) = (old.description.rules, new.description.rules)
    let words = after.tightened(since: before, new.type)
    if !words.isEmpty {
      add(
        .importing, .breaking, "rules-tightened", subject, "\(words.joined(separator: ", ")): other values are rejected"
      )
    }
    let loosened = before.tightened(since: after, new.type)
    if !loosened.isEmpty {
      add(.exporting, .aware, "rules-loosened", subject, "may have values that were not allowed")
    }
  }

  private mutating func addCaseChanges(_ subject: String, _ old: Attribute, _ new: Attribute) {
    guard let before = old.enumeration, let after = new.enumeration, before.rawType == after.rawType else { return }
    let values = [before, after].map { Set($0.cases.map(\.rawValue)) }
    let gone = before.cases.filter { !values[1].contains($0.rawValue) }.map { "\($0.rawValue.inDocument)" }
    let added = after.cases.filter { !values[0].contains($0.rawValue) }.map { "\($0.rawValue.inDocument)" }
    if !gone.isEmpty {
      let list = gone.joined(separator: ", ")
      add(
        .importing, after.unknown == .reject ? .breaking : .aware, "cases-removed", subject,
        after.unknown == .reject ? "\(list) is rejected" : "\(list) is no case any more")
      add(.exporting, .safe, "cases-removed", subject, "is never \(list)")
    }
    if !added.isEmpty {
      let list = added.joined(separator: ", ")
      add(.exporting, .aware, "cases-added", subject, "may be \(list), which readers of former documents do not know")
      add(.importing, .safe, "cases-added", subject, "may be \(list)")
    }
  }

  private mutating func addDocumentChanges(_ subject: String, _ old: Relationship, _ new: Relationship) {
    let json = (old.description.json ?? PropertyJSON(), new.description.json ?? PropertyJSON())
    if old.isToMany != new.isToMany {
      addBoth(.breaking, "form-changed", subject, new.isToMany ? "is a list" : "is one object instead of a list")
    }
    if match.successors[old.destination] != new.destination {
      addBoth(.breaking, "form-changed", subject, "holds objects of \(new.description.destination)")
    }
    if json.0.reference != json.1.reference {
      addBoth(
        .breaking, "reference-changed", subject,
        "refers to objects by \(json.1.reference ?? "their key"), and did by \(json.0.reference ?? "their key")")
    }
    if json.0.take != json.1.take || json.0.members != json.1.members {
      add(.importing, .aware, "reading-changed", subject, "members are read otherwise")
    }
    if new.isRequired != old.isRequired {
      add(
        .importing, new.isRequired ? .breaking : .safe, new.isRequired ? "value-needed" : "became-optional", subject,
        new.isRequired ? "new objects need it" : "may be absent")
      if old.isRequired {
        add(
          .exporting, .breaking, "became-optional", subject,
          "may be null, which readers of former documents have never met")
      }
    }
  }
}

/// The values that an attribute has in documents.
private struct DocumentForm: Equatable {
  enum Kind { case truth, number, text, list, object }

  let kind: Kind
  private let type: AttributeType
  private let date: String?
  private let enumeration: EnumDescription.RawType?

  init(_ attribute: Attribute) {
    type = attribute.type
    date = attribute.type == .date ? attribute.description.json?.date : nil
    enumeration = attribute.enumeration?.rawType
    kind =
      switch attribute.type {
      case .bool: .truth
      case .integer, .float, .double, .decimal: .number
      case .date: ["seconds", "milliseconds"].contains(date) ? .number : .text
      case .string, .data, .uuid, .url: .text
      case .enumeration: enumeration == .integer ? .number : .text
      case .array: .list
      case .codable: .object
      }
  }

  /// Whether all values of another form are values of this one.
  func takes(_ other: DocumentForm) -> Bool {
    if type == other.type { return date == other.date }
    guard kind == other.kind else { return false }
    switch (other.type, type) {
    case (_, .string): return other.kind == .text
    case (_, .decimal): return other.type != .double && other.type != .float && other.kind == .number
    case (.float, .double): return true
    case (.integer(let one), .integer(let two)): return two.range.contains(one.range)
    case (.integer(let integer), .float): return ClosedRange<Int64>.exactInFloat.contains(integer.range)
    case (.integer(let integer), .double): return ClosedRange<Int64>.exactInDouble.contains(integer.range)
    default: return false
    }
  }

  static func == (left: DocumentForm, right: DocumentForm) -> Bool {
    left.kind == right.kind && left.type == right.type && left.enumeration == right.enumeration
  }
}

extension StoredValue {
  /// A raw value as a document has it.
  fileprivate var inDocument: String {
    switch self {
    case .integer(let number): "\(number)"
    case .text(let text): JSONText.quoted(text)
    default: ""
    }
  }
}

extension DescribedMapping {
  fileprivate var keyWords: String { key.isEmpty ? "nothing" : key.joined(separator: " and ") }
}
