import TrellisModel

/// Checks that composites have fields and do not contain each other, and that what is said of fields names them. Adds
/// the fields to the attributes of the entities.
enum Composites {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    guard !draft.composites.isEmpty else { return }
    for composite in draft.composites { checkMembers(of: composite, findings) }
    reportCircles(draft, findings)
    guard findings.errorCount == 0 else { return }
    let description = draft.description
    for number in draft.entities.indices where !draft.entities[number].composites.isEmpty {
      expand(&draft.entities[number], description, findings)
    }
  }

  private static func checkMembers(of composite: CompositeDraft, _ findings: Findings) {
    if composite.attributes.isEmpty, composite.composites.isEmpty {
      findings.error(
        .emptyComposite, at: composite.name.offset,
        "Composite '\(composite.name.value)' has no attributes; declare one, or take it out.")
    }
    for attribute in composite.attributes {
      for key in ["transient", "externalStorage", "backfill", "derived", "stored"] where attribute.object[key] != nil {
        findings.error(
          .optionMismatch, at: attribute.place(of: key),
          "Attribute '\(composite.name.value).\(attribute.name.value)' is a field of a composite, which has no '\(key)'; "
            + (key == "backfill"
              ? "write it under \"fields\" of the attribute that has the composite." : "take it out."))
      }
      if attribute.json?.mapping.path != nil {
        findings.error(
          .optionMismatch, at: attribute.place(of: "json"),
          "Attribute '\(composite.name.value).\(attribute.name.value)' is a field of a composite, which has no path of its "
            + "own in 'json'; write it under \"fields\" of the attribute that has the composite.")
      }
    }
  }

  // MARK: Circles

  private static func reportCircles(_ draft: Draft, _ findings: Findings) {
    let numbers = Dictionary(draft.composites.enumerated().map { ($1.name.value, $0) }) { first, _ in first }
    var isDone = draft.composites.map { _ in false }
    for start in draft.composites.indices where !isDone[start] {
      var path: [Int] = []
      guard let circle = circle(from: start, &path, &isDone, draft, numbers) else { continue }
      let names = circle.map { "'\(draft.composites[$0].name.value)'" }
      return findings.error(
        .compositeCircle, at: draft.composites[circle[0]].name.offset,
        circle.count == 1
          ? "Composite \(names[0]) contains itself; take the attribute out, or make it a relationship."
          : "The composites \(names.joined(separator: ", ")) contain each other; take one attribute out.")
    }
  }

  private static func circle(
    from number: Int, _ path: inout [Int], _ isDone: inout [Bool], _ draft: Draft, _ numbers: [String: Int]
  ) -> [Int]? {
    if let start = path.firstIndex(of: number) { return Array(path[start...]) }
    guard !isDone[number] else { return nil }
    path.append(number)
    for member in draft.composites[number].composites {
      guard let next = numbers[member.typeName.value] else { continue }
      if let found = circle(from: next, &path, &isDone, draft, numbers) { return found }
    }
    path.removeLast()
    isDone[number] = true
    return nil
  }

  // MARK: Fields

  private static func expand(_ entity: inout EntityDraft, _ description: ModelDescription, _ findings: Findings) {
    let plain = entity.attributes
    entity.attributes = []
    for place in 0...plain.count {
      for group in entity.composites.indices where entity.composites[group].description.position == place {
        let fields = fields(of: &entity.composites[group], entity.name.value, description, findings)
        entity.attributes += fields
        entity.groups.formUnion(groups(of: entity.composites[group].description, prefix: "", description))
      }
      if place < plain.count { entity.attributes.append(plain[place]) }
    }
    for (place, attribute) in entity.attributes.enumerated() {
      entity.properties[attribute.name.value] = .attribute(place)
    }
  }

  private static func groups(
    of use: CompositeAttributeDescription, prefix: String, _ description: ModelDescription
  ) -> [String] {
    let path = prefix + use.name
    let inner = description.composites.first { $0.name == use.composite }?.composites ?? []
    return [path] + inner.flatMap { groups(of: $0, prefix: path + ".", description) }
  }

  private static func fields(
    of use: inout CompositeAttributeDraft, _ entity: String, _ description: ModelDescription, _ findings: Findings
  ) -> [AttributeDraft] {
    let all: [AttributeDescription]
    do {
      all = try description.fieldAttributes(of: use.description)
    } catch {
      findings.error(
        .tooDeep, at: use.name.offset,
        "Attribute '\(entity).\(use.name.value)' has composites in composites, more than \(ModelDescription.compositeDepth) deep; "
          + "flatten them.")
      return []
    }
    let names = all.map { String($0.name.dropFirst(use.name.value.utf8.count + 1)) }
    for place in use.fields.indices {
      let name = use.fields[place].name
      guard let field = names.firstIndex(of: name.value), !name.value.isEmpty else {
        findings.error(
          .unknownProperty, at: name.offset,
          "'fields' of attribute '\(entity).\(use.name.value)' names \(name.value.quoted), but composite "
            + "'\(use.typeName.value)' has no such field"
            + findings.suggestions.clause(for: name.value, among: names.filter { !$0.isEmpty }).orFullStop)
        continue
      }
      use.fields[place].description.type = all[field].type
      use.fields[place].hasType = true
    }
    var known = use.whole
    known.fields.removeAll { !names.contains($0.name) }
    return zip((try? description.fieldAttributes(of: known)) ?? all, names).map { attribute, name in
      let own = use.fields.first { $0.name.value == name }
      var draft = AttributeDraft(
        name: Located(attribute.name, at: own?.name.offset ?? use.name.offset), typeName: use.typeName,
        object: JSONObject(), description: attribute)
      draft.json = own?.json
      draft.hasType = true
      draft.isField = true
      return draft
    }
  }
}

extension Draft {
  /// The rules of the fields of which entities say more, by the paths of these in messages. The composites have them.
  var rulesOfFields: [String: AttributeRules] {
    let description = description
    var rules: [String: AttributeRules] = [:]
    for entity in entities {
      for use in entity.composites where !use.fields.isEmpty {
        for field in (try? description.fieldAttributes(of: use.description)) ?? [] {
          rules["\(entity.name.value).\(field.name)"] = field.rules
        }
      }
    }
    return rules
  }

  /// Changes each attribute that the file declares, in composites and entities, and what it says of fields.
  ///
  /// - Parameter body: The attribute, and the name of what declares it.
  mutating func changeDeclaredAttributes(_ body: (inout AttributeDraft, String) -> Void) {
    for number in composites.indices {
      for place in composites[number].attributes.indices {
        body(&composites[number].attributes[place], composites[number].name.value)
      }
    }
    for number in entities.indices {
      for place in entities[number].attributes.indices where !entities[number].attributes[place].isField {
        body(&entities[number].attributes[place], entities[number].name.value)
      }
      for group in entities[number].composites.indices {
        let owner = path(number, entities[number].composites[group].name.value)
        for place in entities[number].composites[group].fields.indices {
          body(&entities[number].composites[group].fields[place], owner)
        }
      }
    }
  }
}
