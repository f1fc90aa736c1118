import TrellisSchema

extension GrammarReader {
  static let attributeKeys = [
    "type", "optional", "default", "transient", "min", "max", "minLength", "maxLength", "pattern", "externalStorage",
    "searchable", "doc", "renamedFrom", "userInfo", "swiftName",
  ]
  static let relationshipKeys = [
    "destination", "inverse", "deleteRule", "toMany", "ordered", "minCount", "maxCount", "optional", "transient", "doc",
    "renamedFrom", "userInfo", "swiftName",
  ]

  // MARK: Attributes

  func readAttribute(_ member: JSONObject.Member, of entity: String) -> AttributeDraft? {
    let name = Located(member.key, at: member.keyOffset)
    let owner = "attribute '\(entity.shown).\(name.value.shown)'"
    switch member.value.content {
    case .string(let type):
      return attribute(name, type: Located(type, at: member.value.offset), JSONObject())
    case .object(let object):
      let keyed = KeyedObject(
        object, at: name.offset, owner: owner, keys: Self.attributeKeys, required: ["type"], findings)
      var draft = attribute(name, type: keyed.text("type") ?? Located("string", at: name.offset), object)
      readDetails(keyed, into: &draft)
      return draft
    default:
      findings.error(
        .wrongType, at: member.value.offset,
        "\(owner.capitalizedFirst) must be a type such as \"string\", or an object; here is \(member.value.kind).")
      return nil
    }
  }

  /// An attribute with only its type: the type's name, with a question mark if it is optional.
  private func attribute(_ name: Located<String>, type: Located<String>, _ object: JSONObject) -> AttributeDraft {
    let isOptional = type.value.utf8.last == UInt8(ascii: "?")
    return AttributeDraft(
      name: name, typeName: Located(isOptional ? String(type.value.dropLast()) : type.value, at: type.offset),
      object: object, description: AttributeDescription(name.value, .string, optional: isOptional))
  }

  private func readDetails(_ keyed: KeyedObject, into draft: inout AttributeDraft) {
    if let optional = keyed.flag("optional") {
      if draft.description.isOptional, !optional.value {
        findings.error(
          .contradictoryOptional, at: optional.offset,
          "The type of \(keyed.owner) ends with '?', but 'optional' is false; keep one of the two.",
          notes: [("the type is here", draft.typeName.offset)])
      }
      draft.description.isOptional = optional.value || draft.description.isOptional
    }
    draft.description.isTransient = keyed.isSet("transient")
    draft.description.isExternal = keyed.isSet("externalStorage")
    draft.description.isSearchable = keyed.isSet("searchable")
    draft.description.rules.minimumLength = keyed.count("minLength")
    draft.description.rules.maximumLength = keyed.count("maxLength")
    draft.description.rules.pattern = keyed.text("pattern")?.value
    draft.description.doc = keyed.text("doc")?.value
    draft.description.renamedFrom = keyed.text("renamedFrom")?.value
    draft.description.swiftName = keyed.text("swiftName")?.value
    draft.description.userInfo = keyed.userInfo()
  }

  // MARK: Relationships

  func readRelationship(_ name: Located<String>, _ object: JSONObject, of entity: String) -> RelationshipDraft {
    let keyed = KeyedObject(
      object, at: name.offset, owner: "relationship '\(entity.shown).\(name.value.shown)'", keys: Self.relationshipKeys,
      required: ["destination"], findings)
    return RelationshipDraft(
      name: name, object: object,
      description: RelationshipDescription(
        name.value, to: keyed.text("destination")?.value ?? "", inverse: keyed.text("inverse")?.value,
        deleteRule: keyed.word("deleteRule", DeleteRule.self) ?? .nullify, toMany: keyed.isSet("toMany"),
        ordered: keyed.isSet("ordered"), minCount: keyed.count("minCount"), maxCount: keyed.count("maxCount", least: 1),
        optional: keyed.isSet("optional"), transient: keyed.isSet("transient"),
        swiftName: keyed.text("swiftName")?.value,
        renamedFrom: keyed.text("renamedFrom")?.value, doc: keyed.text("doc")?.value, userInfo: keyed.userInfo()))
  }
}
