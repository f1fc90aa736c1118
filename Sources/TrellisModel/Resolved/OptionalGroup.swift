/// A composite attribute that may be nil, with the rule that its fields obey: without a value of the whole all of them
/// are nil, and with one the fields that are not optional have values.
package struct OptionalGroup: Sendable {
  /// A field that has a value if the whole has one.
  package struct RequiredField: Sendable {
    package let number: Int
    /// The value of the field in rows that get a value of the whole without one of the field; nil for no default.
    package let defaultValue: DefaultValue?
  }

  /// The path of the attribute from the entity, which is also the name of its presence.
  package let name: String
  /// The number of the attribute that is true if there is a value.
  package let presence: Int
  /// The numbers of the attributes below, those of groups in the group included.
  package let fields: Range<Int>
  /// The fields that have a value if the whole has one, but for those of inner groups that may be nil.
  package let required: [RequiredField]

  package typealias Failure = (property: Int, message: String)

  /// The first breach of the rule; nil if the values obey it.
  ///
  /// - Parameter value: Returns the value of an attribute by its number.
  package func failure(_ value: (Int) -> StoredValue) -> Failure? {
    switch value(presence) {
    case .null:
      return fields.first { !value($0).isNull }.map { ($0, "must be nil, because '\(name)' is nil") }
    case .integer(1):
      return required.first { value($0.number).isNull }.map { ($0.number, "must be set, because '\(name)' is set") }
    default: return (presence, "must be true or nil")
    }
  }

  /// Completes the values of a new object: a value of a field is one of the whole, whose other fields get their defaults.
  ///
  /// - Parameter values: The values of the attributes, by number.
  package func complete(_ values: inout [StoredValue]) {
    if values[presence].isNull, fields.contains(where: { !values[$0].isNull }) { values[presence] = .integer(1) }
    guard values[presence] == .integer(1) else { return }
    for field in required where values[field.number].isNull {
      if case .value(let value)? = field.defaultValue { values[field.number] = value }
    }
  }
}

extension Entity {
  /// The innermost group that may be nil and has an attribute as a field.
  package func optionalGroup(of attribute: Int) -> OptionalGroup? {
    optionalGroups.last { $0.fields.contains(attribute) }
  }
}

extension Composite {
  /// The group itself and those in it that may be nil, outer ones first.
  var optionalGroups: [OptionalGroup] {
    let own = presence.map { presence in
      OptionalGroup(
        name: name, presence: presence, fields: (presence + 1)..<attributes.upperBound, required: requiredFields)
    }
    let inner = members.flatMap {
      if case .composite(let inner) = $0 { inner.optionalGroups } else { [OptionalGroup]() }
    }
    return (own.map { [$0] } ?? []) + inner
  }

  private var requiredFields: [OptionalGroup.RequiredField] {
    zip(type.members, members).flatMap { declared, member -> [OptionalGroup.RequiredField] in
      switch member {
      case .attribute(let number):
        guard case .plain(let field) = declared, !field.isOptional else { return [] }
        let own = description.fields.first { $0.name == field.name }?.defaultValue
        return [.init(number: number, defaultValue: own ?? field.defaultValue)]
      case .composite(let inner): return inner.presence == nil ? inner.requiredFields : []
      }
    }
  }
}
