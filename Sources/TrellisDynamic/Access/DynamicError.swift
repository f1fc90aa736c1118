package import TrellisModel
import TrellisStorage

/// The reason why a name or a value cannot be used with a model.
package struct DynamicError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of the problem.
  package enum Code: String, Hashable, Sendable {
    /// The model has no entity of this name.
    case unknownEntity = "unknown-entity"
    /// The entity is abstract, so only its subentities have objects.
    case abstractEntity = "abstract-entity"
    /// The entity has no property of this name.
    case unknownProperty = "unknown-property"
    /// The property is of another kind: an attribute, a to-one or a to-many relationship.
    case otherKind = "other-kind"
    /// The value is none of the attribute's type.
    case wrongValue = "wrong-value"
    /// An attribute without a default has no value.
    case missingValue = "missing-value"
    /// The partner is no object of the relationship's destination.
    case wrongPartner = "wrong-partner"
    /// There is no object with the key.
    case missingObject = "missing-object"
  }

  package let code: Code
  /// The name of the entity.
  package let entity: String
  /// The name of the property; nil if the problem concerns none.
  package let property: String?
  /// The problem and what is expected, as a sentence without user data.
  package let message: String

  package init(_ code: Code, _ entity: String, _ property: String? = nil, _ message: String) {
    self.code = code
    self.entity = entity
    self.property = property
    self.message = message
  }

  package var description: String { "\(message) [\(code.rawValue)]" }
}

// MARK: - Names

extension Model {
  /// The entity with a name.
  ///
  /// - Throws: ``DynamicError`` with the code `unknown-entity`.
  package func needEntity(_ name: String) throws(DynamicError) -> Entity {
    if let entity = entity(named: name) { return entity }
    let nearest = NearestName.closest(to: name, among: entities.map(\.name))
    throw DynamicError(
      .unknownEntity, name, nil,
      "The model '\(self.name)' has no entity '\(name)'\(nearest.map { "; did you mean '\($0)'?" } ?? ".")")
  }
}

extension Entity {
  /// The property with a name.
  ///
  /// - Throws: ``DynamicError`` with the code `unknown-property`.
  package func needProperty(_ name: String) throws(DynamicError) -> Property {
    if let property = property(named: name) { return property }
    let nearest = NearestName.closest(to: name, among: properties.map(\.name))
    throw DynamicError(
      .unknownProperty, self.name, name,
      "\(self.name) has no property '\(name)'\(nearest.map { "; did you mean '\($0)'?" } ?? ".")")
  }

  /// The attribute with a name.
  ///
  /// - Throws: ``DynamicError``: `unknown-property`, or `other-kind` for a relationship.
  package func needAttribute(_ name: String) throws(DynamicError) -> Attribute {
    if let attribute = try needProperty(name).attribute { return attribute }
    throw DynamicError(.otherKind, self.name, name, "\(self.name).\(name) is a relationship, and no attribute.")
  }

  /// The relationship with a name.
  ///
  /// - Throws: ``DynamicError``: `unknown-property`, or `other-kind` for an attribute or the other kind of
  ///   relationship.
  package func needRelationship(_ name: String, toMany: Bool) throws(DynamicError) -> Relationship {
    guard let relationship = try needProperty(name).relationship else {
      throw DynamicError(.otherKind, self.name, name, "\(self.name).\(name) is an attribute, and no relationship.")
    }
    guard relationship.isToMany == toMany else {
      let kinds = toMany ? ("one object", "several") : ("several objects", "one")
      throw DynamicError(
        .otherKind, self.name, name, "\(self.name).\(name) leads to \(kinds.0), and not to \(kinds.1).")
    }
    return relationship
  }

  /// A value for an attribute, in its stored form.
  ///
  /// - Throws: ``DynamicError`` with the code `wrong-value`.
  func checked(_ value: StoredValue, for attribute: Attribute) throws(DynamicError) -> StoredValue {
    if let derivation = attribute.description.derivation {
      throw DynamicError(
        .wrongValue, name, attribute.name, "\(name).\(attribute.name) is derived from \(derivation), and cannot be set."
      )
    }
    do throws(ValueMisfit) {
      return try attribute.checked(value)
    } catch {
      throw DynamicError(
        .wrongValue, name, attribute.name, "\(name).\(attribute.name) must be \(error.expected).")
    }
  }
}
