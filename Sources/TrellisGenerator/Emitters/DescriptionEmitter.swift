import TrellisSchema

/// Emits the descriptions in the generated code: the model as declared in its file, from which the runtime derives
/// everything else.
enum DescriptionEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    // Each subclass has its own description, which is no override.
    let prefix = plan.isRoot ? "" : "@_nonoverride "
    writer.write("\(prefix)fileprivate static let _description = ", code(of: plan.description))
  }

  private static func code(of entity: EntityDescription) -> Code {
    var arguments = Arguments()
    arguments.add(.string(entity.name))
    arguments.add("parent", entity.parent)
    arguments.add("isAbstract", entity.isAbstract)
    arguments.add("attributes", entity.attributes.map(code))
    arguments.add("relationships", entity.relationships.map(code))
    arguments.add("uniqueKeys", entity.uniqueKeys.map { .list($0.map { .string($0) }) })
    arguments.add("indexes", entity.indexes.map(code))
    arguments.add("fetchRequests", entity.fetchRequests.map(code))
    arguments.add("hooks", entity.hooks.map { .plain(".\($0.rawValue)") })
    arguments.add("renamedFrom", entity.renamedFrom)
    arguments.add("doc", entity.doc)
    arguments.add(entity.userInfo)
    return .call(TypeName.entityDescription, arguments.codes)
  }

  private static func code(of attribute: AttributeDescription) -> Code {
    var arguments = Arguments()
    arguments.add(.string(attribute.name))
    arguments.add(code(of: attribute.type))
    arguments.add("optional", attribute.isOptional)
    arguments.add("transient", attribute.isTransient)
    if let value = attribute.defaultValue { arguments.add("default", code(of: value)) }
    if !attribute.rules.isEmpty { arguments.add("rules", code(of: attribute.rules)) }
    arguments.add("external", attribute.isExternal)
    arguments.add("searchable", attribute.isSearchable)
    arguments.add("swiftName", attribute.swiftName)
    arguments.add("renamedFrom", attribute.renamedFrom)
    arguments.add("doc", attribute.doc)
    arguments.add(attribute.userInfo)
    return .filledCall(TypeName.attributeDescription, arguments.codes)
  }

  private static func code(of type: AttributeType) -> Code {
    switch type {
    case .enumeration(let name): .call(".enumeration", [.string(name)])
    case .codable(let name): .call(".codable", [.string(name)])
    case .array(let element): .call(".array", [code(of: element)])
    default: .plain("." + type.spelling)
    }
  }

  private static func code(of value: DefaultValue) -> Code {
    switch value {
    case .now: .plain(".now")
    case .new: .plain(".new")
    case .value(let value): .call(".value", [Arguments.code(of: value)])
    case .list(let values): .call(".list", [.list(values.map(Arguments.code))])
    }
  }

  private static func code(of rules: AttributeRules) -> Code {
    var arguments = Arguments()
    arguments.add("min", rules.minimum)
    arguments.add("max", rules.maximum)
    arguments.add("minLength", rules.minimumLength)
    arguments.add("maxLength", rules.maximumLength)
    arguments.add("pattern", rules.pattern)
    return .filledCall(TypeName.attributeRules, arguments.codes)
  }

  private static func code(of relationship: RelationshipDescription) -> Code {
    var arguments = Arguments()
    arguments.add(.string(relationship.name))
    arguments.add("to", relationship.destination)
    arguments.add("inverse", relationship.inverse)
    if relationship.deleteRule != .nullify {
      arguments.add("deleteRule", .plain(".\(relationship.deleteRule.rawValue)"))
    }
    arguments.add("toMany", relationship.isToMany)
    arguments.add("ordered", relationship.isOrdered)
    arguments.add("minCount", relationship.minimumCount)
    arguments.add("maxCount", relationship.maximumCount)
    arguments.add("optional", relationship.isOptional)
    arguments.add("transient", relationship.isTransient)
    arguments.add("swiftName", relationship.swiftName)
    arguments.add("renamedFrom", relationship.renamedFrom)
    arguments.add("doc", relationship.doc)
    arguments.add(relationship.userInfo)
    return .filledCall(TypeName.relationshipDescription, arguments.codes)
  }

  private static func code(of index: IndexDescription) -> Code {
    .call(TypeName.indexDescription, [.list(index.elements.map { sortKey($0.property, $0.isDescending) })])
  }

  private static func code(of request: FetchRequestDescription) -> Code {
    var arguments = Arguments()
    arguments.add(.string(request.name))
    arguments.add("predicate", request.predicate)
    arguments.add("sort", request.sort.map { sortKey($0.path, $0.isDescending) })
    arguments.add("limit", request.limit)
    arguments.add("offset", request.offset)
    arguments.add("prefetch", request.prefetch.map { .string($0) })
    arguments.add("doc", request.doc)
    return .filledCall(TypeName.fetchRequestDescription, arguments.codes)
  }

  private static func sortKey(_ path: String, _ isDescending: Bool) -> Code {
    .call(".init", isDescending ? [.string(path), .labeled("descending", .plain("true"))] : [.string(path)])
  }
}
