import TrellisModel

/// Checks that the expression of each derived attribute is one over its entity, with values of the attribute's type, and
/// that nothing else is said of the value.
enum DerivedAttributes {
  static func check(_ draft: inout Draft, _ findings: Findings) {
    for (number, entity) in draft.entities.enumerated() {
      for attribute in entity.attributes where attribute.derivation == nil {
        guard let stored = attribute.object["stored"] else { continue }
        let path = draft.path(number, attribute.name.value)
        findings.error(
          .optionMismatch, at: stored.keyOffset,
          "Attribute '\(path)' has no 'derived'; take out 'stored', which is for values that follow from others.")
      }
    }
    let hasAny = draft.entities.contains { $0.attributes.contains { $0.derivation != nil } }
    guard hasAny else { return }
    for number in draft.entities.indices {
      for attribute in draft.entities[number].attributes where attribute.derivation != nil {
        checkWords(of: attribute, draft.path(number, attribute.name.value), findings)
      }
    }
    // Keys and indexes that name a derived attribute are reported already.
    var description = draft.description
    for number in description.entities.indices { description.entities[number].uniqueKeys = [] }
    for number in description.entities.indices { description.entities[number].indexes = [] }
    guard let model = try? Model(description) else { return }
    for number in draft.entities.indices {
      for attribute in draft.entities[number].attributes {
        guard let text = attribute.derivation else { continue }
        let path = draft.path(number, attribute.name.value)
        check(attribute, text, path, model.entities[number], model, findings)
      }
    }
  }

  private static func checkWords(of attribute: AttributeDraft, _ path: String, _ findings: Findings) {
    let words = [
      "default", "transient", "min", "max", "minLength", "maxLength", "pattern", "externalStorage", "searchable",
      "keepInHistory", "renamedFrom", "backfill", "convert", "json", "sync",
    ]
    for key in words where attribute.object[key] != nil {
      findings.error(
        .optionMismatch, at: attribute.object[key]?.keyOffset ?? attribute.name.offset,
        "Attribute '\(path)' is derived, so '\(key)' has no meaning; take out one of the two.")
    }
  }

  private static func check(
    _ attribute: AttributeDraft, _ text: Located<String>, _ path: String, _ entity: Entity, _ model: Model,
    _ findings: Findings
  ) {
    guard let resolved = entity.property(named: attribute.name.value)?.attribute else { return }
    let value: CheckedValue
    do throws(PredicateFormatError) {
      guard let found = try model.derivation(of: resolved) else { return }
      value = found
    } catch {
      let fault =
        error.code == .missingArgument
        ? "The expression of an attribute has no arguments and no variables." : error.message
      return findings.error(
        .badDerivation, at: text.offset, inText: error.offset, "In the expression of attribute '\(path)': \(fault)")
    }
    if value.dependsOnTime {
      findings.error(
        .badDerivation, at: text.offset,
        "The value of attribute '\(path)' would change with the time, and nothing would tell; compare with now() in a "
          + "predicate instead.")
    }
    if attribute.description.storesDerivation { checkStored(attribute, text, value, path, findings) }
    let type = attribute.description.type
    guard let found = value.attributeType, found == type, attribute.description.scalar == nil else {
      let remedy = value.attributeType.map { "the type is '\($0.spelling)'." } ?? "no attribute can have it."
      return findings.error(
        .badDerivation, at: attribute.typeName.offset,
        "Attribute '\(path)' is of type '\(attribute.description.typeSpelling)', and its expression is \(value.type.name); "
          + remedy)
    }
    if !attribute.description.isOptional, !value.operand.isNeverNil(for: entity) {
      findings.error(
        .badDerivation, at: attribute.typeName.offset,
        "The expression of attribute '\(path)' may be nil for some object; write '\(type.spelling)?'."
      )
    }
  }

  private static func checkStored(
    _ attribute: AttributeDraft, _ text: Located<String>, _ value: CheckedValue, _ path: String, _ findings: Findings
  ) {
    if value.dependsOnCalendar {
      findings.error(
        .badDerivation, at: text.offset,
        "The stored value of attribute '\(path)' would follow the calendar of the program that saves; name a time zone, "
          + "such as month(date, 'Asia/Seoul').")
    }
    if attribute.description.type == .data {
      findings.error(
        .badDerivation, at: attribute.typeName.offset,
        "Attribute '\(path)' would store data a second time; take out 'stored'.")
    }
  }
}
