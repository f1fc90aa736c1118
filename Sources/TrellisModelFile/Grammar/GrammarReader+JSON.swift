import TrellisModel

extension GrammarReader {
  /// How the objects of an entity are mapped.
  func readEntityJSON(_ entity: KeyedObject) -> JSONDraft<EntityJSON>? {
    guard let node = entity.object["json"]?.value else { return nil }
    if case .bool(true) = node.content { return JSONDraft(mapping: EntityJSON(), node: node) }
    guard let object = node.object else {
      entity.wrongType("json", node, "true, or an object such as {\"key\": \"id\"}")
      return nil
    }
    let keyed = nested(object, node, of: entity, ModelKeys.entityJSON)
    let mapping = EntityJSON(
      key: keyed.textOrTexts("key", "the name of a property, or a list of names").map(\.value),
      style: keyed.word("style", EntityJSON.Style.self), entityPath: keyed.text("entity")?.value,
      entityValue: keyed.text("as")?.value)
    return JSONDraft(mapping: mapping, node: node)
  }

  func readAttributeJSON(_ attribute: KeyedObject) -> JSONDraft<PropertyJSON>? {
    readPropertyJSON(attribute, ModelKeys.attributeJSON) { keyed, mapping in
      mapping.date = keyed.text("date")?.value
    }
  }

  func readRelationshipJSON(_ relationship: KeyedObject) -> JSONDraft<PropertyJSON>? {
    readPropertyJSON(relationship, ModelKeys.relationshipJSON) { keyed, mapping in
      mapping.reference = keyed.text("reference")?.value
      mapping.members = keyed.word("members", PropertyJSON.Members.self) ?? .replace
    }
  }

  private func readPropertyJSON(
    _ property: KeyedObject, _ keys: [String], _ readOthers: (KeyedObject, inout PropertyJSON) -> Void
  ) -> JSONDraft<PropertyJSON>? {
    guard let node = property.object["json"]?.value else { return nil }
    switch node.content {
    case .bool(let isMapped): return JSONDraft(mapping: PropertyJSON(mapped: isMapped), node: node)
    case .string(let path): return JSONDraft(mapping: PropertyJSON(path), node: node)
    case .object(let object):
      let keyed = nested(object, node, of: property, keys)
      var mapping = PropertyJSON(keyed.text("path")?.value)
      mapping.take = readTake(keyed)
      mapping.keepsOnNull = keyed.word("null", NullWord.self) == .keep
      mapping.emptyIsNull = keyed.word("empty", EmptyWord.self) == .null
      readOthers(keyed, &mapping)
      return JSONDraft(mapping: mapping, node: node)
    default:
      property.wrongType("json", node, "a path, true, false, or an object such as {\"path\": \"a.b\"}")
      return nil
    }
  }

  private func readTake(_ keyed: KeyedObject) -> [PropertyJSON.Take] {
    keyed.textOrTexts("take", "a word, or a list of words").compactMap { text in
      if let word = PropertyJSON.Take(rawValue: text.value) { return word }
      keyed.reportUnknownWord("take", text, PropertyJSON.Take.allCases.map(\.rawValue))
      return nil
    }
  }

  private func nested(_ object: JSONObject, _ node: JSONNode, of owner: KeyedObject, _ keys: [String]) -> KeyedObject {
    KeyedObject(object, at: node.offset, owner: "'json' of \(owner.owner)", keys: keys, findings)
  }
}

extension KeyedObject {
  /// A text, or a list of texts.
  fileprivate func textOrTexts(_ key: String, _ expected: String) -> [Located<String>] {
    guard let node = object[key]?.value else { return [] }
    if let text = node.string { return [Located(text, at: node.offset)] }
    let elements = node.array ?? []
    if elements.isEmpty { wrongType(key, node, "\(expected) with at least one of them") }
    for element in elements where element.string == nil { wrongType(key, element, expected) }
    return elements.compactMap { element in element.string.map { Located($0, at: element.offset) } }
  }
}
