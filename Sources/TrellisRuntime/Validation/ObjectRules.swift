import TrellisSchema
import TrellisStorage

/// Checks objects against what their model demands at save.
struct ObjectRules {
  let context: ManagedObjectContext
  private(set) var failures: [ValidationFailure] = []

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Checks a new or changed object.
  mutating func check(_ object: ManagedObject) throws {
    let info = context.info(of: object)
    for attribute in info.checkedAttributes { checkAttribute(attribute, of: object, info) }
    for relationship in info.checkedRelationships { try checkRelationship(relationship, of: object, info) }
  }

  // MARK: Attributes

  private mutating func checkAttribute(_ attribute: CheckedAttribute, of object: ManagedObject, _ info: EntityInfo) {
    guard let failure = attribute.failure(of: object._value(attribute.index)) else { return }
    fail(object, info, attribute.name, failure.rule, failure.message)
  }

  // MARK: Relationships

  private mutating func checkRelationship(
    _ relationship: RelationshipInfo, of object: ManagedObject, _ info: EntityInfo
  ) throws {
    guard relationship.isToMany else {
      if relationship.isRequired && context.partnerKey(of: object, relationship) == 0 {
        try context.throwPendingFailure()
        fail(object, info, relationship.name, .required, "it must have one")
      }
      return
    }
    guard object.phase == .inserted || object.extras?.list(relationship.property)?.hasChanges == true else { return }
    let count = context.loadedList(of: object, relationship).keys.count
    try context.throwPendingFailure()
    if let minimum = relationship.minimumCount, count < minimum, count > 0 || !relationship.isOptional {
      fail(object, info, relationship.name, .minimumCount, "it has \(count) of at least \(minimum)")
    }
    if let maximum = relationship.maximumCount, count > maximum {
      fail(object, info, relationship.name, .maximumCount, "it has \(count) of at most \(maximum)")
    }
  }

  private mutating func fail(
    _ object: ManagedObject, _ info: EntityInfo, _ property: String, _ rule: ValidationFailure.Rule, _ message: String
  ) {
    failures.append(
      ValidationFailure(entity: info.name, key: object._key, property: property, rule: rule, message: message))
  }
}
