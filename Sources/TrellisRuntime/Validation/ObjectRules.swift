import TrellisSchema
import TrellisStorage

/// Checks objects against the rules of their model.
struct ObjectRules {
  let context: ManagedObjectContext
  private(set) var failures: [ValidationFailure] = []
  /// Keys of objects that count as deleted already.
  var leaving: Set<Int64> = []
  /// Whether the members of unchanged to-many relationships are counted as well.
  var countsUnchanged = false

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Checks a new or changed object.
  mutating func check(_ object: ManagedObject) throws {
    let info = context.info(of: object)
    for attribute in info.checkedAttributes { checkAttribute(attribute, of: object, info) }
    for relationship in info.checkedRelationships { try checkRelationship(relationship, of: object, info) }
  }

  mutating func add(_ failure: ValidationFailure) { failures.append(failure) }

  mutating func fail(
    _ object: ManagedObject, _ property: String, _ rule: ValidationFailure.Rule, _ message: String,
    blockers: [AnyObjectID] = []
  ) {
    let id = AnyObjectID(object, context.info(of: object))
    failures.append(ValidationFailure(id, property: property, rule: rule, message: message, blockers: blockers))
  }

  // MARK: Attributes

  private mutating func checkAttribute(_ attribute: CheckedAttribute, of object: ManagedObject, _ info: EntityInfo) {
    for failure in attribute.failures(of: object._value(attribute.index)) {
      fail(object, attribute.name, failure.rule, failure.message)
    }
  }

  // MARK: Relationships

  private mutating func checkRelationship(
    _ relationship: RelationshipInfo, of object: ManagedObject, _ info: EntityInfo
  ) throws {
    guard relationship.isToMany else {
      if relationship.isRequired && context.partnerKey(of: object, relationship) == 0 {
        try context.throwPendingFailure()
        fail(object, relationship.name, .required, "must be set")
      }
      return
    }
    guard countsUnchanged || object.phase == .inserted || object.hasChangedList(relationship) else { return }
    let count = context.loadedList(of: object, relationship).keys.count
    try context.throwPendingFailure()
    checkCount(count, of: relationship, object)
  }

  /// Checks a number of members.
  mutating func checkCount(_ count: Int, of relationship: RelationshipInfo, _ object: ManagedObject) {
    if let minimum = relationship.minimumCount, count < minimum, count > 0 || !relationship.isOptional {
      fail(object, relationship.name, .minimumCount, "must have at least \(minimum), and has \(count)")
    }
    if let maximum = relationship.maximumCount, count > maximum {
      fail(object, relationship.name, .maximumCount, "must have at most \(maximum), and has \(count)")
    }
  }
}

extension ManagedObject {
  fileprivate func hasChangedList(_ relationship: RelationshipInfo) -> Bool {
    extras?.list(relationship.property)?.hasChanges == true
  }
}
