import TrellisQuery
import TrellisSchema
import TrellisStorage

/// The store operation for a change of many objects, after the model's rules have been checked.
struct BatchUpdatePlan {
  struct Failure {
    let property: String
    let rule: ValidationFailure.Rule
    let message: String
  }

  private(set) var update: BatchUpdate
  /// The rules that constant values break.
  private(set) var failures: [Failure] = []
  /// Whether the owners of objects change.
  private(set) var movesMembers = false
  private let entity: EntityInfo
  private let runtime: RuntimeModel

  init(_ request: StoreRequest, _ runtime: RuntimeModel) {
    update = BatchUpdate(request: request, assignments: [])
    entity = runtime.entities[request.entity]
    self.runtime = runtime
  }

  /// The entities of the affected objects.
  private var concerned: [EntityInfo] {
    update.request.includesSubentities ? entity.entity.subtree.map { runtime.entities[$0] } : [entity]
  }

  func checkHooks() throws {
    for entity in concerned {
      for hook in [LifecycleHook.willSave, .didSave, .validateUpdate] where entity.hooks.contains(hook) {
        throw unsupported("\(entity.name).\(hook.rawValue) is called for each object that is saved")
      }
    }
  }

  mutating func add(_ change: PropertyChange) throws {
    let assignment = change.assignment
    guard change.path.variable == 0, entity.entity.properties.indices.contains(assignment.property) else {
      throw unsupported("a property of another object was to be set")
    }
    let property = entity.entity.properties[assignment.property]
    guard property.column != nil else {
      throw unsupported("\(property.name) does not lie in the objects' own rows", property)
    }
    for entity in concerned where entity.entity.uniqueKeys.contains(where: { $0.properties.contains(property.index) }) {
      throw unsupported("\(property.name) is part of a unique key of \(entity.name)", property)
    }
    switch property {
    case .attribute(let attribute): try check(assignment.value, of: attribute)
    case .relationship: try checkReference(assignment.value, property)
    }
    // The last assignment to a property wins.
    update.assignments.removeAll { $0.property == assignment.property }
    update.assignments.append(assignment)
  }

  // MARK: Attributes

  private mutating func check(_ value: Operand, of attribute: Attribute) throws {
    let checked = entity.checkedAttributes.first { $0.index == attribute.index }
    if case .value(let constant) = value {
      for failure in checked?.failures(of: constant) ?? [] {
        failures.append(Failure(property: attribute.name, rule: failure.rule, message: failure.message))
      }
      return
    }
    guard entity.entity.holdsAll(of: value) else {
      throw unsupported("\(attribute.name) was to get a value that is made of other objects", .attribute(attribute))
    }
    if attribute.type == .float, case .computed = value {
      throw unsupported("arithmetic is exact for no attribute of the type float", .attribute(attribute))
    }
    guard let refused = attribute.refused(value, entity.entity) else {
      throw unsupported("the length of a list is known only when it is loaded", .attribute(attribute))
    }
    update.refused = .or([update.refused, refused].compactMap(\.self))
  }

  // MARK: To-ones

  private mutating func checkReference(_ value: Operand, _ property: Property) throws {
    guard let relationship = entity.relationships[property.index] else { return }
    if relationship.isOrdered || inverseIsOrdered(relationship) {
      throw unsupported("\(property.name) leads to an owner whose members have an order", property)
    }
    if let inverse = runtime.inverse(of: relationship) {
      if !inverse.isToMany { throw unsupported("\(property.name) leads to one object each", property) }
      if inverse.isCounted { throw unsupported("\(inverse.entityName).\(inverse.name) is counted", property) }
    }
    if relationship.isRequired, case .value(.null) = value {
      failures.append(Failure(property: property.name, rule: .required, message: "must be set"))
    }
    movesMembers = movesMembers || relationship.inverse != nil
  }

  private func inverseIsOrdered(_ relationship: RelationshipInfo) -> Bool {
    if case .column(_, .some) = relationship.home { true } else { false }
  }

  private func unsupported(_ why: String, _ property: Property? = nil) -> StoreError {
    StoreError(
      .unsupported, "Objects of \(entity.name) cannot be changed all at once, as \(why).",
      remedy: "Go through them with stream, change each one, and save.", entity: entity.name,
      properties: property.map { [$0.name] } ?? [])
  }
}
