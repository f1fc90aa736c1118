import TrellisModel

/// The rules of a property in words, for its doc comment.
enum RuleText {
  /// The comment from the model, followed by the rules.
  static func doc(of field: Field, _ plan: EntityPlan) -> String? {
    let rules = sentence(rules(of: field, plan))
    guard let doc = field.doc, !doc.isEmpty else { return rules }
    guard let rules else { return doc }
    if doc.contains(where: \.isNewline) { return "\(doc)\n\n\(rules)" }
    return doc.last.map(".!?…".contains) == true ? "\(doc) \(rules)" : "\(doc). \(rules)"
  }

  private static func sentence(_ clauses: [String]) -> String? {
    let text = clauses.joined(separator: "; ")
    return text.isEmpty ? nil : text.prefix(1).uppercased() + text.dropFirst() + "."
  }

  private static func rules(of field: Field, _ plan: EntityPlan) -> [String] {
    switch field.kind {
    case .attribute(let attribute, _): rules(of: attribute, plan)
    case .derived(let attribute, _):
      [
        "\(attribute.description.storesDerivation ? "derived and stored" : "derived"): `\(attribute.description.derivation ?? "")`"
      ]
    case .transient(let attribute): ["in memory only"] + rules(of: attribute, plan)
    case .reference(let relationship, _, _), .partner(let relationship), .toMany(let relationship):
      rules(of: relationship.description)
    }
  }

  // MARK: Attributes

  private static func rules(of attribute: Attribute, _ plan: EntityPlan) -> [String] {
    let rules = attribute.description.rules
    var clauses: [String] = []
    if let length = span(rules.minimumLength.map(String.init), rules.maximumLength.map(String.init)) {
      clauses.append("\(length) \(unit(of: attribute.type, isOne: (rules.maximumLength ?? rules.minimumLength) == 1))")
    }
    // A bound of a date is stored in microseconds, which say nothing in a comment.
    if attribute.type != .date,
      let bounds = span(
        rules.minimum?.boundText(attribute.type), rules.maximum?.boundText(attribute.type))
    {
      clauses.append(bounds)
    }
    if rules.pattern != nil { clauses.append("matches the model's pattern") }
    if attribute.description.isExternal { clauses.append("in a file of its own") }
    let isUnique = plan.entity.uniqueKeys.contains { $0.properties == [attribute.index] }
    if isUnique { clauses.append("unique") }
    return clauses
  }

  private static func unit(of type: AttributeType, isOne: Bool) -> String {
    let unit =
      switch type {
      case .data: "byte"
      case .array: "element"
      default: "character"
      }
    return isOne ? unit : unit + "s"
  }

  private static func span(_ least: String?, _ most: String?) -> String? {
    switch (least, most) {
    case (let least?, let most?): least == most ? "exactly \(least)" : "\(least) to \(most)"
    case (let least?, nil): "at least \(least)"
    case (nil, let most?): "at most \(most)"
    case (nil, nil): nil
    }
  }

  // MARK: Relationships

  private static func rules(of relationship: RelationshipDescription) -> [String] {
    var traits: [String] = []
    if relationship.isTransient { traits.append("in memory only") }
    if relationship.isOrdered { traits.append("ordered") }
    if let count = span(relationship.minimumCount.map(String.init), relationship.maximumCount.map(String.init)) {
      traits.append(count)
    }
    if !relationship.isToMany && !relationship.isOptional { traits.append("required") }
    let clauses = traits.isEmpty ? [] : [traits.joined(separator: ", ")]
    return clauses + [deletion(relationship)].compactMap(\.self)
  }

  private static func deletion(_ relationship: RelationshipDescription) -> String? {
    switch relationship.deleteRule {
    case .nullify: nil
    case .cascade: "deleting the object deletes \(relationship.isToMany ? "them" : "it")"
    case .deny: "the object cannot be deleted while there \(relationship.isToMany ? "are any" : "is one")"
    case .noAction: "deleting the object leaves references to it"
    }
  }
}

extension StoredValue {
  /// A bound as the model file writes it; nil for a value that is no number.
  fileprivate func boundText(_ type: AttributeType) -> String? {
    switch self {
    case .integer(let number): String(number)
    case .real(let number): type == .float ? String(Float(number)) : String(number)
    case .text(let text): text
    default: nil
    }
  }
}
