import TrellisSchema

extension GrammarReader {
  static let entityKeys = [
    "doc", "parent", "abstract", "attributes", "relationships", "unique", "indexes", "fetchRequests", "hooks",
    "renamedFrom", "userInfo",
  ]

  func readEntities(_ model: KeyedObject) -> [EntityDraft] {
    guard let object = model.nested("entities"), let offset = model.object["entities"]?.keyOffset,
      isWithin(Limits.entities, object.members.count, "entities", at: offset)
    else { return [] }
    return namedObjects(model, "entities", "entity").map { readEntity($0, $1, $2) }
  }

  private func readEntity(_ name: Located<String>, _ node: JSONNode, _ object: JSONObject) -> EntityDraft {
    let keyed = KeyedObject(
      object, at: name.offset, owner: "entity \(name.value.quoted)", keys: Self.entityKeys, findings)
    var draft = EntityDraft(name: name)
    draft.doc = keyed.text("doc")?.value
    draft.parentName = keyed.text("parent")
    draft.isAbstract = keyed.flag("abstract")
    draft.renamedFrom = keyed.text("renamedFrom")
    draft.userInfo = keyed.userInfo()
    draft.uniqueKeys = keyed.nameLists("unique")
    draft.indexes = keyed.nameLists("indexes")
    draft.hooks = readHooks(keyed)
    readProperties(keyed, into: &draft)
    draft.fetchRequests = namedObjects(keyed, "fetchRequests", "fetch request").map {
      readFetchRequest($0, $2, of: name.value)
    }
    return draft
  }

  private func readProperties(_ keyed: KeyedObject, into draft: inout EntityDraft) {
    let count = (keyed.nested("attributes")?.members.count ?? 0) + (keyed.nested("relationships")?.members.count ?? 0)
    guard isWithin(Limits.properties, count, "properties in \(keyed.owner)", at: draft.name.offset) else { return }
    for member in keyed.object["attributes"]?.value.object?.members ?? [] {
      guard let attribute = readAttribute(member, of: draft.name.value) else { continue }
      draft.properties[attribute.name.value] = .attribute(draft.attributes.count)
      draft.attributes.append(attribute)
    }
    for (name, _, object) in namedObjects(keyed, "relationships", "relationship") {
      let relationship = readRelationship(name, object, of: draft.name.value)
      if draft.properties[name.value] == nil { draft.properties[name.value] = .relationship(draft.relationships.count) }
      draft.relationships.append(relationship)
    }
  }

  private func readHooks(_ keyed: KeyedObject) -> [LifecycleHook] {
    var places: [LifecycleHook: Int] = [:]
    var hooks: [LifecycleHook] = []
    for text in keyed.texts("hooks") {
      guard let hook = LifecycleHook(rawValue: text.value) else {
        keyed.reportUnknownWord("hooks", text, LifecycleHook.allCases.map(\.rawValue))
        continue
      }
      if let first = places[hook] {
        findings.error(
          .repeatedEntry, at: text.offset,
          "'hooks' of \(keyed.owner) has '\(hook.rawValue)' twice; keep one of the two.",
          notes: [("the first is here", first)])
      } else {
        places[hook] = text.offset
        hooks.append(hook)
      }
    }
    return hooks
  }

  private func readFetchRequest(
    _ name: Located<String>, _ object: JSONObject, of entity: String
  ) -> FetchRequestDraft {
    let keyed = KeyedObject(
      object, at: name.offset, owner: "fetch request '\(entity.shown).\(name.value.shown)'",
      keys: ["predicate", "sort", "limit", "offset", "prefetch", "doc"], findings)
    let predicate = keyed.text("predicate")
    let sort = keyed.texts("sort")
    let prefetch = keyed.texts("prefetch")
    return FetchRequestDraft(
      name: name,
      description: FetchRequestDescription(
        name.value, predicate: predicate?.value,
        sort: sort.map { FetchRequestDescription.Sort($0.value.withoutSign, descending: $0.value.isDescending) },
        limit: keyed.count("limit", least: 1), offset: keyed.count("offset"), prefetch: prefetch.map(\.value),
        doc: keyed.text("doc")?.value), predicate: predicate, sort: sort, prefetch: prefetch)
  }
}
