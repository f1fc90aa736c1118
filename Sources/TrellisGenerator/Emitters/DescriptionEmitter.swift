import TrellisModel

/// Emits the descriptions in the generated code: the model as declared in its file, from which the runtime derives
/// everything else.
enum DescriptionEmitter {
  static func emit(_ plan: EntityPlan, to writer: inout CodeWriter) {
    // Each subclass has its own description, which is no override.
    let prefix = plan.isRoot ? "" : "@_nonoverride "
    writer.write("\(prefix)static let _description = ", code(of: plan.description))
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
    arguments.add("swiftName", entity.swiftName)
    arguments.add("renamedFrom", entity.renamedFrom.map { .string($0) })
    arguments.add("removed", entity.removed.map { .string($0) })
    arguments.add("doc", entity.doc)
    arguments.add(entity.userInfo)
    if let json = entity.json { arguments.add("json", code(of: json)) }
    if let history = entity.history { arguments.add("history", .plain(".\(history)")) }
    arguments.add("composites", entity.composites.map(code))
    arguments.add("sync", entity.sync)
    return .call(TypeName.entityDescription, arguments.codes)
  }

  static func code(of composite: CompositeDescription) -> Code {
    var arguments = Arguments()
    arguments.add(.string(composite.name))
    arguments.add("attributes", composite.attributes.map(code))
    arguments.add("composites", composite.composites.map(code))
    arguments.add("doc", composite.doc)
    return .call(TypeName.compositeDescription, arguments.codes)
  }

  private static func code(of composite: CompositeAttributeDescription) -> Code {
    var arguments = Arguments()
    arguments.add(.string(composite.name))
    arguments.add(.string(composite.composite))
    arguments.add("optional", composite.isOptional)
    arguments.add("position", composite.position)
    arguments.add("fields", composite.fields.map(code))
    arguments.add("swiftName", composite.swiftName)
    arguments.add("renamedFrom", composite.renamedFrom.map { .string($0) })
    arguments.add("doc", composite.doc)
    arguments.add(composite.userInfo)
    return .filledCall(TypeName.compositeAttributeDescription, arguments.codes)
  }

  private static func code(of attribute: AttributeDescription) -> Code {
    var arguments = Arguments()
    arguments.add(.string(attribute.name))
    arguments.add(code(of: attribute.type))
    arguments.add("optional", attribute.isOptional)
    arguments.add("transient", attribute.isTransient && attribute.derivation == nil)
    if let value = attribute.defaultValue { arguments.add("default", code(of: value)) }
    if !attribute.rules.isEmpty { arguments.add("rules", code(of: attribute.rules)) }
    arguments.add("external", attribute.isExternal)
    arguments.add("searchable", attribute.isSearchable)
    arguments.add("swiftName", attribute.swiftName)
    arguments.add("renamedFrom", attribute.renamedFrom.map { .string($0) })
    if let backfill = attribute.backfill { arguments.add("backfill", code(of: backfill)) }
    arguments.add("lossy", attribute.isLossy)
    arguments.add("doc", attribute.doc)
    arguments.add(attribute.userInfo)
    if let json = attribute.json { arguments.add("json", code(of: json)) }
    arguments.add("keptInHistory", attribute.isKeptInHistory)
    arguments.add("scalar", attribute.scalar)
    arguments.add("derived", attribute.derivation)
    arguments.add("stored", attribute.storesDerivation)
    arguments.add("sync", attribute.sync)
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

  private static func code(of backfill: Backfill) -> Code {
    switch backfill {
    case .value(let value): .call(".value", [code(of: value)])
    case .expression(let text): .call(".expression", [.string(text)])
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
    arguments.add("renamedFrom", relationship.renamedFrom.map { .string($0) })
    arguments.add("lossy", relationship.isLossy)
    arguments.add("doc", relationship.doc)
    arguments.add(relationship.userInfo)
    if let json = relationship.json { arguments.add("json", code(of: json)) }
    arguments.add("sync", relationship.sync)
    return .filledCall(TypeName.relationshipDescription, arguments.codes)
  }

  private static func code(of json: EntityJSON) -> Code {
    var arguments = Arguments()
    arguments.add("key", json.key.map { .string($0) })
    if let style = json.style { arguments.add("style", .plain(".\(style)")) }
    arguments.add("entityPath", json.entityPath)
    arguments.add("entityValue", json.entityValue)
    return .filledCall(TypeName.entityJSON, arguments.codes)
  }

  private static func code(of json: PropertyJSON) -> Code {
    var arguments = Arguments()
    if let path = json.path { arguments.add(.string(path)) }
    if !json.isMapped { arguments.add("mapped", .plain("false")) }
    arguments.add("date", json.date)
    arguments.add("take", json.take.map { .plain(".\($0.rawValue)") })
    arguments.add("keepsOnNull", json.keepsOnNull)
    arguments.add("emptyIsNull", json.emptyIsNull)
    arguments.add("reference", json.reference)
    if json.members != .replace { arguments.add("members", .plain(".\(json.members.rawValue)")) }
    return .filledCall(TypeName.propertyJSON, arguments.codes)
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

// MARK: - Predicate code

/// A predicate as the Swift expression that builds it. The compiler infers the types, so that no name in it can refer
/// to a type of the model.
///
/// The compile time of a literal grows faster than its number of elements, so the elements of a long list are appended
/// one by one, in statements before the expression.
final class PredicateCode {
  let parameters: [RequestPlan.Parameter]
  private(set) var statements: [Code] = []
  private var listCount = 0

  /// The maximum number of elements of a list that is written as a literal.
  private static let shortList = 16

  init(parameters: [RequestPlan.Parameter]) { self.parameters = parameters }

  // MARK: Conditions

  func code(_ predicate: QueryPredicate) -> Code {
    switch predicate {
    case .constant(let value): .plain(".constant(\(value))")
    case .not(let inner): .call(".not", [code(inner)])
    case .and(let terms): .call(".and", [list(terms)])
    case .or(let terms): .call(".or", [list(terms)])
    case .comparison(let comparison): code(comparison)
    case .isIn(let operand, let values, let kind):
      .call(".isIn", [code(operand), list(values), .plain(".\(kind)")])
    case .quantified(let quantifier, let path, let variable, let condition):
      .call(
        ".quantified",
        [.plain(".\(quantifier)"), .plain(self.path(path)), .plain("variable: \(variable)"), code(condition)])
    }
  }

  private func list(_ terms: [QueryPredicate]) -> Code {
    list(terms.map(code), of: TypeName.queryPredicate)
  }

  private func list(_ values: [StoredValue]) -> Code {
    list(values.map(Arguments.code), of: TypeName.storedValue)
  }

  private func list(_ elements: [Code], of type: String) -> Code {
    guard elements.count > Self.shortList else { return .list(elements) }
    // No name of a model begins with an underscore.
    let name = "_list\(listCount)"
    listCount += 1
    statements.append(.plain("var \(name): [\(type)] = []"))
    for element in elements { statements.append(.call("\(name).append", [element])) }
    return .plain(name)
  }

  /// Code of a comparison. If a list is a parameter, one comparison represents all of its values.
  private func code(_ comparison: Comparison) -> Code {
    guard case .parameter(let number) = comparison.right, parameters[number].shape == .list else {
      return .call(".comparison", [initialiser(comparison, right: right(of: comparison))])
    }
    let parameter = parameters[number]
    let values = "\(parameter.name.spelled).map { \(parameter.stored("$0")) }"
    return .call(
      ".isIn", [code(comparison.left), .plain(values), .plain(".\(comparison.kind)")] + options(comparison))
  }

  private func initialiser(_ comparison: Comparison, right: Code) -> Code {
    var arguments: [Code] = [
      code(comparison.left), .plain(".\(comparison.relation)"), right, .plain("kind: .\(comparison.kind)"),
    ]
    arguments += options(comparison)
    return .filledCall(".init", arguments)
  }

  private func options(_ comparison: Comparison) -> [Code] {
    let all = [
      (TextOptions.caseInsensitive, ".caseInsensitive"), (.diacriticInsensitive, ".diacriticInsensitive"),
      (.normalized, ".normalized"),
    ]
    let options = all.filter { comparison.options.contains($0.0) }.map(\.1)
    return options.isEmpty ? [] : [.plain("options: [\(options.joined(separator: ", "))]")]
  }

  /// The right side of a comparison; for a range, the bound that the relation compares with.
  private func right(of comparison: Comparison) -> Code {
    guard case .parameter(let number) = comparison.right, parameters[number].shape == .range else {
      return code(comparison.right)
    }
    let bound = comparison.relation == .lessOrEqual ? "upperBound" : "lowerBound"
    return .plain(".value(\(parameters[number].stored(parameters[number].name.spelled + "." + bound)))")
  }

  // MARK: Values

  func code(_ operand: Operand) -> Code {
    switch operand {
    case .value(let value): .call(".value", [Arguments.code(of: value)])
    case .path(let path): .plain(".path(\(self.path(path)))")
    case .count(let path): .plain(".count(\(self.path(path)))")
    case .entity(let path): .plain(".entity(\(self.path(path)))")
    case .now: .plain(".now")
    case .parameter(let number): .plain(".value(\(parameters[number].stored(parameters[number].name.spelled)))")
    case .computed(let computation): .call(".computed", [code(computation)])
    }
  }

  private func code(_ computation: Computation) -> Code {
    switch computation {
    case .arithmetic(let sign, let left, let right):
      .call(".arithmetic", [.plain(".\(sign)"), code(left), code(right)])
    case .function(let function, let operand): .call(".function", [.plain(".\(function)"), code(operand)])
    case .date(let function, let operand): .call(".date", [code(function), code(operand)])
    case .aggregate(let function, let path, let variable, let operand, let kind):
      .call(
        ".aggregate",
        [
          .plain(".\(function)"), .plain(self.path(path)), .plain("variable: \(variable)"), code(operand),
          .plain(".\(kind)"),
        ])
    case .countWhere(let path, let variable, let condition):
      .call(".countWhere", [.plain(self.path(path)), .plain("variable: \(variable)"), code(condition)])
    case .member(let place, let path, let variable, let operand):
      .call(
        ".member",
        [.plain(".\(place)"), .plain(self.path(path)), .plain("variable: \(variable)"), code(operand)])
    case .conditional(let condition, let first, let second):
      .call(".conditional", [code(condition), code(first), code(second)])
    case .list(let function, let operands, let kind):
      .call(".list", [.plain(".\(function)"), .list(operands.map { code($0) }), .plain(".\(kind)")])
    case .stored(let path, let operand): .call(".stored", [.plain(self.path(path)), code(operand)])
    }
  }

  private func code(_ function: DateFunction) -> Code {
    let result =
      switch function.result {
      case .start(let unit): ".start(.\(unit.rawValue))"
      case .part(let part): ".part(.\(part.rawValue))"
      }
    guard let calendar = function.calendar else { return .plain(".init(\(result), in: nil)") }
    return .plain(
      ".init(\(result), in: .init(named: \(StringLiteral.flat(calendar.name)), timeZone: \(StringLiteral.flat(calendar.timeZone)), "
        + "firstWeekday: \(calendar.firstWeekday), minimumDaysInFirstWeek: \(calendar.minimumDaysInFirstWeek)))")
  }

  func code(_ key: SortKey) -> Code {
    let path = key.path.map { Code.plain(self.path($0)) } ?? code(key.value)
    let kind = Code.plain("kind: .\(key.kind)")
    return .call(".init", key.isDescending ? [path, .plain("descending: true"), kind] : [path, kind])
  }

  func path(_ path: PropertyPath, _ type: String = "") -> String {
    path.steps.reduce("\(type.isEmpty ? ".init" : type)(variable: \(path.variable))") { "\($0).appending(\($1))" }
  }
}

extension RequestPlan.Parameter {
  /// The code for a value of the parameter in its stored form.
  func stored(_ name: String) -> String { isObject ? ".integer(\(name).objectID.key)" : "\(name).storedValue" }
}

// MARK: - Arguments

/// The arguments of a description, without those that equal their default.
struct Arguments {
  private(set) var codes: [Code] = []

  mutating func add(_ code: Code) { codes.append(code) }
  mutating func add(_ label: String, _ code: Code) { codes.append(.labeled(label, code)) }

  mutating func add(_ label: String, _ list: [Code]) {
    if !list.isEmpty { add(label, .list(list)) }
  }

  mutating func add(_ label: String, _ text: String?) {
    if let text { add(label, .string(text)) }
  }

  mutating func add(_ label: String, _ flag: Bool) {
    if flag { add(label, .plain("true")) }
  }

  mutating func add(_ label: String, _ number: Int?) {
    if let number { add(label, .plain("\(number)")) }
  }

  mutating func add(_ label: String, _ value: StoredValue?) {
    if let value { add(label, Self.code(of: value)) }
  }

  mutating func add(_ label: String, _ sync: SyncDecision?) {
    if let sync { add(label, .plain(".\(sync.rawValue)")) }
  }

  mutating func add(_ userInfo: [UserInfoEntry]) {
    add("userInfo", userInfo.map { .filledCall(TypeName.userInfoEntry, [.string($0.key), .string($0.value)]) })
  }

  static func code(of value: StoredValue) -> Code {
    switch value {
    // A model never refers to a file.
    case .null, .file: .plain(".null")
    case .integer(let number): .plain(".integer(\(number))")
    case .real(let number): .plain(".real(\(Numbers.literal(number)))")
    case .text(let text): .call(".text", [.string(text)])
    case .blob(let bytes): .call(".blob", [.filledList(bytes.map { .plain("\($0)") })])
    }
  }
}
