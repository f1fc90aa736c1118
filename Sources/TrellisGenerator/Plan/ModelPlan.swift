import TrellisSchema

/// The properties of a model that the emitters use.
struct ModelPlan {
  let model: Model
  let entities: [EntityPlan]
  let needsFoundation: Bool

  init(_ description: ModelDescription, foundationPredicates: Bool) throws(GeneratorError) {
    let model: Model
    do {
      model = try Model(description)
    } catch {
      throw GeneratorError(error.description)
    }
    try NameCheck.check(model)
    self.model = model
    entities = try Self.plans(of: model, foundationPredicates: foundationPredicates)
    needsFoundation = description.entities.contains { entity in
      entity.attributes.contains { SwiftType.needsFoundation($0.type) }
    }
  }

  private static func plans(
    of model: Model, foundationPredicates: Bool
  ) throws(GeneratorError) -> [EntityPlan] {
    var plans: [EntityPlan] = []
    let heights = model.entities.map { height(of: $0, in: model) }
    for entity in model.entities {
      let identity = isFreeOfID(entity, in: model) ? ["objectID", "id"] : ["objectID"]
      plans.append(
        try EntityPlan(
          entity, in: model, height: heights[entity.index], providesID: providesID(entity, in: model),
          identityKeyPaths: foundationPredicates ? identity : nil))
    }
    return plans
  }

  /// The number of levels below an entity.
  private static func height(of entity: Entity, in model: Model) -> Int {
    var height = 0
    for descendant in entity.subtree {
      height = max(height, lineage(model.entities[descendant], in: model).count)
    }
    return height - lineage(entity, in: model).count
  }

  /// The entity and its ancestors, from the entity upwards.
  static func lineage(_ entity: Entity, in model: Model) -> [Entity] {
    var line = [entity]
    while let parent = line[line.count - 1].parent { line.append(model.entities[parent]) }
    return line
  }

  /// Whether a class gets an `id` for its object's identity: neither the class nor its ancestors or descendants have
  /// one.
  private static func providesID(_ entity: Entity, in model: Model) -> Bool {
    guard isFreeOfID(entity, in: model) else { return false }
    return entity.parent.map { !isFreeOfID(model.entities[$0], in: model) } ?? true
  }

  /// Whether neither the entity nor its ancestors or descendants have a property `id`.
  private static func isFreeOfID(_ entity: Entity, in model: Model) -> Bool {
    entity.subtree.allSatisfy { member in model.entities[member].properties.allSatisfy { $0.swiftName != "id" } }
  }
}
