import TrellisModel

/// What changes for the Swift code of a program: the declarations that are generated, and what they do.
extension ModelComparison {
  mutating func addSwiftChanges() {
    if old.name != new.name { add(.swift, .breaking, "model-renamed", old.name, "is \(new.name) now") }
    for entity in old.entities where match.successors[entity.index] == nil {
      add(.swift, .breaking, "class-removed", entity.name, "the class is gone")
    }
    for entity in new.entities where match.origins[entity.index] == nil {
      add(.swift, .safe, "class-added", entity.name, "a new class")
    }
    for (entity, successor) in entities {
      addClassChanges(entity, successor)
      for (property, successor) in properties(entity, successor) { addSwiftChanges(entity, property, successor) }
      for property in additions(entity, successor) {
        add(.swift, .safe, "property-added", "\(successor.name).\(property.name)", "a new property")
      }
      addInitializerChanges(entity, successor)
      addRequestChanges(entity, successor)
    }
    addEnumChanges()
    addCompositeChanges()
  }

  // MARK: Classes

  private mutating func addClassChanges(_ entity: Entity, _ successor: Entity) {
    let names = [old.description.entities[entity.index], new.description.entities[successor.index]].map {
      $0.swiftName ?? $0.name
    }
    if names[0] != names[1] {
      add(.swift, .breaking, "class-renamed", entity.name, "the class \(names[0]) is \(names[1]) now")
    }
    let parents = old.lineage(of: entity.index).dropFirst().filter { parent in
      match.successors[parent].map { !new.isEntity(successor.index, within: $0) } ?? true
    }
    for parent in parents {
      add(.swift, .breaking, "parent-removed", entity.name, "inherits from \(old.name(ofEntity: parent)) no more")
    }
    if parents.isEmpty, new.lineage(of: successor.index).count > old.lineage(of: entity.index).count {
      let parent = successor.parent.map { new.name(ofEntity: $0) } ?? ""
      add(.swift, .aware, "parent-added", entity.name, "inherits from \(parent) now, whose fetches return it as well")
    }
    if entity.isAbstract != successor.isAbstract {
      add(
        .swift, successor.isAbstract ? .breaking : .safe, successor.isAbstract ? "class-abstract" : "class-concrete",
        entity.name, successor.isAbstract ? "is abstract, so no object of it can be made" : "is not abstract any more")
    }
    let hooks = [old.description.entities[entity.index], new.description.entities[successor.index]].map {
      Set($0.hooks)
    }
    for hook in hooks[1].subtracting(hooks[0]).map(\.rawValue).sorted() {
      add(.swift, .breaking, "hook-added", entity.name, "calls \(hook), which the program has to declare")
    }
    for hook in hooks[0].subtracting(hooks[1]).map(\.rawValue).sorted() {
      add(.swift, .aware, "hook-removed", entity.name, "\(hook) is not called any more")
    }
    let keys = [(entity, old), (successor, new)].map { entity, _ in
      Set(entity.uniqueKeys.map { key in key.properties.map { entity.properties[$0].name }.joined(separator: ", ") })
    }
    for key in keys[1].subtracting(keys[0]).sorted() {
      add(.swift, .aware, "unique-added", entity.name, "\(key) is unique now, so saves of a value twice are refused")
    }
    for key in keys[0].subtracting(keys[1]).sorted() {
      add(.swift, .aware, "unique-removed", entity.name, "\(key) is not unique any more")
    }
  }

  /// Arguments of initializers stand in the order of the model, and those without a default are needed.
  private mutating func addInitializerChanges(_ entity: Entity, _ successor: Entity) {
    if entity.isAbstract || successor.isAbstract { return }
    var former: [Int: Attribute] = [:]
    var order: [Int] = []
    for attribute in Self.arguments(of: entity) {
      guard let heir = heir(of: .attribute(attribute), entity, successor) else { continue }
      former[heir.index] = attribute
      order.append(heir.index)
    }
    for attribute in Self.arguments(of: successor) where attribute.isNeeded && former[attribute.index]?.isNeeded != true
    {
      let subject = "\(successor.name).\(attribute.name)"
      if former[attribute.index] == nil {
        addNeeded(subject)
      } else {
        add(
          .swift, .breaking, "argument-needed", subject,
          "the argument has no default any more, so each call of the initializer needs it")
      }
    }
    for composite in successor.composites where !composite.description.isOptional {
      let fields = composite.attributes.compactMap { successor.properties[$0].attribute }
      let isNew = fields.allSatisfy { match.origin(of: $0.index, in: successor.index) == nil }
      if isNew, fields.contains(where: \.isNeeded) { addNeeded("\(successor.name).\(composite.name)") }
    }
    if order != order.sorted() {
      add(.swift, .breaking, "argument-order", entity.name, "the arguments of the initializer have another order")
    }
  }

  private mutating func addNeeded(_ subject: String) {
    add(
      .swift, .breaking, "argument-needed", subject,
      "a new argument without a default, which each call of the initializer needs")
  }

  private static func arguments(of entity: Entity) -> [Attribute] {
    entity.properties.compactMap(\.attribute).filter { $0.description.derivation == nil && !$0.isField }
  }

  private mutating func addRequestChanges(_ entity: Entity, _ successor: Entity) {
    let before = old.description.entities[entity.index].fetchRequests
    let after = new.description.entities[successor.index].fetchRequests
    for request in before {
      let subject = "\(entity.name).\(request.name)"
      guard let other = after.first(where: { $0.name == request.name }) else {
        add(.swift, .breaking, "request-removed", subject, "the fetch request is gone")
        continue
      }
      let variables = [(request, entity, old), (other, successor, new)].map { request, entity, model in
        request.predicate.flatMap { try? CheckedFormat($0, of: entity.index, in: model) }?.variables.map {
          "\($0.name): \($0.attribute?.spelling ?? $0.type.name)"
        } ?? []
      }
      if variables[0] != variables[1] {
        add(
          .swift, .breaking, "request-arguments", subject,
          "has the arguments (\(variables[1].joined(separator: ", "))), and had (\(variables[0].joined(separator: ", ")))"
        )
      } else if request.predicate != other.predicate || request.sort != other.sort || request.limit != other.limit
        || request.offset != other.offset
      {
        add(.swift, .aware, "request-changed", subject, "returns other objects, or another order")
      }
    }
    for request in after where !before.contains(where: { $0.name == request.name }) {
      add(.swift, .safe, "request-added", "\(successor.name).\(request.name)", "a new fetch request")
    }
  }

  // MARK: Properties

  private mutating func addSwiftChanges(_ entity: Entity, _ property: Property, _ successor: Property?) {
    if property.attribute?.role == .presence { return }
    let subject = "\(entity.name).\(property.name)"
    guard let successor else { return add(.swift, .breaking, "property-removed", subject, "the property is gone") }
    if property.swiftPropertyName != successor.swiftPropertyName {
      add(.swift, .breaking, "property-renamed", subject, "is \(successor.swiftPropertyName) now")
    }
    switch (property, successor) {
    case (.attribute(let old), .attribute(let new)): addSwiftChanges(subject, old, new)
    case (.relationship(let old), .relationship(let new)): addSwiftChanges(subject, old, new)
    case (.attribute(let old), .relationship(let new)):
      add(
        .swift, .breaking, "type-changed", subject,
        "a relationship to \(new.description.destination) instead of \(old.description.typeSpelling)")
    case (.relationship, .attribute(let new)):
      add(.swift, .breaking, "type-changed", subject, "\(new.description.typeSpelling) instead of a relationship")
    }
  }

  private mutating func addSwiftChanges(_ subject: String, _ old: Attribute, _ new: Attribute) {
    let (before, after) = (old.description, new.description)
    if before.typeSpelling != after.typeSpelling {
      add(.swift, .breaking, "type-changed", subject, "\(after.typeSpelling) instead of \(before.typeSpelling)")
    }
    if old.isOptional != new.isOptional {
      add(
        .swift, .breaking, new.isOptional ? "became-optional" : "became-required", subject,
        new.isOptional ? "may be nil, so its type is optional" : "cannot be nil, so its type is not optional any more")
    }
    if (before.derivation == nil) != (after.derivation == nil) {
      add(
        .swift, after.derivation == nil ? .safe : .breaking, after.derivation == nil ? "became-set" : "became-derived",
        subject, after.derivation == nil ? "can be set" : "is computed, so it can only be read")
    } else if before.derivation != after.derivation {
      add(.swift, .aware, "derivation-changed", subject, "is computed otherwise: \(after.derivation ?? "")")
    }
    if before.isExternal != after.isExternal {
      add(
        .swift, .breaking, "external-changed", subject,
        after.isExternal ? "may be in a file, so its type is ExternalData" : "is in the row, so its type is Data")
    }
    if before.defaultValue != after.defaultValue, before.defaultValue != nil, after.defaultValue != nil {
      add(.swift, .aware, "default-changed", subject, "new objects have another default")
    }
    if before.type == after.type {
      for words in [after.rules.tightened(since: before.rules, after.type)] where !words.isEmpty {
        add(
          .swift, .aware, "rules-tightened", subject,
          "\(words.joined(separator: ", ")): saves of other values are refused")
      }
      if !before.rules.tightened(since: after.rules, after.type).isEmpty {
        add(.swift, .safe, "rules-loosened", subject, "has less strict rules")
      }
    }
  }

  private mutating func addSwiftChanges(_ subject: String, _ old: Relationship, _ new: Relationship) {
    if match.successors[old.destination] != new.destination {
      add(
        .swift, .breaking, "type-changed", subject,
        "leads to \(new.description.destination) instead of \(old.description.destination)")
    }
    if old.isToMany != new.isToMany {
      add(
        .swift, .breaking, "type-changed", subject, new.isToMany ? "to many instead of one" : "to one instead of many")
    } else if old.isOrdered != new.isOrdered {
      add(
        .swift, .breaking, "order-changed", subject,
        new.isOrdered ? "has an order, and the type OrderedToMany" : "has no order, and the type ToMany")
    }
    if old.deleteRule != new.deleteRule {
      add(
        .swift, .aware, "delete-rule", subject,
        "the delete rule is \(new.deleteRule.rawValue), and was \(old.deleteRule.rawValue)")
    }
    let tightened = new.tightenedCounts(since: old)
    if !tightened.isEmpty {
      add(
        .swift, .aware, "rules-tightened", subject,
        "\(tightened.joined(separator: ", ")): saves of other numbers are refused")
    }
    if !old.tightenedCounts(since: new).isEmpty {
      add(.swift, .safe, "rules-loosened", subject, "has less strict rules")
    }
  }

  // MARK: Enums and composites

  private mutating func addEnumChanges() {
    for enumeration in old.description.enums {
      guard let other = new.enumeration(named: enumeration.name) else {
        add(.swift, .breaking, "enum-removed", enumeration.name, "the enum is gone")
        continue
      }
      if enumeration.rawType != other.rawType {
        add(.swift, .breaking, "raw-type", enumeration.name, "has raw values of another type")
      }
      for former in enumeration.cases where !other.cases.contains(where: { $0.name == former.name }) {
        let subject = "\(enumeration.name).\(former.name)"
        if let heir = other.cases.first(where: { $0.renamedFrom.contains(former.name) }) {
          add(.swift, .breaking, "case-renamed", subject, "is \(heir.name) now")
        } else {
          add(.swift, .breaking, "case-removed", subject, "the case is gone")
        }
      }
      for current in other.cases where !enumeration.cases.contains(where: { $0.name == current.name }) {
        if enumeration.cases.contains(where: { current.renamedFrom.contains($0.name) }) { continue }
        add(
          .swift, .breaking, "case-added", "\(other.name).\(current.name)",
          "a new case, which each switch without a default needs")
      }
      if enumeration.unknown != other.unknown, [enumeration.unknown, other.unknown].contains(.preserve) {
        add(
          .swift, .breaking, "unknown-case", enumeration.name,
          other.unknown == .preserve
            ? "has the case unknown, which each switch without a default needs" : "has no case unknown any more")
      }
    }
    for enumeration in new.description.enums where old.enumeration(named: enumeration.name) == nil {
      add(.swift, .safe, "enum-added", enumeration.name, "a new enum")
    }
  }

  private mutating func addCompositeChanges() {
    for composite in old.description.composites {
      guard let other = new.description.composites.first(where: { $0.name == composite.name }) else {
        add(.swift, .breaking, "struct-removed", composite.name, "the struct is gone")
        continue
      }
      for field in composite.attributes {
        let subject = "\(composite.name).\(field.name)"
        guard let current = other.attributes.first(where: { $0.name == field.name }) else {
          add(.swift, .breaking, "field-removed", subject, "the field is gone, or has another name")
          continue
        }
        if field.typeSpelling != current.typeSpelling || field.isOptional != current.isOptional {
          add(
            .swift, .breaking, "field-type", subject,
            "\(current.typeSpelling)\(current.isOptional ? "?" : "") instead of \(field.typeSpelling)\(field.isOptional ? "?" : "")"
          )
        }
      }
      for field in other.attributes where !composite.attributes.contains(where: { $0.name == field.name }) {
        let isNeeded = !field.isOptional && field.defaultValue == nil
        add(
          .swift, isNeeded ? .breaking : .safe, isNeeded ? "argument-needed" : "field-added",
          "\(composite.name).\(field.name)",
          isNeeded ? "a new field without a default, which each call of the initializer needs" : "a new field")
      }
    }
  }
}

extension Attribute {
  /// Whether each call of the initializer has the argument.
  fileprivate var isNeeded: Bool {
    description.derivation == nil && !isOptional && description.defaultValue == nil
  }
}

extension Property {
  fileprivate var swiftPropertyName: String {
    switch self {
    case .attribute(let attribute): attribute.description.swiftName ?? attribute.name
    case .relationship(let relationship): relationship.description.swiftName ?? relationship.name
    }
  }
}
