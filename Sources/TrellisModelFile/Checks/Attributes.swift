import TrellisModel

/// Checks that the type of each attribute is a scalar, a list of scalars, an enum of the model or one of its `Codable`
/// types.
enum AttributeTypes {
  private static let scalars = Dictionary(uniqueKeysWithValues: AttributeType.scalars.map { ($0.spelling, $0) })

  /// Names of the types in other systems.
  private static let otherNames = [
    "int": "int64", "integer": "int64", "long": "int64", "bigint": "int64", "uint": "int64", "number": "double",
    "text": "string", "varchar": "string", "char": "string", "boolean": "bool", "datetime": "date",
    "timestamp": "date", "time": "date", "binary": "data", "blob": "data", "bytes": "data", "bytea": "data",
    "guid": "uuid", "uri": "url", "real": "double", "short": "int16", "smallint": "int16", "currency": "decimal",
    "money": "decimal", "numeric": "decimal",
  ]

  /// Names of lists and relationships in other systems.
  private static let collectionNames: Set = ["array", "list", "set", "orderedset", "nsset", "nsorderedset"]

  static func check(_ draft: inout Draft, _ findings: Findings) {
    for number in draft.scalars.indices { checkForm(of: &draft.scalars[number], findings) }
    let known = draft
    for number in draft.composites.indices {
      check(&draft.composites[number].attributes, of: known.composites[number].name.value, known, findings)
    }
    for number in draft.entities.indices {
      check(&draft.entities[number].attributes, of: known.entities[number].name.value, known, findings)
    }
  }

  private static func check(
    _ attributes: inout [AttributeDraft], of owner: String, _ draft: Draft, _ findings: Findings
  ) {
    for place in attributes.indices {
      let name = attributes[place].typeName
      guard let (type, scalar) = type(name.value, draft) else {
        report(name, of: "\(owner).\(attributes[place].name.value)", draft, findings)
        continue
      }
      attributes[place].description.type = type
      if let scalar { attributes[place].description.scalar = scalar }
      attributes[place].hasType = true
    }
  }

  private static func checkForm(of scalar: inout ScalarDraft, _ findings: Findings) {
    let forms = ScalarDescription.storedForms
    scalar.type = forms.first { $0.spelling == scalar.typeName.value }
    guard scalar.type == nil else { return }
    let closest = findings.suggestions.closest(to: scalar.typeName.value, among: forms.map(\.spelling))
    let remedy =
      scalar.typeName.value == "data"
      ? "'data' has no order; use an attribute of type 'data', or a Codable type."
      : closest.map { "did you mean '\($0)'?" } ?? "it may be \(forms.map(\.spelling).listed)."
    findings.error(
      .unknownType, at: scalar.typeName.offset,
      "\(scalar.typeName.value.quoted) is no stored form of '\(scalar.name.value)'; \(remedy)")
  }

  private static func type(_ name: String, _ draft: Draft) -> (AttributeType, scalar: String?)? {
    if let scalar = scalars[name] { return (scalar, nil) }
    if let element = name.listElement {
      if let scalar = scalars[element] { return (.array(scalar), nil) }
      return draft.scalars.first { $0.name.value == element }.map { (.array($0.type ?? .string), element) }
    }
    if draft.enumNumbers[name] != nil { return (.enumeration(name), nil) }
    if let scalar = draft.scalars.first(where: { $0.name.value == name }) { return (scalar.type ?? .string, name) }
    return draft.codableTypes.contains { $0.value == name } ? (.codable(name), nil) : nil
  }

  private static func report(_ name: Located<String>, of path: String, _ draft: Draft, _ findings: Findings) {
    let remedy =
      name.value.listElement.map { listRemedy($0, draft, findings) } ?? remedy(for: name.value, draft, findings)
    findings.error(
      .unknownType, at: name.offset, "The type \(name.value.quoted) of attribute '\(path)' is unknown; \(remedy)")
  }

  private static func relationshipRemedy(_ entity: String) -> String {
    "'\(entity)' is an entity: declare it under \"relationships\" with \"destination\": \"\(entity)\"."
  }

  private static func toManyRemedy(_ entity: String) -> String {
    "'\(entity)' is an entity: declare it under \"relationships\" with \"destination\": \"\(entity)\", \"toMany\": true."
  }

  private static func listRemedy(_ element: String, _ draft: Draft, _ findings: Findings) -> String {
    if draft.entityNumbers[element] != nil { return toManyRemedy(element) }
    if draft.composites.contains(where: { $0.name.value == element }) {
      return "a list holds single values; make '\(element)' an entity, and the attribute a relationship."
    }
    if let scalar = element.optionalBase.flatMap({ scalars[$0]?.spelling }) {
      return "the values of a list are never nil; did you mean '[\(scalar)]'?"
    }
    if let scalar = otherNames[element.lowercased()]
      ?? closest(to: element, AttributeType.scalars.map(\.spelling) + draft.scalars.map(\.name.value), findings)
    {
      return "did you mean '[\(scalar)]'?"
    }
    return "a list holds values of \(AttributeType.scalars.map(\.spelling).listed), none of them optional."
  }

  private static func remedy(for name: String, _ draft: Draft, _ findings: Findings) -> String {
    if draft.entityNumbers[name] != nil { return relationshipRemedy(name) }
    if let element = name.otherListElement {
      if draft.entityNumbers[element] != nil { return toManyRemedy(element) }
      let scalar = scalars[element]?.spelling ?? otherNames[element.lowercased()]
      return scalar.map { "did you mean '[\($0)]'?" } ?? listRemedy(element, draft, findings)
    }
    if collectionNames.contains(name.lowercased()) {
      return "a list of values is written '[string]', and several objects are a relationship with \"toMany\": true."
    }
    if let scalar = otherNames[name.lowercased()], draft.enumNumbers[name] == nil { return "did you mean '\(scalar)'?" }
    let names =
      AttributeType.scalars.map(\.spelling) + draft.enums.map(\.name.value) + draft.scalars.map(\.name.value)
      + draft.composites.map(\.name.value) + draft.codableTypes.map(\.value)
    if let closest = closest(to: name, names, findings) { return "did you mean '\(closest)'?" }
    return
      "it may be \(AttributeType.scalars.map(\.spelling).listed), an enum or a composite of the model, or a type of "
      + "yours that \"scalars\" or \"codableTypes\" lists."
  }

  private static func closest(to name: String, _ names: [String], _ findings: Findings) -> String? {
    findings.suggestions.closest(to: name, among: names)
  }
}

/// Words of other systems for values that are made anew for each object.
private enum DefaultWords {
  static let now: Set = [
    "today", "current", "current_date", "current_timestamp", "now()", "date()", "date.now", ".now", "getdate()",
    "sysdate",
  ]
}

extension String {
  /// The text before a question mark at the end.
  fileprivate var optionalBase: String? { hasSuffix("?") ? String(dropLast()) : nil }

  /// The element of a list as other languages write it: `string[]` or `Array<string>`.
  fileprivate var otherListElement: String? {
    if hasSuffix("[]") { return String(dropLast(2)) }
    guard hasSuffix(">"), let open = firstIndex(of: "<"),
      ["array", "list", "set", "orderedset"].contains(self[..<open].lowercased())
    else { return nil }
    return String(self[index(after: open)...].dropLast())
  }

  /// The text between square brackets.
  fileprivate var listElement: String? {
    hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : nil
  }
}

// MARK: - Attribute rules check

/// Checks that each rule applies to the attribute's type, and that some value can satisfy all rules. Sets minimum and
/// maximum values.
enum AttributeRulesCheck {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    let reader = StoredValueReader(draft.enums.map(\.description))
    draft.changeDeclaredAttributes { attribute, owner in
      guard attribute.hasType, !attribute.object.members.isEmpty else { return }
      var pass = Pass(attribute: attribute, entity: owner, reader: reader, findings: findings)
      pass.check()
      attribute = pass.attribute
    }
  }

  /// The check of one attribute.
  private struct Pass {
    var attribute: AttributeDraft
    let entity: String
    let reader: StoredValueReader
    let findings: Findings

    private var type: AttributeType { attribute.description.type }
    private var path: String { "\(entity).\(attribute.name.value)" }

    mutating func check() {
      checkApplicability("min", type.hasBounds, type.hasLength ? "a length has \"minLength\"" : nil)
      checkApplicability("max", type.hasBounds, type.hasLength ? "a length has \"maxLength\"" : nil)
      checkApplicability("minLength", type.hasLength, type.hasBounds ? "a least value is \"min\"" : nil)
      checkApplicability("maxLength", type.hasLength, type.hasBounds ? "a greatest value is \"max\"" : nil)
      checkApplicability("pattern", type == .string, nil)
      if type.hasBounds {
        if let minimum = readBound("min") { attribute.description.rules.minimum = minimum }
        if let maximum = readBound("max") { attribute.description.rules.maximum = maximum }
      }
      checkRanges()
      checkOptions()
      if let pattern = attribute.description.rules.pattern, type == .string {
        Patterns.check(pattern, of: path, at: attribute.place(of: "pattern"), findings)
      }
    }

    private func checkApplicability(_ key: String, _ applies: Bool, _ remedy: String?) {
      guard !applies, attribute.object[key] != nil else { return }
      let things: String =
        switch key {
        case "min", "max": "numbers and dates"
        case "pattern": "strings"
        default: "strings, data and lists"
        }
      findings.error(
        .ruleMismatch, at: attribute.object[key]?.keyOffset ?? attribute.name.offset,
        "Attribute '\(path)' is of type '\(type.spelling)', but '\(key)' is for \(things); \(remedy ?? "take it out").")
    }

    private func readBound(_ key: String) -> StoredValue? {
      guard let node = attribute.object[key]?.value else { return nil }
      do throws(StoredValueReader.Misfit) {
        return try reader.read(node, as: type)
      } catch {
        findings.error(
          .wrongType, at: node.offset,
          "The value of '\(key)' of attribute '\(path)' of type '\(type.spelling)' must be \(error.expected).")
        return nil
      }
    }

    private func checkRanges() {
      let rules = attribute.description.rules
      if let minimum = rules.minimum, let maximum = rules.maximum, maximum.isLess(than: minimum) {
        report("min", "max", "the least value is above the greatest")
      }
      if let minimum = rules.minimumLength, let maximum = rules.maximumLength, maximum < minimum {
        report("minLength", "maxLength", "the least length \(minimum) is above the greatest, \(maximum)")
      }
    }

    private func report(_ least: String, _ greatest: String, _ fault: String) {
      findings.error(
        .emptyRange, at: attribute.place(of: least),
        "No value of attribute '\(path)' can obey both '\(least)' and '\(greatest)': \(fault).",
        notes: [("'\(greatest)' is here", attribute.place(of: greatest))])
    }

    private func checkOptions() {
      let description = attribute.description
      checkOption("externalStorage", description.isExternal, for: .data)
      checkOption("searchable", description.isSearchable, for: .string)
    }

    private func checkOption(_ key: String, _ isSet: Bool, for only: AttributeType) {
      guard isSet else { return }
      if type != only {
        findings.error(
          .optionMismatch, at: attribute.place(of: key),
          "Attribute '\(path)' is of type '\(type.spelling)', but '\(key)' is for '\(only.spelling)' alone; take it out."
        )
      } else if attribute.description.isTransient, attribute.derivation == nil {
        findings.reportTransient("attribute '\(path)'", key, at: attribute.place(of: key))
      }
    }
  }
}

extension StoredValue {
  /// Compares numbers, dates, and canonical decimal texts.
  func isLess(than other: StoredValue) -> Bool {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): left < right
    case (.real(let left), .real(let right)): left < right
    case (.text(let left), .text(let right)): DecimalText.isLess(left, right)
    default: false
    }
  }
}

// MARK: - Stored only

/// Checks that what is said to migrations is said of stored properties.
enum StoredOnly {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    for (number, entity) in draft.entities.enumerated() {
      for attribute in entity.attributes where attribute.description.isTransient && attribute.derivation == nil {
        check(attribute.object, "attribute '\(draft.path(number, attribute.name.value))'", findings)
      }
      for relationship in entity.relationships where relationship.description.isTransient {
        check(relationship.object, "relationship '\(draft.path(number, relationship.name.value))'", findings)
      }
    }
  }

  private static func check(_ object: JSONObject, _ owner: String, _ findings: Findings) {
    for key in ["backfill", "convert"] {
      if let node = object[key]?.value { findings.reportTransient(owner, key, at: node.offset) }
    }
  }
}

extension Findings {
  /// Reports a key for stored properties on a transient one.
  func reportTransient(_ owner: String, _ key: String, at offset: Int) {
    error(
      .optionMismatch, at: offset,
      "\(owner.capitalizedFirst) is transient and lies in no store, so '\(key)' has no meaning; take out one of the two."
    )
  }
}

// MARK: - Defaults

/// Checks that each default matches its attribute's type and satisfies its rules. Sets defaults in their stored form.
enum Defaults {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    let reader = StoredValueReader(draft.enums.map(\.description))
    let rulesOfFields = draft.rulesOfFields
    draft.changeDeclaredAttributes { attribute, owner in
      guard attribute.hasType, let node = attribute.object["default"]?.value else { return }
      let path = "\(owner).\(attribute.name.value)"
      let pass = Pass(
        attribute: attribute, rules: rulesOfFields[path] ?? attribute.description.rules, path: path, reader: reader,
        findings: findings)
      attribute.description.defaultValue = pass.read(node)
    }
  }

  /// The check of one attribute's default.
  private struct Pass {
    let attribute: AttributeDraft
    let rules: AttributeRules
    let path: String
    let reader: StoredValueReader
    let findings: Findings

    private var type: AttributeType { attribute.description.type }

    func read(_ node: JSONNode) -> DefaultValue? {
      if case .null = node.content {
        let remedy =
          attribute.description.isOptional ? "optional attributes are nil anyway" : "add \"optional\": true instead"
        report(node.offset, "The default of attribute '\(path)' must not be null; take it out: \(remedy).")
        return nil
      }
      do throws(StoredValueReader.Misfit) {
        let value = try reader.readConstant(node, as: type)
        checkRules(value, at: node.offset)
        return value
      } catch {
        report(
          node.offset,
          "The default of attribute '\(path)' of type '\(type.spelling)' must be \(error.expected)"
            + suggestion(for: node).orFullStop)
        return nil
      }
    }

    /// For types that have no such constant, says which type `now` and `new` are for.
    private func suggestion(for node: JSONNode) -> String {
      switch (node.string, type) {
      case ("now", _): return "; \"now\" is for 'date' alone."
      case (let word?, .date) where DefaultWords.now.contains(word.lowercased()):
        return "; the moment at which the object is made is \"now\"."
      case (let word?, .bool) where ["true", "yes", "1", "false", "no", "0"].contains(word.lowercased()):
        let isTrue = ["true", "yes", "1"].contains(word.lowercased())
        return "; write \(isTrue) without quotes."
      case ("new", _): return "; \"new\" is for 'uuid' alone."
      case (let name?, .enumeration(let enumeration)):
        let cases = reader.caseNames[enumeration, default: []]
        return findings.suggestions.clause(for: name, among: cases)
      default: return ""
      }
    }

    private func report(_ offset: Int, _ message: String) {
      findings.error(.defaultMismatch, at: offset, message)
    }

    // MARK: Rules

    private func checkRules(_ value: DefaultValue, at offset: Int) {
      switch value {
      case .now, .new: break
      case .value(let value): checkRules(value, at: offset)
      case .list(let values): checkLength(values.count, "elements", at: offset)
      }
    }

    private func checkRules(_ value: StoredValue, at offset: Int) {
      if let minimum = rules.minimum, value.isLess(than: minimum) { reportBreak("min", "is below it", at: offset) }
      if let maximum = rules.maximum, maximum.isLess(than: value) { reportBreak("max", "is above it", at: offset) }
      switch value {
      case .text(let text) where type == .string:
        checkLength(text.unicodeScalars.count, "characters", at: offset)
        if let pattern = rules.pattern, Patterns.matches(text, pattern) == false {
          reportBreak("pattern", "does not match it", at: offset)
        }
      case .blob(let bytes) where type == .data: checkLength(bytes.count, "bytes", at: offset)
      default: break
      }
    }

    private func checkLength(_ length: Int, _ things: String, at offset: Int) {
      if let minimum = rules.minimumLength, length < minimum {
        reportBreak("minLength", "has \(length) \(things)", at: offset)
      }
      if let maximum = rules.maximumLength, length > maximum {
        reportBreak("maxLength", "has \(length) \(things)", at: offset)
      }
    }

    private func reportBreak(_ rule: String, _ fact: String, at offset: Int) {
      findings.error(
        .defaultBreaksRule, at: offset,
        "The default of attribute '\(path)' breaks its own rule '\(rule)': it \(fact); change one of the two, or leave the "
          + "default out, with \"optional\": true if a form fills the value in later.",
        notes: [("'\(rule)' is here", attribute.place(of: rule))])
    }
  }
}

// MARK: - Backfills

/// Checks that each backfill is a constant of its attribute's type or an expression. Sets backfills.
///
/// The names in an expression are those of a former model. Each of them is a name that the model has, or had: nothing
/// else can be stored.
enum Backfills {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    let reader = StoredValueReader(draft.enums.map(\.description))
    let names = knownNames(draft)
    for entity in draft.entities.indices {
      for index in draft.entities[entity].attributes.indices {
        read(
          &draft.entities[entity].attributes[index], draft.entities[entity].name.value,
          in: draft.entities[entity].name.value,
          names[entity], reader, findings)
      }
      for group in draft.entities[entity].composites.indices {
        let owner = draft.path(entity, draft.entities[entity].composites[group].name.value)
        for index in draft.entities[entity].composites[group].fields.indices {
          read(
            &draft.entities[entity].composites[group].fields[index], owner, in: draft.entities[entity].name.value,
            names[entity], reader, findings)
        }
      }
    }
  }

  private static func read(
    _ attribute: inout AttributeDraft, _ owner: String, in entity: String, _ names: Set<String>,
    _ reader: StoredValueReader,
    _ findings: Findings
  ) {
    // `StoredOnly` reports a transient attribute.
    guard attribute.hasType, !attribute.description.isTransient, let node = attribute.object["backfill"]?.value
    else { return }
    let pass = Pass(
      type: attribute.description.type, path: "\(owner).\(attribute.name.value)", entity: entity, names: names,
      reader: reader, findings: findings)
    attribute.description.backfill = pass.read(node)
  }

  /// The present and former names of the properties of each entity's rows. A property may have moved to a parent or to
  /// a child.
  private static func knownNames(_ draft: Draft) -> [Set<String>] {
    let own = draft.entities.map { entity in
      var names = Set(entity.removed.map(\.value))
      for attribute in entity.attributes { names.formUnion([attribute.name.value] + attribute.description.renamedFrom) }
      for group in entity.composites { names.formUnion([group.name.value] + group.description.renamedFrom) }
      for relationship in entity.relationships {
        names.formUnion([relationship.name.value] + relationship.description.renamedFrom)
      }
      return names
    }
    var known = own
    for (number, entity) in draft.entities.enumerated() {
      for ancestor in entity.ancestors {
        known[number].formUnion(own[ancestor])
        known[ancestor].formUnion(own[number])
      }
    }
    return known
  }

  /// The check of one attribute's backfill.
  private struct Pass {
    let type: AttributeType
    let path: String
    let entity: String
    let names: Set<String>
    let reader: StoredValueReader
    let findings: Findings

    func read(_ node: JSONNode) -> Backfill? {
      if case .null = node.content {
        findings.error(
          .backfillMismatch, at: node.offset, "The backfill of attribute '\(path)' must not be null; take it out.")
        return nil
      }
      do throws(StoredValueReader.Misfit) {
        return .value(try constant(node))
      } catch {
        if let text = node.string, !isMistypedDate(text) {
          return expression(text, at: node.offset, expected: error.expected)
        }
        findings.error(
          .backfillMismatch, at: node.offset,
          "The backfill of attribute '\(path)' of type '\(type.spelling)' must be \(error.expected).")
        return nil
      }
    }

    private func constant(_ node: JSONNode) throws(StoredValueReader.Misfit) -> DefaultValue {
      switch type {
      // Any text would be a constant, and none an expression.
      case .string: throw StoredValueReader.Misfit(expected: "an expression, such as \"'hello'\"")
      case .codable: throw StoredValueReader.Misfit(expected: "a text with an expression")
      default: break
      }
      do throws(StoredValueReader.Misfit) {
        return try reader.readConstant(node, as: type)
      } catch {
        throw StoredValueReader.Misfit(expected: error.expected + ", or a text with an expression")
      }
    }

    /// Whether the text is no date but a sum of numbers, which never is a date: `2026-13-01`.
    private func isMistypedDate(_ text: String) -> Bool {
      type == .date && !text.isEmpty && text.utf8.allSatisfy { $0.isDigit || " +-:.".utf8.contains($0) }
    }

    private func expression(_ text: String, at offset: Int, expected: String) -> Backfill? {
      do throws(PredicateFormatError) {
        for found in try CheckedFormat.checkSyntax(ofValue: text) where !names.contains(found.name) {
          report(found, in: text, at: offset)
        }
        return .expression(text)
      } catch {
        let fault = error.code == .missingArgument ? "A model has no arguments for '%@' and its like." : error.message
        findings.error(
          .backfillMismatch, at: offset, inText: error.offset,
          "In the backfill of attribute '\(path)' of type '\(type.spelling)': \(fault) Write \(expected).")
        return nil
      }
    }

    private func report(_ found: CheckedFormat.OwnName, in text: String, at offset: Int) {
      let isOnlyName = text == found.name
      let suggestion = findings.suggestions.clause(for: found.name, among: names.sorted())
      let way =
        switch type {
        case .string where isOnlyName: " A constant text is written in quotes inside: \"'\(found.name.shown)'\"."
        case .enumeration where isOnlyName: " A constant is the name of a case of '\(type.spelling)'."
        default: ""
        }
      findings.error(
        .backfillMismatch, at: offset, inText: found.offset,
        "In the backfill of attribute '\(path)' of type '\(type.spelling)': Entity '\(entity)' has and had no property "
          + "\(found.name.quoted)\(suggestion.isEmpty ? "; name a former one in \"removed\" or \"renamedFrom\"." : suggestion)"
          + way)
    }
  }
}

// MARK: - Patterns

/// Checks that a pattern is a regular expression, with the same parser that validates values on save.
enum Patterns {
  static func check(_ text: String, of path: String, at offset: Int, _ findings: Findings) {
    do {
      _ = try Pattern(text)
    } catch {
      findings.error(
        .invalidPattern, at: offset,
        "The pattern of attribute '\(path)' is no regular expression: at its character \(error.position + 1) "
          + "\(error.message).")
    }
  }

  /// Whether the whole text matches; nil for an invalid pattern.
  static func matches(_ text: String, _ pattern: String) -> Bool? {
    guard let pattern = try? Pattern(pattern) else { return nil }
    return pattern.match(text) == .matches
  }
}

// MARK: - Enum cases

/// Checks that each enum has cases with distinct names and raw values that Swift can tell apart.
enum EnumCases {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    for enumeration in draft.enums {
      if enumeration.cases.isEmpty {
        findings.error(
          .emptyEnum, at: enumeration.name.offset, "Enum '\(enumeration.name.value)' has no cases; add one.")
      }
      checkReserved(enumeration, findings)
      checkDuplicates(enumeration, findings)
      checkPolicy(enumeration, findings)
    }
  }

  private static func checkReserved(_ enumeration: EnumDraft, _ findings: Findings) {
    for entry in enumeration.cases {
      guard let reason = reason(against: entry.name.value, enumeration.unknown) else { continue }
      findings.error(
        .reservedCase, at: entry.name.offset,
        "Enum '\(enumeration.name.value)' cannot have a case '\(entry.name.value)': \(reason); choose another name and keep "
          + "the stored value: {\"name\": \"…\", \"value\": …}.")
    }
  }

  private static func reason(against name: String, _ policy: EnumDescription.UnknownPolicy) -> String? {
    if ReservedNames.optionalCases.contains(name) {
      return "an optional attribute would confuse it with Optional.\(name)"
    }
    if name == "unknown", policy == .preserve { return "\"unknown\": \"preserve\" makes a case of that name" }
    if ReservedNames.swiftWords.contains(name) { return "Swift needs that name for itself" }
    return ReservedNames.cases.contains(name) ? "every generated enum has a member of that name" : nil
  }

  private static func checkDuplicates(_ enumeration: EnumDraft, _ findings: Findings) {
    var names: [String: Int] = [:]
    var values: [StoredValue: Located<String>] = [:]
    for entry in enumeration.cases {
      if let first = names[entry.name.value] {
        findings.error(
          .duplicateCase, at: entry.name.offset,
          "Enum '\(enumeration.name.value)' has the case '\(entry.name.value)' twice; keep one of the two.",
          notes: [("the first is here", first)])
      } else if let first = values[entry.rawValue.value] {
        findings.error(
          .duplicateRawValue, at: entry.rawValue.offset,
          "Cases '\(first.value)' and '\(entry.name.value)' of enum '\(enumeration.name.value)' have the same raw value; "
            + "give one of them another.", notes: [("case '\(first.value)' is here", first.offset)])
      }
      names[entry.name.value] = names[entry.name.value] ?? entry.name.offset
      values[entry.rawValue.value] = values[entry.rawValue.value] ?? entry.name
    }
  }

  private static func checkPolicy(_ enumeration: EnumDraft, _ findings: Findings) {
    guard case .useDefault(let name) = enumeration.unknown else { return }
    let names = enumeration.cases.lazy.map(\.name.value)
    guard !names.contains(name) else { return }
    findings.error(
      .unknownCase, at: enumeration.unknownOffset,
      "The default for unknown values of enum '\(enumeration.name.value)' is \(name.quoted), which is none of its cases"
        + findings.suggestions.clause(for: name, among: names).orFullStop)
  }
}

extension String {
  /// The clause, or a full stop if it is empty.
  var orFullStop: String { isEmpty ? "." : self }
}
