import TrellisSchema

/// Converts the JSON tree to a draft of the model. It checks keys and kinds of values, but not their meaning.
struct GrammarReader {
  let findings: Findings

  init(_ findings: Findings) {
    self.findings = findings
  }

  func readModel(_ root: JSONNode) -> Draft? {
    guard let object = root.object else {
      findings.error(.wrongType, at: root.offset, "A model file holds an object; here is \(root.kind).")
      return nil
    }
    let keyed = KeyedObject(
      object, at: root.offset, owner: "the model",
      keys: [
        "$schema", "model", "version", "doc", "userInfo", "enums", "codableTypes", "entities", "foundationPredicates",
      ],
      required: ["model"],
      findings)
    var draft = Draft(name: keyed.text("model") ?? Located("", at: root.offset))
    draft.version = keyed.text("version")?.value
    draft.doc = keyed.text("doc")?.value
    draft.userInfo = keyed.userInfo()
    draft.codableTypes = keyed.texts("codableTypes")
    draft.foundationPredicates = keyed.isSet("foundationPredicates")
    draft.enums = readEnums(keyed)
    draft.entities = readEntities(keyed)
    for (number, entity) in draft.entities.enumerated() { draft.entityNumbers[entity.name.value] = number }
    for (number, enumeration) in draft.enums.enumerated() { draft.enumNumbers[enumeration.name.value] = number }
    return draft
  }

  /// Whether a count is within a limit; reports an error if it is not.
  func isWithin(_ limit: Int, _ count: Int, _ things: String, at offset: Int) -> Bool {
    if count > limit { findings.error(.tooMany, at: offset, "There are \(count) \(things); there may be \(limit).") }
    return count <= limit
  }

  /// The members of an object that maps names to objects, such as entities by name.
  func namedObjects(_ keyed: KeyedObject, _ key: String, _ thing: String) -> [(Located<String>, JSONNode, JSONObject)] {
    (keyed.nested(key)?.members ?? []).compactMap { member in
      guard let object = member.value.object else {
        findings.error(
          .wrongType, at: member.value.offset,
          "\(thing.capitalizedFirst) \(member.key.quoted) must be an object; here is \(member.value.kind).")
        return nil
      }
      return (Located(member.key, at: member.keyOffset), member.value, object)
    }
  }
}
